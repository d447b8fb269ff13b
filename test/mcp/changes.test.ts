/** A server whose tools changed since a person saw them: the difference comes before the next call. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { drive } from "../support/pty-drive.ts";
import { sawtooth, writeSettings } from "../support/sawtooth.ts";
import { mcp, testServer, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const add = { calls: [mcp("test", "add", { arguments: { a: 20, b: 22 } })] };

/** A session with a server that was seen once, and whose tools are others from now on. */
async function withChanged(turns: ScriptedReply[], entry: object = {}) {
  const seen = await withServers([add, { text: "first" }, ...turns], {});
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, { mcpServers: { test: { ...testServer("usual", file), ...entry } } });
  await seen.run(...auto);
  writeFileSync(`${file}.later`, "");
  return { ...seen, file };
}

test("headless denies the call with the command that shows and accepts, and the model reads nothing of the change", async () => {
  const seen = await withChanged([add, { text: "sad" }, add, { text: "done" }]);
  const denied = await seen.run("-c", ...auto, "--output-format", "json");
  expect(denied.code).toBe(5);
  expect(denied.stdout).toContain("the tools of test changed; sawtooth mcp review shows how, and asks");
  expect(seen.results().at(-1)).toContain("sawtooth mcp review shows it at a terminal and asks");
  expect(seen.server.rawBodies.filter((body) => /numbers well|: fresh/.test(body))).toHaveLength(0);
  expect(readFileSync(join(seen.folder(), "mcp/test/add.json"), "utf8")).toContain("Adds two numbers.");
  const listed = await sawtooth(seen.workspace, ["mcp"]);
  expect(listed.stdout).toContain("test: 7 tools, which changed since you saw them\n");
  expect(listed.stdout).toContain("sawtooth mcp review shows");

  const terminal = drive(seen.workspace, ["mcp", "review"], { columns: 120, rows: 50 });
  onTestFinished(() => terminal.kill());
  await terminal.until("Enter: later");
  const screen = terminal.screen().join("\n");
  expect(screen).toContain('-  "description": "Adds two numbers.",');
  expect(screen).toContain('+  "description": "Adds two numbers well.",');
  expect(screen).toContain("fresh, which is new");
  expect(screen).toContain("old, which is gone");
  terminal.send("y\r");
  expect(await terminal.ended).toMatchObject({ code: 0 });
  expect((await seen.run("-c", ...auto)).code).toBe(0);
  expect(seen.results().at(-1)).toBe("42");
  expect(seen.server.rawBodies.at(-1)).toContain("new: fresh; changed: add; gone: old");
});

test("the screen asks with the difference: no denies the call, yes takes the tools and calls", async () => {
  const seen = await withChanged([add, { text: "sad" }, add, { text: "glad" }]);
  const terminal = drive(seen.workspace, ["-c", ...auto], { columns: 120, rows: 50 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("go\r");
  await terminal.until("Take the changed tools of test?");
  const screen = terminal.screen().join("\n");
  expect(screen).toContain('+  "description": "Adds two numbers well.",');
  // A stray Enter takes nothing.
  expect(screen).toContain("❯ 2 No, and tell it");
  terminal.send("\r\r");
  await terminal.until("sad");
  expect(seen.results().at(-1)).toContain("did not take the changed tools of test");
  terminal.send("again\r");
  await terminal.until("Take the changed tools of test?");
  terminal.send("y");
  await terminal.until("glad");
  expect(seen.results().at(-1)).toBe("42");
});

test("a command of the shell cannot call it before either, nor show what is new; the screen asks", async () => {
  const command = (text: string) => ({ calls: [{ bash: { command: text } }] });
  const call = command("mcp test add a=1 b=2");
  const lists = command("mcp test; mcp test add --help");
  const seen = await withChanged([call, { text: "x" }, lists, { text: "x" }, call, { text: "glad" }]);
  expect((await seen.run("-c", ...auto)).code).toBe(5);
  const denied = seen.results().at(-1);
  await seen.run("-c", ...auto);
  const listed = seen.results().at(-1);
  expect(denied).toContain("describes its tools otherwise than when a person last saw them");
  expect(listed).toContain("Adds two numbers.");
  expect(listed).not.toMatch(/numbers well|fresh/);
  const terminal = drive(seen.workspace, ["-c", ...auto], { columns: 120, rows: 50 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("go\r");
  await terminal.until("Take the changed tools of test?");
  terminal.send("y");
  await terminal.until("glad");
  expect(seen.results().at(-1)).toMatch(/^3\n/);
});

test('"changes": "trusted" in the person\'s entry takes every change', async () => {
  const seen = await withChanged([add, { text: "glad" }], { changes: "trusted" });
  expect((await seen.run("-c", ...auto)).code).toBe(0);
  expect(seen.results().at(-1)).toBe("42");
});

test("a tool that is only gone, and the same tools with another value of a variable, are no question", async () => {
  const seen = await withServers([add, { text: "a" }, add, { text: "b" }], {});
  const entry = { ...testServer("usual", join(seen.workspace.home, "notes")), env: { A: `$${"{LANG}"}` } };
  writeSettings(seen.workspace, { mcpServers: { test: entry } });
  await seen.run(...auto);
  const other = { ...seen.workspace, env: { ...seen.workspace.env, LANG: "C" } };
  expect((await sawtooth(other, ["-p", "go", "-c", ...auto])).code).toBe(0);
});
