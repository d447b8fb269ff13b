/** A command that waits at its terminal can be taken over by the person (T19). */

import { spawnSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { Drive } from "../support/pty-drive.ts";
import { open, type Scene } from "../support/scene.ts";
import { hasTerminal } from "../tools/bash/shell-fixture.ts";

const takeOver = "\x1d";
const password = `printf 'Password: ' >/dev/tty; read -rs x </dev/tty; echo "length \${#x}"`;
const auto = ["--permission-mode", "auto"];

function call(command: string, more: object = {}): ScriptedReply {
  return { calls: [{ bash: { command, ...more } }] };
}

/** Up to the offer. */
async function offered(turns: ScriptedReply[], options = {}): Promise<Scene> {
  const scene = await open(turns, auto, options);
  scene.terminal.send("go\r");
  await scene.terminal.until("waits for input on its terminal");
  return scene;
}

async function taken(turns: ScriptedReply[], options = {}): Promise<Scene> {
  const scene = await offered(turns, options);
  scene.terminal.send(takeOver);
  await scene.terminal.until("your keys go to the command");
  return scene;
}

/** Whether any file of the session's home, or any request, holds the text. */
function isKept({ place, server }: Scene, text: string): boolean {
  const files = globSync(join(place.env.SAWTOOTH_HOME ?? "", "**/*"), { withFileTypes: true });
  const held = files
    .filter((file) => file.isFile())
    .some((file) => readFileSync(join(file.parentPath, file.name), "latin1").includes(text));
  return held || JSON.stringify(server.requests).includes(text);
}

function lastResult({ server }: Scene): string {
  return JSON.stringify(server.requests.at(-1)?.messages);
}

function isEditorShown(terminal: Drive): boolean {
  return terminal.screen().some((row) => /^› (type to steer|what to do)/.test(row));
}

describe.skipIf(!hasTerminal)("a command that waits at its terminal", () => {
  test("gets a password from the person, which is kept nowhere, and the model learns that somebody answered", async () => {
    const scene = await taken([call(password), { text: "final" }]);
    expect(isEditorShown(scene.terminal)).toBe(false);
    scene.terminal.send("s3cret-of-mine\r");
    await scene.terminal.until("final");
    await scene.terminal.quiet();
    expect(lastResult(scene)).toContain("length 14\\n[a person answered at the terminal]");
    expect(isKept(scene, "s3cret-of-mine")).toBe(false);
    expect(scene.terminal.raw()).not.toContain("s3cret-of-mine");
    expect(isEditorShown(scene.terminal)).toBe(true);
  });

  test("goes back to the model when nobody takes it", async () => {
    const scene = await offered([call(password), { text: "final" }]);
    await scene.terminal.until("final");
    expect(lastResult(scene)).toMatch(/waiting for input\. On the terminal:\]\\nPassword:/);
    expect(lastResult(scene)).not.toContain("a person");
  });

  test("can still be taken over after the model was told; the model hears of it at its next step", async () => {
    const scene = await offered([call(password), { text: "rests" }, { text: "final" }]);
    await scene.terminal.until("rests");
    scene.terminal.send(takeOver);
    await scene.terminal.until("your keys go to the command");
    scene.terminal.send("late-secret\r");
    await scene.terminal.until("what to do?");
    scene.terminal.send("and now\r");
    await scene.terminal.until("final");
    expect(lastResult(scene)).toMatch(/a person answered the command that waited .* it ended with exit 0/);
    expect(isKept(scene, "late-secret")).toBe(false);
  });

  test("keeps its terminal as long as the person types, whatever its time limit", async () => {
    const scene = await taken([call(password, { timeout_s: 1 }), { text: "final" }]);
    for (let index = 0; index < 10; index++) {
      scene.terminal.send("x");
      await sleep(150);
    }
    scene.terminal.send("\r");
    await scene.terminal.until("final");
    expect(lastResult(scene)).toContain("length 10\\n[a person answered");
  });

  test("is stopped by Esc while nobody has it, and then nothing is offered any more", async () => {
    const scene = await offered([call(password), { text: "final" }]);
    scene.terminal.send("\x1b");
    await scene.terminal.until("interrupted");
    await scene.terminal.quiet();
    expect(scene.terminal.screen().join("\n")).not.toContain("waits for input on its terminal");
    scene.terminal.send(takeOver);
    scene.terminal.send("next\r");
    await scene.terminal.until("final");
    expect(lastResult(scene)).toContain("[cancelled by user]");
  });

  test("is given back by the same key, and offered again while it waits", async () => {
    const scene = await taken([call(password), { text: "final" }]);
    scene.terminal.send(`half${takeOver}typed for us`);
    await scene.terminal.until("› typed for us");
    await scene.terminal.until("waits for input on its terminal");
    scene.terminal.send(takeOver);
    await scene.terminal.until("your keys go to the command");
    scene.terminal.send("way\r");
    await scene.terminal.until("final");
    expect(lastResult(scene)).toContain("length 7");
    expect(scene.terminal.screen().join("\n")).toContain("› typed for us");
  });

  test("shows wide characters where they stand, and takes a paste as typed", async () => {
    const command = "printf 'name? ' >/dev/tty; read -r x </dev/tty; read -r y </dev/tty; echo $x-$y";
    const { terminal, ...scene } = await taken([call(command), { text: "final" }]);
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
    expect(lastResult({ terminal, ...scene })).toContain("日本-pasted");
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
    const scene = await taken([call(program), { text: "final" }]);
    scene.terminal.send("\x1a");
    await scene.terminal.drawn();
    scene.terminal.send("one\r");
    await scene.terminal.until("second?");
    scene.terminal.send("\x03");
    await scene.terminal.until("final");
    expect(lastResult(scene)).toMatch(/one\\n[\s\S]*(exit 130|status 130|KeyboardInterrupt)/);
  });

  test("that the person ran is offered too, and waits until it is answered", async () => {
    const scene = await open([{ text: "final" }], auto);
    scene.terminal.send(`!${password}\r`);
    await scene.terminal.until("waits for input on its terminal");
    // Longer than a command of the model's would be offered.
    await sleep(6000);
    scene.terminal.send(takeOver);
    await scene.terminal.until("your keys go to the command");
    scene.terminal.send("own-secret\r");
    await scene.terminal.until("length 10");
    scene.terminal.send("go on\r");
    await scene.terminal.until("final");
    expect(isKept(scene, "own-secret")).toBe(false);
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
  { timeout: 180_000 },
  async () => {
    const attack = String.raw`\033]52;c;cm0gLXJm\007\033]0;owned\033\\\033P$qm\033\\\033]1337;File=:QQ==\007\033[21t\033[?1004h`;
    const program = `exec </dev/tty >/dev/tty; printf '\\033[?1049h${attack}ready> '; read x; printf '${attack}drawn %s> ' "$x"; read y; printf '\\033[?1049l'`;
    const scene = await offered([call(program, { tty: true }), { text: "final" }]);
    scene.terminal.send(takeOver);
    await scene.terminal.until(/^ready>/m);
    scene.terminal.send("one\r");
    await scene.terminal.until(/drawn one>/);
    scene.terminal.send("two\r");
    await scene.terminal.until("final");
    expect(scene.terminal.raw()).not.toMatch(/\x1b\]|\x1bP|\x1b\[21t|\x1b\[\?1004h/);
    expect(isEditorShown(scene.terminal)).toBe(true);
  },
);

describe.skipIf(!hasTerminal || !hasVim)("a program that needs the whole window", () => {
  const vim = call("vim -u NONE new.txt", { tty: true });

  async function inVim(columns = 100, rows = 30): Promise<Scene> {
    const scene = await offered([vim, { text: "final" }], { columns, rows });
    scene.terminal.send(takeOver);
    await scene.terminal.until(/^~ *$/m);
    await scene.terminal.quiet(400);
    return scene;
  }

  test("gets it, in its size, and leaves everything as it was", { timeout: 180_000 }, async () => {
    const scene = await inVim();
    const { terminal } = scene;
    terminal.send(":set columns? lines?\r");
    await terminal.until(/columns=100/);
    terminal.send("\rihello\x1b");
    await terminal.until("hello");
    terminal.resize(70, 20);
    await terminal.quiet(400);
    terminal.send(":set columns?\r");
    await terminal.until(/columns=70/);
    terminal.send(":wq\r");
    await terminal.until("final");
    await terminal.quiet();
    expect(readFileSync(join(scene.place.cwd, "new.txt"), "utf8")).toBe("hello\n");
    expect(terminal.whole().join("\n")).not.toMatch(/^~ *\n~/m);
    expect(terminal.whole().join("\n").split("› go")).toHaveLength(2);
    expect(isEditorShown(terminal)).toBe(true);
    expect(terminal.cursor()).toMatchObject({ column: 2, shown: true });
    expect(lastResult(scene)).toContain("a person answered at the terminal");
  });

  test("gives it back on the key, and when it is killed", { timeout: 180_000 }, async () => {
    const scene = await inVim();
    scene.terminal.send(takeOver);
    await scene.terminal.until(/^› type to steer/m);
    await scene.terminal.until("waits for input on its terminal");
    scene.terminal.send(takeOver);
    await scene.terminal.until(/^~ *$/m);
    expect(isEditorShown(scene.terminal)).toBe(false);
    process.kill(programIn(scene.place.cwd, "vim"), "SIGKILL");
    await scene.terminal.until("final");
    await scene.terminal.quiet();
    expect(isEditorShown(scene.terminal)).toBe(true);
    expect(scene.terminal.whole().join("\n")).not.toMatch(/^~ *\n~/m);
  });
});
