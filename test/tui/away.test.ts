/** A person who looks elsewhere is told that a turn ended or that a question waits, on a real terminal. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noticeBytes, noticeTerminal } from "../../src/tui/screen/notices.ts";
import type { Drive } from "../support/pty-drive.ts";
import { sawtooth, writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { again, held, letGo, open } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";

const [lost, gained] = ["\x1b[O", "\x1b[I"];
const ghostty = { TERM_PROGRAM: "ghostty" };
const waits = [{ calls: [{ bash: { command: held } }] }, { text: "All tests pass.\nMore." }];
const auto = ["--permission-mode", "auto"];

/** Notices of OSC 777 in what was written. */
function notices(terminal: Drive): string[] {
  return [...terminal.raw().matchAll(/\x1b\]777;notify;([^\x1b]*)\x1b\\/g)].map(([, text = ""]) => text);
}

describe("a turn that ends", () => {
  test("while the terminal has no focus is told with the first line of the answer", async () => {
    const { terminal, workspace } = await open(waits, auto, { env: ghostty });
    expect(terminal.raw()).toContain("\x1b[?1004h");
    terminal.send("go\r");
    await terminal.until("interrupt");
    terminal.send(lost);
    letGo(workspace);
    await terminal.until("More.");
    await until(() => notices(terminal).length > 0);
    expect(notices(terminal)).toEqual([expect.stringMatching(/^Sawtooth in \S+;Done: All tests pass\.$/)]);
    expect(terminal.screen().join("\n")).not.toContain("[O");
  });

  test.each([
    ["while it has the focus", [lost, gained]],
    ["in a terminal that reports its focus, and reported none", []],
    ["after a key, which only somebody who is here presses", [lost, "x"]],
  ])("%s is not told", async (_when, sent) => {
    const { terminal, workspace } = await open(waits, auto, { env: ghostty });
    terminal.send("go\r");
    await terminal.until("interrupt");
    for (const keys of sent) terminal.send(keys);
    await terminal.quiet();
    letGo(workspace);
    await terminal.until("More.");
    await terminal.quiet();
    expect(notices(terminal)).toEqual([]);
  });
});

test("a question that waits is told with its subject, without what would control a terminal", async () => {
  const command = "echo one\x1b]0;evil\x07\x9b2J; rm -rf x";
  const { terminal } = await open([{ text: "ready" }, { calls: [{ bash: { command } }] }], [], {
    env: ghostty,
  });
  terminal.send("first\r");
  await terminal.until("ready");
  terminal.send("go\r");
  terminal.send(lost);
  await terminal.until("Run this command?");
  await until(() => notices(terminal).some((text) => text.includes("Asks")));
  const told = notices(terminal).find((text) => text.includes("Asks")) ?? "";
  expect(told).toMatch(/;Asks: Run this command\?: echo one/);
  expect(told).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
});

test("a program of one's own gets title and text, without keys, and not in the folder worked in", async () => {
  const { server, workspace } = await serve(waits);
  const program = join(workspace.home, "tell.sh");
  const told = join(workspace.home, "told");
  writeFileSync(
    program,
    `printf '%s\\n' "$@" "$PWD" "key:$ANTHROPIC_API_KEY" > '${told}.part'; mv '${told}.part' '${told}'\n`,
  );
  writeSettings(workspace, { notify: { command: ["sh", program, "first"] } });
  const terminal = await again(workspace, auto, { env: ghostty });
  terminal.send("go\r");
  await terminal.until("interrupt");
  terminal.send(lost);
  letGo(workspace);
  await until(() => existsSync(told));
  const [first, title, body, folder, key] = readFileSync(told, "utf8").split("\n");
  expect({ first, title, body, folder, key }).toEqual({
    ...{ first: "first", title: expect.stringMatching(/^Sawtooth in /), body: "Done: All tests pass." },
    ...{ folder: workspace.home, key: "key:" },
  });
  expect(notices(terminal)).toEqual([]);
  expect(server.requests.length).toBeGreaterThan(0);
});

test("a program that is not there is told on the screen", async () => {
  const { workspace } = await serve(waits);
  writeSettings(workspace, { notify: { command: ["no-such-program"] } });
  const terminal = await again(workspace, auto, { env: ghostty });
  terminal.send("go\r");
  await terminal.until("interrupt");
  terminal.send(lost);
  letGo(workspace);
  await terminal.until("notify: no-such-program was not run (ENOENT)");
});

test("off asks for no report of the focus and tells nothing", async () => {
  const { workspace } = await serve([{ text: "All tests pass." }]);
  writeSettings(workspace, { notify: "off" });
  const terminal = await again(workspace, auto, { env: ghostty });
  terminal.send(lost);
  terminal.send("go\r");
  await terminal.until("All tests pass.");
  await terminal.quiet();
  expect(terminal.raw()).not.toContain("\x1b[?1004h");
  expect(notices(terminal)).toEqual([]);
});

test("the focus is not reported to a program that got the keys, and is again after it", async () => {
  const { terminal } = await open([{ text: "final" }], auto, { env: ghostty });
  const reports = () => [...terminal.raw().matchAll(/\x1b\[\?1004([hl])/g)].map(([, sign]) => sign).join("");
  expect(reports()).toBe("h");
  terminal.send("!read -r line </dev/tty; echo got-$line\r");
  await terminal.until("waits for input on its terminal");
  terminal.send("\x1d");
  await terminal.until("your keys go to the command");
  expect(reports()).toBe("hl");
  terminal.send("words\r");
  await terminal.until("got-words");
  await until(() => reports() === "hlh");
  terminal.send("/exit\r");
  await terminal.ended;
  expect(reports().endsWith("hl")).toBe(true);
});

test("a headless run tells nothing", async () => {
  const { workspace } = await serve([{ text: "Done." }]);
  const marker = join(workspace.home, "told");
  writeSettings(workspace, { notify: { command: ["touch", marker] } });
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "hi"], { env: ghostty });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Done.\n", stderr: "" });
  expect(existsSync(marker)).toBe(false);
});

test("a setting that is none stops the start with one line", async () => {
  const { workspace } = await serve([{ text: "Done." }]);
  for (const notify of ["loud", { command: [] }, { program: "x" }, 3]) {
    writeSettings(workspace, { notify });
    const { code, stderr } = await sawtooth(workspace, ["-p", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/settings\.json: notify must be auto, off, bell, .+\n$/);
  }
});

describe("the bytes of a notice", () => {
  const notice = { title: "a;b", body: "one\ntwo\x07\x1b[2J\u202etxt" };
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  test.each([
    [{ KITTY_WINDOW_ID: "1" }, "osc99", true],
    [{ TERM_PROGRAM: "iTerm.app" }, "osc9", true],
    [{ TERM_PROGRAM: "WezTerm" }, "osc777", true],
    [{ TERM: "foot" }, "osc777", true],
    [{ VTE_VERSION: "7600" }, "bell", true],
    [{ TERM_PROGRAM: "Apple_Terminal" }, "bell", false],
    [{ TERM: "xterm-256color" }, "bell", false],
    [{ TMUX: "/tmp/x", KITTY_WINDOW_ID: "1" }, "osc99", false],
  ])("follow from the terminal: %j", (env, way, reportsFocus) => {
    expect(noticeTerminal(env)).toMatchObject({ way, reportsFocus });
  });

  test("hold no character of the text that ends or begins a sequence", () => {
    const inTmux = false;
    expect(noticeBytes(notice, { way: "bell", inTmux })).toBe("\x07");
    expect(noticeBytes(notice, { way: "osc9", inTmux })).toMatch(
      /^\x1b\]9;a;b: one two[^\x00-\x1f\u202e]*txt\x1b\\$/,
    );
    expect(noticeBytes(notice, { way: "osc777", inTmux })).toMatch(
      /^\x1b\]777;notify;a,b;one two[^\x00-\x1f\u202e]*txt\x1b\\$/,
    );
    const kitty = noticeBytes({ title: "a;b", body: "é" }, { way: "osc99", inTmux });
    expect(kitty).toBe(
      `\x1b]99;i=sawtooth:o=unfocused:e=1:d=0:p=title;${base64("a;b")}\x1b\\` +
        `\x1b]99;i=sawtooth:o=unfocused:e=1:d=1:p=body;${base64("é")}\x1b\\`,
    );
  });

  test("are passed on by tmux, after its bell", () => {
    const bytes = noticeBytes({ title: "t", body: "b" }, { way: "osc9", inTmux: true });
    expect(bytes).toBe("\x07\x1bPtmux;\x1b\x1b]9;t: b\x1b\x1b\\\x1b\\");
  });
});
