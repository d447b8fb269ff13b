import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

test("a headless run loads none of the parts of Node that it does not use: fetch, TLS, compression", async () => {
  const server = await startMockServer({ turns: [{ text: "Done." }] });
  onTestFinished(() => server.close());
  const workspace = makeWorkspace(server.url);
  onTestFinished(workspace.remove);
  const tell = join(workspace.home, "tell.mjs");
  writeFileSync(
    tell,
    'process.on("exit", () => console.error("loaded: " + process.moduleLoadList.join(";")));',
  );
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "hi"], {
    env: { NODE_OPTIONS: `--import=${tell}` },
  });
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  const loaded = /^loaded: (.*)$/m.exec(stderr)?.[1]?.split(";") ?? [];
  expect(loaded).toContain("NativeModule http");
  expect(loaded.filter((name) => /undici|NativeModule (https|tls|http2|zlib)$/.test(name))).toEqual([]);
});
