/** A command that waits at its terminal can be taken over by the person (T19). */

import { spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { Drive } from "../support/pty-drive.ts";
import { open, type TerminalFixture } from "../support/terminal-fixture.ts";
import { hasTerminal } from "../tools/bash/shell-fixture.ts";

const takeOver = "\x1d";
const password = `printf 'Password: ' >/dev/tty; read -rs x </dev/tty; echo "length \${#x}"`;
const auto = ["--permission-mode", "auto"];

function call(command: string, more: object = {}): ScriptedReply {
  return { calls: [{ bash: { command, ...more } }] };
}

/** Up to the offer. */
async function offered(turns: ScriptedReply[], options = {}): Promise<TerminalFixture> {
  const fixture = await open(turns, auto, options);
  fixture.terminal.send("go\r");
  await fixture.terminal.until("waits for input on its terminal");
  return fixture;
}

async function taken(turns: ScriptedReply[], options = {}): Promise<TerminalFixture> {
  const fixture = await offered(turns, options);
  fixture.terminal.send(takeOver);
  await fixture.terminal.until("your keys go to the command");
  return fixture;
}

/** Returns true when any file of the session's home, or any request, holds the text. */
function isKept({ workspace, server }: TerminalFixture, text: string): boolean {
  const files = globSync(join(workspace.env.SAWTOOTH_HOME ?? "", "**/*"), { withFileTypes: true });
  const held = files
    .filter((file) => file.isFile())
    .some((file) => readFileSync(join(file.parentPath, file.name), "latin1").includes(text));
  return held || JSON.stringify(server.requests).includes(text);
}

function lastResult({ server }: TerminalFixture): string {
  return JSON.stringify(server.requests.at(-1)?.messages);
}

function isEditorShown(terminal: Drive): boolean {
  return terminal.screen().some((row) => /^› (type to steer|what to do)/.test(row));
}

describe.skipIf(!hasTerminal)("a command that waits at its terminal", () => {
  test("gets a password from the person, which is kept nowhere, and the model learns that somebody answered", async () => {
    const fixture = await taken([call(password), { text: "final" }]);
    expect(isEditorShown(fixture.terminal)).toBe(false);
    fixture.terminal.send("s3cret-of-mine\r");
    await fixture.terminal.until("final");
    await fixture.terminal.quiet();
    expect(lastResult(fixture)).toContain("length 14\\n[a person answered at the terminal]");
    expect(isKept(fixture, "s3cret-of-mine")).toBe(false);
    expect(fixture.terminal.raw()).not.toContain("s3cret-of-mine");
    expect(isEditorShown(fixture.terminal)).toBe(true);
  });

  test("goes back to the model when nobody takes it", async () => {
    const fixture = await offered([call(password), { text: "final" }]);
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toMatch(/waiting for input\. On the terminal:\]\\nPassword:/);
    expect(lastResult(fixture)).not.toContain("a person");
  });

  test("can still be taken over after the model was told; the model hears of it at its next step", async () => {
    const fixture = await offered([call(password), { text: "rests" }, { text: "final" }]);
    await fixture.terminal.until("rests");
    fixture.terminal.send(takeOver);
    await fixture.terminal.until("your keys go to the command");
    fixture.terminal.send("late-secret\r");
    await fixture.terminal.until("what to do?");
    fixture.terminal.send("and now\r");
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toMatch(/a person answered the command that waited .* it ended with exit 0/);
    expect(isKept(fixture, "late-secret")).toBe(false);
  });

  test("keeps its terminal as long as the person types, whatever its time limit", async () => {
    const fixture = await taken([call(password, { timeout_s: 5 }), { text: "final" }]);
    for (let index = 0; index < 40; index++) {
      fixture.terminal.send("x");
      await sleep(150);
    }
    fixture.terminal.send("\r");
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toContain("length 40\\n[a person answered");
  });

  test("is stopped by Esc while nobody has it, and then nothing is offered any more", async () => {
    const fixture = await offered([call(password), { text: "final" }]);
    fixture.terminal.send("\x1b");
    await fixture.terminal.until("interrupted");
    await fixture.terminal.quiet();
    expect(fixture.terminal.screen().join("\n")).not.toContain("waits for input on its terminal");
    fixture.terminal.send(takeOver);
    fixture.terminal.send("next\r");
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toContain("[cancelled by user]");
  });

  test("is given back by the same key, and offered again while it waits", async () => {
    const fixture = await taken([call(password), { text: "final" }]);
    fixture.terminal.send(`half${takeOver}typed for us`);
    await fixture.terminal.until("› typed for us");
    await fixture.terminal.until("waits for input on its terminal");
    fixture.terminal.send(takeOver);
    await fixture.terminal.until("your keys go to the command");
    fixture.terminal.send("way\r");
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toContain("length 7");
    expect(fixture.terminal.screen().join("\n")).toContain("› typed for us");
  });

  test("shows wide characters where they stand, and takes a paste as typed", async () => {
    const command = "printf 'name? ' >/dev/tty; read -r x </dev/tty; read -r y </dev/tty; echo $x-$y";
    const { terminal, ...fixture } = await taken([call(command), { text: "final" }]);
    terminal.send("日本");
    await terminal.until("name? 日本");
    await terminal.quiet();
    expect(terminal.cursor().column).toBe(2 + 6 + 4);
    terminal.send("\r");
    await terminal.quiet(100);
    expect(terminal.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(
      terminal.raw().lastIndexOf("\x1b[?2004h"),
    );
    terminal.send("pasted\r");
    await terminal.until("final");
    expect(lastResult({ terminal, ...fixture })).toContain("日本-pasted");
    expect(terminal.raw().lastIndexOf("\x1b[?2004h")).toBeGreaterThan(
      terminal.raw().lastIndexOf("\x1b[?2004l"),
    );
  });

  test("is interrupted by Ctrl-C like in any terminal, and outlives Ctrl-Z", async () => {
    const program = `python3 -c "
import sys
t = open('/dev/tty', 'r+b', buffering=0)
t.write(b'first? '); print(t.readline().decode().strip(), flush=True)
t.write(b'second? '); t.readline()"; echo status $?`;
    const fixture = await taken([call(program), { text: "final" }]);
    fixture.terminal.send("\x1a");
    await fixture.terminal.drawn();
    fixture.terminal.send("one\r");
    await fixture.terminal.until("second?");
    fixture.terminal.send("\x03");
    await fixture.terminal.until("final");
    expect(lastResult(fixture)).toMatch(/one\\n[\s\S]*(exit 130|status 130|KeyboardInterrupt)/);
  });

  test("that the person ran is offered too, and waits until it is answered", async () => {
    const fixture = await open([{ text: "final" }], auto);
    fixture.terminal.send(`!${password}\r`);
    await fixture.terminal.until("waits for input on its terminal");
    // Longer than a command of the model's would be offered.
    await sleep(6000);
    fixture.terminal.send(takeOver);
    await fixture.terminal.until("your keys go to the command");
    fixture.terminal.send("own-secret\r");
    await fixture.terminal.until("length 10");
    fixture.terminal.send("go on\r");
    await fixture.terminal.until("final");
    expect(isKept(fixture, "own-secret")).toBe(false);
  });
});

/** The pid of the program of this name that works in the folder. */
function programIn(folder: string, name: string): number {
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
  const found = pids.find((pid) => {
    try {
      return (
        readlinkSync(`/proc/${pid}/cwd`) === folder &&
        readFileSync(`/proc/${pid}/comm`, "utf8").startsWith(name)
      );
    } catch {
      return false;
    }
  });
  return Number(found);
}

const hasVim = spawnSync("sh", ["-c", "command -v vim"]).status === 0;

test.skipIf(!hasTerminal)(
  "a hostile full-screen program draws, and neither writes the clipboard and the title nor asks the terminal",
  async () => {
    const attack = String.raw`\033]52;c;cm0gLXJm\007\033]0;owned\033\\\033P$qm\033\\\033]1337;File=:QQ==\007\033[21t\033[?1004h`;
    const program = `exec </dev/tty >/dev/tty; printf '\\033[?1049h${attack}ready> '; read x; printf '${attack}drawn %s> ' "$x"; read y; printf '\\033[?1049l'`;
    const fixture = await offered([call(program, { tty: true }), { text: "final" }]);
    fixture.terminal.send(takeOver);
    await fixture.terminal.until(/^ready>/m);
    fixture.terminal.send("one\r");
    await fixture.terminal.until(/drawn one>/);
    fixture.terminal.send("two\r");
    await fixture.terminal.until("final");
    // Our own modes come together.
    const raw = fixture.terminal.raw().replaceAll("\x1b[?2004h\x1b[?1004h", "");
    expect(raw).not.toMatch(/\x1b\]|\x1bP|\x1b\[21t|\x1b\[\?1004h/);
    expect(isEditorShown(fixture.terminal)).toBe(true);
  },
);

describe.skipIf(!hasTerminal || !hasVim)("a program that needs the whole window", () => {
  const vim = call("vim -u NONE new.txt", { tty: true });

  async function inVim(columns = 100, rows = 30): Promise<TerminalFixture> {
    const fixture = await offered([vim, { text: "final" }], { columns, rows });
    fixture.terminal.send(takeOver);
    await fixture.terminal.until(/^~ *$/m);
    await fixture.terminal.quiet(400);
    return fixture;
  }

  /** Asks until it has the size: on a busy machine vim reads the question before the signal of a new size. */
  async function hasSize(
    terminal: TerminalFixture["terminal"],
    columns: number,
    rows: number,
  ): Promise<void> {
    const asked = async () => {
      terminal.send(":echo &columns 'by' &lines\r");
      await terminal.quiet();
      return terminal.screen().join("\n");
    };
    await expect.poll(asked).toContain(`${columns} by ${rows}`);
  }

  test("gets it, in its size, and leaves everything as it was", async () => {
    const fixture = await inVim();
    const { terminal } = fixture;
    await hasSize(terminal, 100, 30);
    terminal.send("ihello\x1b");
    await terminal.until("hello");
    await terminal.resize(70, 20);
    await hasSize(terminal, 70, 20);
    terminal.send(":wq\r");
    await terminal.until("final");
    await terminal.quiet();
    expect(readFileSync(join(fixture.workspace.cwd, "new.txt"), "utf8")).toBe("hello\n");
    expect(terminal.whole().join("\n")).not.toMatch(/^~ *\n~/m);
    expect(terminal.whole().join("\n").split("› go")).toHaveLength(2);
    expect(isEditorShown(terminal)).toBe(true);
    expect(terminal.cursor()).toMatchObject({ column: 2, shown: true });
    expect(lastResult(fixture)).toContain("a person answered at the terminal");
  });

  test("gives it back on the key, and when it is killed", async () => {
    const fixture = await inVim();
    fixture.terminal.send(takeOver);
    await fixture.terminal.until(/^› type to steer/m);
    await fixture.terminal.until("waits for input on its terminal");
    fixture.terminal.send(takeOver);
    await fixture.terminal.until(/^~ *$/m);
    expect(isEditorShown(fixture.terminal)).toBe(false);
    process.kill(programIn(fixture.workspace.cwd, "vim"), "SIGKILL");
    await fixture.terminal.until("final");
    await fixture.terminal.quiet();
    expect(isEditorShown(fixture.terminal)).toBe(true);
    expect(fixture.terminal.whole().join("\n")).not.toMatch(/^~ *\n~/m);
  });
});
