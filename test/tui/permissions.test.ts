/** Rules that a person gives at the screen: shown with their place, kept for a folder, listed and taken back. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Workspace } from "../support/sawtooth.ts";
import { again, open, type TerminalFixture } from "../support/terminal-fixture.ts";

const calls = [{ bash: { command: "touch made.txt" } }];
const turns = [{ calls }, { text: "final" }];

function projects({ env }: Workspace): string[] {
  const folder = join(env.SAWTOOTH_HOME ?? "", "config/projects");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Answers the question with "this project". */
async function allowInProject({ terminal }: TerminalFixture): Promise<void> {
  terminal.send("go\r");
  await terminal.until("Run this command?");
  terminal.send("3");
  await terminal.until("final");
}

/** Starts afresh in the workspace and returns whether it asks again. */
async function asksAgain({ workspace }: TerminalFixture): Promise<boolean> {
  const next = await again(workspace);
  next.send("go\r");
  await next.until(/Run this command\?|final/);
  const asked = next.screen().join("\n").includes("Run this command?");
  next.kill();
  return asked;
}

test("the dialog shows the rule, how long it would count and the file that would hold it", async () => {
  const { terminal } = await open(turns);
  terminal.send("go\r");
  await terminal.until("Run this command?");
  const screen = terminal.screen().join("\n");
  expect(screen).toContain("always allows exactly this command");
  expect(screen).toMatch(/2 Yes, always in this session\s+kept until you leave/);
  expect(screen).toMatch(/3 Yes, always in this project\s+…?\S*\/projects\/work-[\da-f]{12}\.json/);
  expect(screen).toMatch(/4 Yes, always in every project\s+~\/sawtooth\/config\/settings\.json/);
  expect(screen).toContain("5 No, and tell it what to do instead");
});

test("a rule for this project outlives the program, and counts in this folder only", async () => {
  const fixture = await open([...turns, ...turns, ...turns, ...turns]);
  const { workspace } = fixture;
  await allowInProject(fixture);
  fixture.terminal.kill();
  const [file = ""] = projects(workspace);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    folder: workspace.cwd,
    allow: ["bash(touch made.txt)"],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(workspace.cwd)).toEqual(["made.txt"]);
  expect(await asksAgain(fixture)).toBe(false);

  const other = join(dirname(workspace.cwd), "other");
  mkdirSync(other);
  expect(await asksAgain({ ...fixture, workspace: { ...workspace, cwd: other } })).toBe(true);
});

test("through a link the folder is the same; under another name it is not", async () => {
  const fixture = await open([...turns, ...turns, { calls }, { text: "final" }]);
  const { workspace } = fixture;
  await allowInProject(fixture);
  fixture.terminal.kill();
  const link = join(dirname(workspace.cwd), "link");
  symlinkSync(workspace.cwd, link);
  expect(await asksAgain({ ...fixture, workspace: { ...workspace, cwd: link } })).toBe(false);
  const moved = join(dirname(workspace.cwd), "moved");
  renameSync(workspace.cwd, moved);
  expect(await asksAgain({ ...fixture, workspace: { ...workspace, cwd: moved } })).toBe(true);
});

test("a file of rules that is broken allows nothing, is told of, and is not overwritten", async () => {
  const fixture = await open([...turns, ...turns]);
  await allowInProject(fixture);
  fixture.terminal.kill();
  const [file = ""] = projects(fixture.workspace);
  writeFileSync(file, '{"folder": ');
  const next = await again(fixture.workspace);
  await next.until("is not JSON");
  next.send("go\r");
  await next.until("Run this command?");
  next.send("3");
  await next.until("applies to this session only");
  expect(readFileSync(file, "utf8")).toBe('{"folder": ');
  next.send("/permissions\r");
  await next.until("this session: kept until you leave");
});

test("/permissions lists the rules with their places, and takes one back at once", async () => {
  const fixture = await open([...turns, { calls }, { text: "end" }], ["--deny", "bash(rm:*)"]);
  const { terminal, workspace } = fixture;
  await allowInProject(fixture);
  terminal.send("/permissions\r");
  await terminal.until("this project: ~/sawtooth");
  const screen = terminal.screen().join("\n");
  expect(screen).toMatch(/1 {2}deny {3}bash\(rm:\*\)\s+this run: the command line/);
  expect(screen).toMatch(
    /2 {2}allow {2}bash\(touch made\.txt\)\s+this project: ~\/sawtooth\/config\/projects/,
  );
  terminal.send("/permissions remove 1\r");
  await terminal.until("remove it there");
  terminal.send("/permissions remove 9\r");
  await terminal.until("No rule 9");
  terminal.send("/permissions remove 2\r");
  await terminal.until("removed: allow bash(touch made.txt)");
  expect(JSON.parse(readFileSync(projects(workspace)[0] ?? "", "utf8"))).toMatchObject({ allow: [] });
  terminal.send("go\r");
  await terminal.until("Run this command?");
});
