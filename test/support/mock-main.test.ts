/** The strict server as a program. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fastStart } from "./entry.ts";
import { post, requestOf } from "./mock-request.ts";

const program = join(import.meta.dirname, "mock-main.ts");
const env = { ...process.env, ...fastStart };
let folder: string;
let script: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mock-"));
  script = join(folder, "script.yaml");
  writeFileSync(script, "model: { window: 300 }\nturns:\n  - text: fine\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

test("it says how to reach it, logs each request in a line, and ends with Ctrl-C", async () => {
  const child = spawn(process.execPath, [program, script], { env });
  const ended = once(child, "exit");
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const seen = (pattern: RegExp) => expect.poll(() => output, { timeout: 100_000 }).toMatch(pattern);
  await seen(/export ANTHROPIC_API_KEY=\w+/);
  const url = /^export ANTHROPIC_BASE_URL=(http:\S+)$/m.exec(output)?.[1] ?? "";
  await post({ url }, requestOf());
  await seen(/^1: 200 read 0, written 0, input \d+, output \d+$/m);
  await post({ url }, requestOf({ messages: [{ role: "user", content: "x".repeat(2000) }] }));
  await seen(/^2: 400 prompt is too long: \d+ tokens > 300 maximum$/m);
  child.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test.each([
  [[], /^mock: usage: npm run mock -- script.yaml/],
  [["a.yaml", "b.yaml"], /^mock: usage/],
  [["--fast", "a.yaml"], /^mock: Unknown option '--fast'/],
  [["--port", "many", "a.yaml"], /^mock: not a port: many/],
  [["missing.yaml"], /^mock: ENOENT.*missing.yaml/],
  [[program], /^mock: .*mock-main.ts: /],
])("with %j it says what is wrong in one line and exits with 2", (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    env,
    encoding: "utf8",
  });
  expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(message)]);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});
