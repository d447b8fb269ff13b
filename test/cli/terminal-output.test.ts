/**
 * On a terminal nothing that a model, a file or a server wrote steers it; through a pipe an answer is as it was written
 * (S50).
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import { entry } from "../support/entry.ts";
import { startMockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { driveProgram } from "../support/pty-drive.ts";
import { jsonLines, makeWorkspace, sawtooth } from "../support/sawtooth.ts";

/** A clipboard write, a title, a cleared screen, C1 forms of the same, a device query, an override, hidden tags. */
const hostile =
  "A\x1b]52;c;cm0gLXJm\x07B\x1b]0;owned\x1b\\C\x1b[2JD\x9b2JE\x9d52;c;eA==\x9cF\x1bP$qm\x1b\\G\x1b[6nH\u202eI\u{e0072}J";
const cleaned = "ABCDEFGH\\u{202e}I\\u{e0072}J";
const steering = /\x1b\]|\x1bP|\x1b\[2J|\x1b\[6n|[\x80-\x9f\u202e]/;

async function setUp(turns: Turns<WireBody>) {
  const server = await startMockServer({ turns });
  const workspace = makeWorkspace(server.url);
  onTestFinished(async () => {
    await server.close();
    workspace.remove();
  });
  return workspace;
}

async function onTerminal(workspace: ReturnType<typeof makeWorkspace>, words: string[]) {
  const terminal = driveProgram(process.execPath, [entry, ...words], workspace, { columns: 200 });
  await terminal.ended;
  await terminal.quiet(50);
  return terminal.raw();
}

test("S50 print-escapes: the answer of -p is cleaned on a terminal, and as the model wrote it through a pipe", async () => {
  const workspace = await setUp([{ text: hostile }, { text: hostile }]);
  const raw = await onTerminal(workspace, ["-p", "hi"]);
  expect(raw).toContain(cleaned);
  expect(raw).not.toMatch(steering);
  expect((await sawtooth(workspace, ["-p", "hi"])).stdout).toBe(`${hostile}\n`);
});

test("JSON holds the same answer, and no byte of it steers a terminal", async () => {
  const workspace = await setUp([{ text: hostile }]);
  const { stdout } = await sawtooth(workspace, ["-p", "hi", "--output-format", "stream-json"]);
  expect(stdout).not.toMatch(steering);
  expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "result", result: hostile });
});

test("a server's error is cleaned, on a terminal and in a log", async () => {
  const message = JSON.stringify({
    type: "error",
    error: { type: "invalid_request_error", message: hostile },
  });
  const server = createServer((_, response) => response.writeHead(400).end(message)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const workspace = makeWorkspace(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    server.close();
    workspace.remove();
  });
  const raw = await onTerminal(workspace, ["-p", "hi"]);
  expect(raw).toContain("ABCDEFGH");
  expect(raw).not.toMatch(steering);
  expect((await sawtooth(workspace, ["-p", "hi"])).stderr).not.toMatch(steering);
});

test("steps, lists, reports and exports of a session name hostile texts without being steered", async () => {
  const command = `printf '${hostile}'; false # ${hostile}`;
  const workspace = await setUp([{ calls: [{ bash: { command } }] }, { text: hostile }]);
  const words = ["-p", hostile, "--verbose", "--permission-mode", "auto"];
  expect(await onTerminal(workspace, words)).not.toMatch(steering);
  for (const words of [
    ["sessions", "list"],
    ["sessions", "show"],
    ["sessions", "export"],
    ["report"],
    ["report", "--verbose"],
    ["report", "--step", "1"],
    ["undo", "list"],
    ["doctor"],
    ["sessions", "show", hostile],
    ["replay", hostile],
    [`--${hostile}`],
  ])
    expect(await onTerminal(workspace, words), words.join(" ")).not.toMatch(steering);
});

test("fix shows the names, outputs and words of checks cleaned", async () => {
  const workspace = await setUp([{ text: hostile }]);
  spawnSync("git", ["init", "-q"], { cwd: workspace.cwd });
  const check = `printf '${hostile}'; false`;
  expect(await onTerminal(workspace, ["fix", "--check", check, "--max-attempts", "1"])).not.toMatch(steering);
});

test.skipIf(!existsSync("/dev/full"))(
  "output that a full disk refuses is told, and ends in no success",
  async () => {
    const workspace = await setUp([{ text: "hello" }, { text: "hello" }]);
    const prompt = ["-p", "hi"];
    for (const words of [prompt, [...prompt, "--output-format", "stream-json"], ["--help"]]) {
      const full = openSync("/dev/full", "w");
      onTestFinished(() => closeSync(full));
      const { cwd, env } = workspace;
      const child = spawn(process.execPath, [entry, ...words], { cwd, env, stdio: ["ignore", full, "pipe"] });
      const [stderr, [status]] = await Promise.all([text(child.stderr as Readable), once(child, "close")]);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^sawtooth: cannot write to standard output: no space is left .*\n$/),
      });
    }
  },
);
