/** Servers that break the rules: each is a clear result, bounded in memory and disk, and the session goes on. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { noBubblewrap } from "../network/inside.ts";
import { testProgram } from "../support/programs.ts";
import { sawtooth, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { mcp, testServer, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const raw = testProgram("mcp-raw");
const calls = (...each: ReturnType<typeof mcp>[]): ScriptedReply[] => [
  ...each.map((call) => ({ calls: [call] })),
  { text: "on" },
];
const pidsIn = (file: string) =>
  existsSync(file)
    ? [...readFileSync(file, "utf8").matchAll(/started (\d+)/g)].map(([, pid]) => Number(pid))
    : [];

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Calls a tool of a server, and returns the results once its processes are gone. */
async function resultsOf(program: string, kind: string, tools: string[], more: object = {}) {
  const seen = await withServers(calls(...tools.map((tool) => mcp("bad", tool))), {});
  const notes = join(seen.workspace.home, "notes");
  const entry = { command: process.execPath, args: [program, kind, notes], ...more };
  writeSettings(seen.workspace, { mcpServers: { bad: entry } });
  const { stdout } = await seen.run(...auto);
  expect(stdout).toBe("on\n");
  await until(() => pidsIn(notes).every((pid) => !isAlive(pid)), "the end of the server");
  return { results: seen.results(), notes: readFileSync(notes, "utf8"), seen };
}

test("one that throws at its start is told by its error, not by what Node prints below", async () => {
  const seen = await withServers(calls(mcp("bad", "go")), {
    bad: { command: process.execPath, args: ["-e", "throw new Error('no key')"] },
  });
  await seen.run(...auto);
  expect(seen.results()).toEqual([
    "MCP server bad cannot be started: ended with exit code 1; its last words: Error: no key",
  ]);
});

test("an answer to a call that was not made is told with the missing one", async () => {
  const { results } = await resultsOf(raw, "wrong-id", ["go"], { timeoutSeconds: 5 });
  expect(results[0]).toMatch(
    /^\[no answer and no progress for 5 s: cancelled; it answered the call 10\d\d, which was not made\]$/,
  );
});

test("notifications without end are stopped, and the next call starts it again", async () => {
  const { results } = await resultsOf(raw, "notifies", ["go"]);
  expect(results[0]).toBe(
    "MCP server bad sent 20,000 notifications within 10 s and was stopped. The next call starts it again.",
  );
});

test("tools that change all the time do not flood the session", async () => {
  const { results, seen } = await resultsOf(raw, "changes", ["go", "go"], { changes: "trusted" });
  expect(results).toEqual(["went", "went"]);
  const notes = seen.server.rawBodies.at(-1)?.match(/has other tools now/g) ?? [];
  expect(notes.length).toBeLessThanOrEqual(2);
});

test("one of the older protocol that ends at the question for the newer one is started again once, and never asked again", async () => {
  const { results, notes } = await resultsOf(raw, "ends-at-question", ["go", "go"]);
  expect(results).toEqual(["went", "went"]);
  expect(notes.match(/started/g)).toHaveLength(2);
  expect(notes.match(/server\/discover/g)).toHaveLength(1);
});

test("one that dies at each start is started once a call after the first, and its last words are told", async () => {
  const { results, notes } = await resultsOf(testServer().args[0] ?? "", "dies", ["add", "add", "add"]);
  expect(results).toEqual(
    Array(3).fill("MCP server bad cannot be started: ended with exit code 7; its last words: no licence"),
  );
  expect(notes.match(/started/g)?.length).toBeLessThanOrEqual(4);
});

test("30 MB of standard error are 10 MB on the disk, and calls work", async () => {
  const { results, seen } = await resultsOf(testServer().args[0] ?? "", "stderr", ["old"]);
  expect(results).toEqual(["here"]);
  expect(statSync(join(seen.folder(), "mcp/bad.stderr.txt")).size).toBeLessThanOrEqual(10_000_000);
});

test("one that never ends by itself is ended with the session", async () => {
  const { results } = await resultsOf(testServer().args[0] ?? "", "stays", ["old"]);
  expect(results).toEqual(["here"]);
});

test("a question without a person is declined", async () => {
  const { results } = await resultsOf(testServer().args[0] ?? "", "rich", ["greet"]);
  expect(results[0]).toBe('no name: {"kind":"elicit","action":"decline"}');
});

describe.skipIf(noBubblewrap())("in a sandbox", () => {
  test.each([
    [{ command: "no-such-program-here" }, "there is no program no-such-program-here inside of the sandbox"],
    [{ command: process.execPath, cwd: "/no/such" }, "there is no folder /no/such inside of the sandbox"],
    [testServer("dies"), "ended with exit code 7; its last words: no licence"],
  ])("%j is told with what is missing", async (entry, said) => {
    const seen = await withServers(calls(mcp("bad", "add")), {});
    writeSettings(seen.workspace, { mcpServers: { bad: entry }, sandbox: undefined });
    await sawtooth(seen.workspace, ["-p", "go", ...auto]);
    expect(seen.results()[0]).toContain(said);
  });
});
