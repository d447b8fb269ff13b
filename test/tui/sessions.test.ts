import { globSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type Drive, type DriveOptions, drive } from "../support/pty-drive.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";
import { again, atRest, open, type TerminalFixture } from "../support/terminal-fixture.ts";

/** Ids of the stored sessions, the oldest first. */
function stored(workspace: Workspace): string[] {
  const logs = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  return logs.map((log) => basename(dirname(log))).sort();
}

/** The id of the session that began with these words. */
async function idOf(workspace: Workspace, words: string): Promise<string> {
  const { stdout } = await sawtooth(workspace, ["sessions"]);
  return (
    stdout
      .split("\n")
      .find((line) => line.endsWith(words))
      ?.split(" ")[0] ?? ""
  );
}

const answers: ScriptedReply[] = [
  { text: "The parser is\nthere." },
  { text: "All tests pass." },
  { text: "third" },
];

/** A session at the start of its life, and two that were there before. */
async function withSessions(words: string[] = [], options: DriveOptions = {}): Promise<TerminalFixture> {
  const fixture = await open(answers, words, options);
  await sawtooth(fixture.workspace, ["-p", "write the parser"]);
  await sawtooth(fixture.workspace, ["-p", "fix the tests"]);
  return fixture;
}

function shown(terminal: Drive): string {
  return terminal.screen().join("\n");
}

describe("/resume", () => {
  test("lists what is stored, searches it, shows the end of what is marked, and opens it", async () => {
    const { terminal, server, workspace } = await withSessions();
    const shell = await again(workspace);
    shell.send("!echo of the shell\r");
    await shell.until(/^ {2}of the shell/m);
    shell.send("\x04");
    await shell.ended;
    terminal.send("/resume\r");
    await terminal.until("❯ !echo of the shell ");
    terminal.send("\x1b[B");
    await terminal.until(/Sessions of this folder · 3[\s\S]*❯ fix the tests .*just now +1 turn +\$0\.\d+/);
    expect(shown(terminal)).toMatch(/│ › fix the tests\n {2}│ {3}All tests pass\./);
    terminal.send("\x1b[B");
    await terminal.until(/❯ write the parser[\s\S]*│ {3}there\./);
    terminal.send("\x1b[A");
    terminal.send("wtp");
    await terminal.until(/· 1 of 3\n {2}› wtp\n {2}❯ write the parser/);
    terminal.send("\r");
    await terminal.until(/› write the parser\n\n {2}The parser is\n/);
    terminal.send("go on\r");
    await terminal.until("third");
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("write the parser");
    expect(JSON.stringify(server.requests.at(-1)?.messages)).not.toContain("fix the tests");
  });

  test("closes on Esc with everything as it was, and Tab shows the sessions of every folder", async () => {
    const { terminal, workspace } = await withSessions();
    await sawtooth({ ...workspace, cwd: workspace.home }, ["-p", "elsewhere"]);
    terminal.send("half a ");
    terminal.send("\x15/resume\r");
    await terminal.until("Sessions of this folder · 2");
    terminal.send("\t");
    await terminal.until(/Sessions of all folders · 3[\s\S]*❯ elsewhere +just now +~/);
    terminal.send("\x1b");
    await terminal.until("what to do?");
    expect(shown(terminal)).not.toContain("elsewhere");
  });

  test("takes an id or a name, and says when there is none", async () => {
    const { terminal, workspace } = await withSessions();
    terminal.send("/resume 2020\r");
    await terminal.until('no session has the id or name "2020"');
    terminal.send(`/resume ${await idOf(workspace, "write the parser")}\r`);
    await terminal.until("The parser is");
  });

  test("of a session that another process has says so, and /fork goes on in a branch of it", async () => {
    const { terminal, workspace, server } = await open([{ text: "held" }, { text: "branched" }]);
    terminal.send("keep this\r");
    await terminal.until("held");
    const [id] = stored(workspace);
    const second = await again(workspace);
    second.send("/resume\r");
    await second.until(/❯ keep this in use/);
    second.send("\r");
    await second.until(new RegExp(`session ${id} is in use by process ${terminal.pid}`));
    await second.until(`/fork ${id}`);
    second.send(`/fork ${id}\r`);
    await second.until(new RegExp(`a branch of ${id}`));
    second.send("more\r");
    await second.until("branched");
    expect(JSON.stringify(server.requests[1]?.messages)).toContain("keep this");
  });

  test("of one that cannot be opened goes on with the session that was open", async () => {
    const { terminal, workspace } = await withSessions();
    terminal.send("/resume\r");
    await terminal.until("❯ fix the tests");
    const newest = await idOf(workspace, "fix the tests");
    const [log = ""] = globSync(`sawtooth/state/sessions/*/${newest}/events.jsonl`, { cwd: workspace.home });
    rmSync(join(workspace.home, log));
    terminal.send("\r");
    await terminal.until(/cannot be read: choose another one/);
    terminal.send("still here\r");
    await terminal.until("third");
  });

  test("waits for what is under way", async () => {
    const { terminal } = await open([{ text: "slowly ".repeat(60), fault: { silentAfterEvents: 6 } }]);
    terminal.send("go\r");
    await terminal.until("slowly");
    for (const command of ["resume", "rewind", "fork", "undo"]) {
      terminal.send(`/${command}\r`);
      await terminal.until("Busy: press Esc to interrupt first");
      terminal.send("\x7f");
      await terminal.until(/^(?![\s\S]*Busy)/);
    }
  });
});

describe("the list", () => {
  test.each([
    [40, 10],
    [80, 24],
    [120, 40],
  ])(
    "in a window of %i by %i is lower than it, with wide text, and shows how to leave",
    async (columns, rows) => {
      const turns = Array.from({ length: 3 }, (_, index) => ({ text: `答え ${index} ${"長い".repeat(80)}` }));
      const { terminal, workspace } = await open(turns, [], { columns, rows, env: { NO_COLOR: "1" } });
      for (const text of ["日本語で書いてください".repeat(9), "한글 🟢👩‍👩‍👧", "plain"])
        await sawtooth(workspace, ["-p", text]);
      terminal.send("/resume\r");
      await terminal.until("Sessions of this folder · 3");
      await terminal.quiet();
      const screen = terminal.screen();
      expect(screen.join("\n")).toMatch(/❯ plain +just now/);
      expect(screen.join("\n")).toMatch(/Enter.* · Esc/);
      expect(terminal.cursor().column).toBe(4);
      expect(screen[terminal.cursor().row]).toContain("› type to search");
      terminal.send("\x1b[A");
      await terminal.until(/❯ 日本語/);
      terminal.send("한글");
      await terminal.until(/❯ 한글/);
      expect(terminal.cursor().column).toBe(8);
      expect(terminal.raw()).not.toMatch(/\x1b\[(?:\d+;)*3\dm/);
    },
  );
});

describe("sawtooth -r without an id", () => {
  test("asks before there is a session, and leaves none behind when it is closed", async () => {
    const { workspace } = await withSessions();
    const before = stored(workspace);
    const terminal = await again(workspace, ["-r"]);
    await terminal.until(/Sessions of this folder · 2[\s\S]*❯ fix the tests/);
    expect(shown(terminal)).not.toContain("Sawtooth");
    terminal.send("\x1b");
    expect((await terminal.ended).code).toBe(0);
    expect(stored(workspace)).toEqual(before);
  });

  test("opens what is picked, and says the prompt there", async () => {
    const { workspace, server } = await withSessions();
    const terminal = await again(workspace, ["and then?", "-r"]);
    await terminal.until("❯ fix the tests");
    terminal.send("\r");
    await terminal.until("third");
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/fix the tests.*and then\?/);
    expect(stored(workspace)).toHaveLength(3);
  });

  test("says so when nothing is stored", async () => {
    const workspace = makeWorkspace();
    onTestFinished(workspace.remove);
    const terminal = drive(workspace, ["-r"]);
    expect((await terminal.ended).code).toBe(2);
    expect(terminal.raw()).toContain("no stored session yet: start one without --resume");
  });

  test("asks by number with --plain, without an escape", async () => {
    const { workspace } = await withSessions();
    const terminal = drive(workspace, ["-r", "--plain"]);
    onTestFinished(() => terminal.kill());
    await terminal.until("an empty line closes this");
    expect(shown(terminal)).toMatch(/1 fix the tests, just now, 1 turn, \$0\.\d+\n2 write the parser, /);
    terminal.send("2?\r");
    await terminal.until("The parser is");
    terminal.send("nothing like it\r");
    await terminal.until("nothing matches these words");
    terminal.send("parser\r");
    await terminal.until("1 write the parser");
    terminal.send("7\r");
    await terminal.until("there is no 7 in this list");
    terminal.send("1\r");
    await terminal.until(/\/help lists keys[\s\S]*› write the parser/);
    expect(terminal.raw()).not.toContain("\x1b");
  });
});

describe("a name", () => {
  test("is shown, opens the session from the command line, and is refused when two have it", async () => {
    const { terminal, workspace, server } = await open([{ text: "one" }, { text: "two" }]);
    terminal.send("begin\r");
    await terminal.until("one");
    await atRest(terminal);
    terminal.send("/name the  parser\r");
    await terminal.until(/· this session is called the parser[\s\S]*ask {2}\S+ {2}.*the parser {2}/);
    terminal.send("\x04");
    await terminal.ended;
    const headless = await sawtooth(workspace, ["-p", "and headless", "-r", "the parser"]);
    expect(headless).toMatchObject({ code: 0, stdout: "two\n" });
    expect(JSON.stringify(server.requests[1]?.messages)).toMatch(/begin.*one.*and headless/);
    const second = await again(workspace, ["-r", "the parser"]);
    await second.until("› begin");
    second.send("/clear\r");
    await second.until(/Sawtooth[\s\S]*Sawtooth/);
    second.send("/name the parser\r");
    await second.until(/› \/name the parser\n[\s\S]*is called the parser/);
    second.send("\x04");
    await second.ended;
    const third = drive(workspace, ["-r", "the parser"]);
    expect((await third.ended).code).toBe(2);
    expect(third.raw()).toMatch(/2 sessions are called "the parser": choose one by its id: \d{8}-/);
  });
});

test("/fork goes on in a branch, names both sessions, and leaves the first as it was", async () => {
  const { terminal, workspace, server } = await open([{ text: "one" }, { text: "two" }]);
  terminal.send("/fork\r");
  await terminal.until("No messages yet");
  terminal.send("begin\r");
  await terminal.until("one");
  await atRest(terminal);
  const [first] = stored(workspace);
  const [log = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  const before = readFileSync(join(workspace.home, log), "utf8");
  terminal.send("/fork\r");
  await terminal.until(/session \S+, a branch of \S+/);
  const second = stored(workspace).find((id) => id !== first);
  expect(shown(terminal)).toContain(`session ${second}, a branch of ${first}`);
  terminal.send("more\r");
  await terminal.until("two");
  expect(JSON.stringify(server.requests[1]?.messages)).toMatch(/begin.*one.*more/);
  expect(readFileSync(join(workspace.home, log), "utf8")).toBe(before);
});
