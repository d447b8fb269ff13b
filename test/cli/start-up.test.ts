import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { editor } from "../acp/editor.ts";
import { testServer } from "../mcp/session.ts";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

/** Tells what is loaded as the first request leaves: parts of Node, and files. */
const teller = `
  import { subscribe } from "node:diagnostics_channel";
  import { globSync } from "node:fs";
  import { registerHooks } from "node:module";
  const files = [];
  const load = (url, context, next) => (files.push(url), next(url, context));
  registerHooks({ load });
  subscribe("http.client.request.start", () => {
    console.error("parts: " + process.moduleLoadList.join(";"));
    console.error("files: " + files.join(";"));
    console.error("schemas: " + globSync(process.env.HOME + "/sawtooth/state/sessions/*/*/mcp/test").join(";"));
  });`;

type Loaded = { parts: string[]; files: string[]; sources: string[]; schemas: string[] };

/** A command that waits until the catalogue of a server is stored. */
const learn = "until ls ~/sawtooth/state/mcp/*.seen.json >/dev/null 2>&1; do sleep 0.05; done";

/** `mcpServers`: what they offer is known from an earlier run. */
async function loadedAtFirstRequest(mcpServers?: object): Promise<Loaded> {
  const before = mcpServers ? [{ calls: [{ bash: { command: learn } }] }, { text: "Known." }] : [];
  const server = await startMockServer({ turns: [...before, { text: "Done." }] });
  onTestFinished(() => server.close());
  const workspace = makeWorkspace(server.url);
  onTestFinished(workspace.remove);
  if (mcpServers) {
    writeSettings(workspace, { mcpServers });
    await sawtooth(workspace, ["-p", "hi", "--permission-mode", "auto"]);
  }
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "hi"], { env: told(workspace) });
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  return loadedIn(stderr);
}

/** Has a run tell on standard error what it has loaded. */
function told({ home }: Workspace): Record<string, string> {
  const tell = join(home, "tell.mjs");
  writeFileSync(tell, teller);
  return { NODE_OPTIONS: `--import=${tell}` };
}

function loadedIn(stderr: string): Loaded {
  const listed = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(stderr)?.[1]?.split(";") ?? [];
  const files = listed("files").filter((url) => url.includes("/dist/"));
  const sources = files.flatMap((url) =>
    [...readFileSync(fileURLToPath(url), "utf8").matchAll(/^\/\/ (src\/\S+|node_modules\/\S+)$/gm)].map(
      ([, source = ""]) => source,
    ),
  );
  return { parts: listed("parts"), files, sources, schemas: listed("schemas") };
}

async function loadedByEditor(): Promise<Loaded> {
  const { workspace } = await serve([{ text: "Done." }]);
  const one = await editor(workspace, [], { env: told(workspace) });
  await one.say(await one.open(), "hi");
  return loadedIn((await one.close()).stderr);
}

/** Returns the names of those functions that V8 compiles along with their file, and of those that it compiles when called. */
function compiled({ files }: Loaded, names: readonly string[]) {
  const code = files.map((url) => readFileSync(fileURLToPath(url), "utf8")).join("\n");
  const having = (before: string) =>
    names.filter((name) => new RegExp(`^${before}(?:async )?function ${name}\\(`, "m").test(code));
  return { early: having("var \\w+ = \\("), whenCalled: having("") };
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
  expect(sources.filter((source) => unneeded.some((pattern) => pattern.test(source)))).toEqual([]);
  expect(sources).not.toContain("src/mcp/servers.ts");
});

test("the files that a headless run loads are in ASCII, as V8 holds others in two bytes a letter", async () => {
  const { files } = await loadedAtFirstRequest();
  const others = files.filter((url) => /[^\0-\x7f]/.test(readFileSync(fileURLToPath(url), "utf8")));
  expect(others).toEqual([]);
});

test("what every start calls is in parentheses: V8 compiles it along with its file, and keeps it compiled", async () => {
  const early = ["parseCommand", "openRun", "runTurn", "composeRequest"];
  const whenCalled = ["forkSession"];
  expect(compiled(await loadedAtFirstRequest(), [...early, ...whenCalled])).toEqual({ early, whenCalled });
});

test("up to its first request an editor's session loads little more than a headless run, and that is compiled early", async () => {
  const loaded = await loadedByEditor();
  expect(loaded.files.length).toBeLessThan(9);
  const ofEditor =
    /^src\/tui\/(blocks\/notes|input\/command-line)\.ts$|^node_modules\/@agentclientprotocol\/sdk\//;
  const others = loaded.sources.filter((source) => !ofEditor.test(source));
  expect(others.filter((source) => unneeded.some((pattern) => pattern.test(source)))).toEqual([]);
  const early = ["runAcp", "messagesOver", "serve", "choicesIn", "openRun", "registerAppRequest"];
  const whenCalled = ["askClient"];
  expect(compiled(loaded, [...early, ...whenCalled])).toEqual({ early, whenCalled });
});

test("a server that is known adds its catalogue to the first request, and no file is written before it", async () => {
  const { files, sources, schemas } = await loadedAtFirstRequest({ test: testServer() });
  expect(files.length).toBeLessThan(11);
  expect(sources).toContain("src/mcp/servers.ts");
  expect(sources.filter((source) => unneeded.some((pattern) => pattern.test(source)))).toEqual([]);
  // That of the run before.
  expect(schemas).toHaveLength(1);
});

/** Parts that no first request needs. */
const unneeded = [
  /^src\/permissions\/(decide|commands|free|always-denied|rules|bash\/.*|sandbox\/(plan|denials))\.ts$/,
  /^src\/tools\/editor\/(?!(tool|call|file-watch|text\/)).*\.ts$/,
  /^src\/tools\/(bash\/(output-file|run-command|grammar|search-lines)|fetch\/page)\.ts$/,
  /^src\/(undo\/(snapshots|recorder|scan|restore)|network\/|sandbox\/(engine|inside))/,
  /^src\/models\/(openai|responses|servers|signers|playback)\//,
  /^src\/(telemetry|tui|lab|mcp\/(connection|lines|process))\b/,
  /^src\/(report\/(page|export)|report\/text\/report)\b/,
  /^src\/cli\/(batch|fix|commands|interactive|schema)\b/,
  /^node_modules\/(?!get-east-asian-width)/,
];
