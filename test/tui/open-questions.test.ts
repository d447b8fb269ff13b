/** Questions that are open while the mode or the rules change: judged again, and closed once they are answered. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../support/terminal-fixture.ts";

const shiftTab = "\x1b[Z";
const question = "Run this command?";

/** A session whose model wants to run `touch made.txt`: it is asked for. */
async function asked() {
  const opened = await open([{ calls: [{ bash: { command: "touch made.txt" } }] }, { text: "final" }]);
  opened.terminal.send("go\r");
  await opened.terminal.until(question);
  return { ...opened, isMade: () => existsSync(join(opened.workspace.cwd, "made.txt")) };
}

test("a question is closed, and its command run, once the mode that was chosen meanwhile allows it", async () => {
  const { terminal, workspace } = await asked();
  terminal.send(shiftTab.repeat(3));
  await terminal.until("final");
  expect(terminal.screen().join("\n")).toMatch(/^ {2}auto /m);
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(true);
  expect(terminal.whole().join("\n")).toContain("✓ bash touch made.txt");
});

test("an edit is made once the mode is accept-edits; a command that still needs a yes goes on asking", async () => {
  const edit = { command: "create", path: "made.txt", file_text: "x\n" };
  const calls = [{ str_replace_editor: edit }, { bash: { command: "touch other.txt" } }];
  const { terminal, workspace } = await open([{ calls }, { text: "final" }]);
  terminal.send("go\r");
  await terminal.until("Write made.txt?");
  terminal.send(shiftTab);
  await terminal.until(question);
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(true);
  expect(existsSync(join(workspace.cwd, "other.txt"))).toBe(false);
});

test("a mode that is only passed through answers nothing", async () => {
  const { terminal, workspace, server } = await asked();
  // Through plan, which would refuse, and auto, which would run it, back to ask.
  terminal.send(shiftTab.repeat(4));
  await terminal.quiet(1500);
  expect(terminal.screen().join("\n")).toMatch(/^ {2}ask /m);
  expect(terminal.screen().join("\n")).toContain(question);
  expect(server.requests).toHaveLength(1);
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(false);
  terminal.send("1");
  await terminal.until("final");
});

test("a rule that one answer adds answers the questions that wait behind it", async () => {
  const { terminal, workspace, server } = await open([
    {
      calls: ["a.txt", "b.txt", "c.txt"].map((name) => ({
        str_replace_editor: { command: "view", path: `../out/${name}` },
      })),
    },
    { text: "final" },
  ]);
  const out = join(dirname(workspace.cwd), "out");
  mkdirSync(out);
  for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(out, name), `content of ${name}\n`);
  terminal.send("go\r");
  await terminal.until(/Read .*\/a\.txt\?/);
  expect(terminal.screen().join("\n")).toMatch(/always adds the rule read\(.*\/out\/\*\*\)/);
  terminal.send("2");
  await terminal.until("final");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(
    /content of a\.txt.*content of b\.txt.*content of c\.txt/,
  );
});

test("what a mode or a rule answered is recorded with the mode and the rule, and with what was asked", async () => {
  const { terminal, workspace } = await asked();
  terminal.send(shiftTab.repeat(3));
  await terminal.until("final");
  terminal.send("/export json made.json\r");
  await terminal.until("written to");
  const exported = readFileSync(join(workspace.cwd, "made.json"), "utf8");
  expect(exported).toMatch(/"by":\s*"mode"/);
  expect(exported).toMatch(/"mode":\s*"auto"/);
});

test("a session that is left while it asks runs nothing", async () => {
  const { terminal, workspace } = await asked();
  terminal.send("\x04");
  await terminal.ended;
  expect(existsSync(join(workspace.cwd, "made.txt"))).toBe(false);
});

test("what a command asks outlives the turn that ends meanwhile, and is answered", async () => {
  const { terminal, workspace } = await open(
    [{ text: "slowly ".repeat(30), fault: { pauseMs: 60 } }, { text: "final" }],
    [],
    { rows: 40 },
  );
  const folder = join(workspace.cwd, ".sawtooth/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "greet.md"), "Say hello.\n");
  terminal.send("/clear\r");
  await terminal.until("not taken from");
  terminal.send("go\r");
  await terminal.until("slowly slowly");
  terminal.send("/trust\r");
  await terminal.until("Take 1 command");
  await terminal.until(/slowly *\n[\s\S]*Take 1 command/);
  await terminal.quiet(1500);
  terminal.send("y");
  await terminal.until("trusted: /greet");
});

test("the dialog of a command names the file that a link leads to", async () => {
  const { terminal, workspace } = await open([
    { calls: [{ bash: { command: "cp a.txt docs/link" } }] },
    { text: "final" },
  ]);
  mkdirSync(join(workspace.cwd, "docs"));
  symlinkSync(join(dirname(workspace.cwd), "keys"), join(workspace.cwd, "docs/link"));
  terminal.send("go\r");
  await terminal.until(question);
  expect(terminal.screen().join("\n")).toMatch(/docs\/link leads to |→ .*\/keys/);
});
