import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

/** Tells what is loaded as the first request leaves: parts of Node, and files. */
const teller = `
  import { subscribe } from "node:diagnostics_channel";
  import { registerHooks } from "node:module";
  const files = [];
  const load = (url, context, next) => (files.push(url), next(url, context));
  registerHooks({ load });
  subscribe("http.client.request.start", () => {
    console.error("parts: " + process.moduleLoadList.join(";"));
    console.error("files: " + files.join(";"));
  });`;

async function loadedAtFirstRequest(): Promise<{ parts: string[]; files: string[]; sources: string[] }> {
  const server = await startMockServer({ turns: [{ text: "Done." }] });
  onTestFinished(() => server.close());
  const workspace = makeWorkspace(server.url);
  onTestFinished(workspace.remove);
  const tell = join(workspace.home, "tell.mjs");
  writeFileSync(tell, teller);
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "hi"], {
    env: { NODE_OPTIONS: `--import=${tell}` },
  });
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  const listed = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(stderr)?.[1]?.split(";") ?? [];
  const files = listed("files").filter((url) => url.includes("/dist/"));
  const sources = files.flatMap((url) =>
    [...readFileSync(fileURLToPath(url), "utf8").matchAll(/^\/\/ (src\/\S+|node_modules\/\S+)$/gm)].map(
      ([, source = ""]) => source,
    ),
  );
  return { parts: listed("parts"), files, sources };
}

test("up to its first request a headless run loads none of the parts of Node that it does not use", async () => {
  const { parts } = await loadedAtFirstRequest();
  expect(parts).toContain("NativeModule http");
  const unused =
    /undici|NativeModule (https|tls|http2|zlib|vm|child_process|readline|fs\/promises|internal\/crypto\/webcrypto)$/;
  expect(parts.filter((name) => unused.test(name))).toEqual([]);
});

test("up to its first request a headless run loads nothing that calls, other modes and other providers need", async () => {
  const { files, sources } = await loadedAtFirstRequest();
  expect(files.length).toBeLessThan(7);
  expect(sources).toContain("src/agent/loop.ts");
  const unneeded = [
    /^src\/permissions\/(decide|commands|free|always-denied|rules|bash\/.*|sandbox\/(plan|denials))\.ts$/,
    /^src\/tools\/editor\/(?!(tool|call|file-watch|text\/)).*\.ts$/,
    /^src\/tools\/(bash\/(output-file|run-command|grammar|search-lines)|fetch\/page)\.ts$/,
    /^src\/(undo\/(snapshots|recorder|scan|restore)|network\/|sandbox\/(engine|inside))/,
    /^src\/models\/(openai|responses|servers|signers|playback)\//,
    /^src\/(tui|lab|mcp\/(servers|connection))\b/,
    /^src\/(report\/(page|export)|report\/text\/report)\b/,
    /^src\/cli\/(batch|fix|commands|interactive|schema)\b/,
    /^node_modules\/(?!get-east-asian-width)/,
  ];
  expect(sources.filter((source) => unneeded.some((pattern) => pattern.test(source)))).toEqual([]);
});
