import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { atRest, held, lastUserText, letGo, open } from "../support/terminal-fixture.ts";

const auto = ["--permission-mode", "auto"];
const times = (text: string, part: string) => text.split(part).length - 1;

test("what is typed is said, and the answer is shown once", async () => {
  const { terminal, server } = await open([{ text: "Hello **you**.\n\nA `word`." }]);
  terminal.send("hi there\r");
  await terminal.until("A word.");
  await terminal.quiet();
  expect(lastUserText(server)).toBe("hi there");
  expect(times(terminal.whole().join("\n"), "Hello you.")).toBe(1);
  expect(terminal.screen().join("\n")).toMatch(/› hi there\n\n {2}Hello you\.\n\n {2}A word\.\n/);
});

test("a long answer stays in the scrollback, each line once, and nothing above is cleared", async () => {
  const lines = Array.from({ length: 600 }, (_, index) => `answer line ${index + 1}.`);
  const { terminal } = await open([{ text: `${lines.join("\n")}\n` }]);
  terminal.send("go\r");
  await terminal.until("answer line 600.");
  await terminal.quiet();
  const shown = terminal.whole().filter((line) => line.includes("answer line"));
  expect(shown.map((line) => line.trim())).toEqual(lines);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J|\x1b\[\?1049h|\x1b\[H/);
  expect(times(terminal.raw(), "\x1b[?2026h")).toBe(times(terminal.raw(), "\x1b[?2026l"));
});

describe("while it works", () => {
  /** An answer that never ends by itself. */
  const slow: ScriptedReply = { text: "slowly ".repeat(60), fault: { silentAfterEvents: 12 } };

  test("Esc interrupts, and what was being typed stays", async () => {
    const { terminal, server } = await open([slow, { text: "second" }]);
    terminal.send("go\r");
    await terminal.until("slowly");
    terminal.send("keep this");
    await terminal.until("keep this");
    terminal.send("\x1b");
    await terminal.until("interrupted");
    expect(terminal.screen().join("\n")).toContain("› keep this");
    terminal.send("\r");
    await terminal.until("second");
    expect(lastUserText(server)).toBe("keep this");
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("slowly slowly");
  });

  test("what is sent waits for the next step, and can be pulled back until then", async () => {
    const calls = [{ bash: { command: held } }];
    const { terminal, server, workspace } = await open([{ text: "working", calls }, { text: "final" }], auto);
    terminal.send("go\r");
    await terminal.until("Running");
    terminal.send("first word\r");
    await terminal.until("queued: first word");
    terminal.send("\x1b[A");
    await terminal.until("› first word");
    expect(terminal.screen().join("\n")).not.toContain("queued");
    terminal.send(" and more\r");
    await terminal.until("queued: first word and more");
    letGo(workspace);
    await terminal.until("final");
    expect(lastUserText(server)).toBe("first word and more");
    expect(server.requests).toHaveLength(2);
  });

  test("the end of a command's output is shown live, then one row is left", async () => {
    // Longer than a second, from which on its time is told.
    const calls = [{ bash: { command: `for i in 1 2; do echo tick $i; sleep 0.5; done; ${held}` } }];
    const { terminal, workspace } = await open([{ calls }, { text: "final" }], auto);
    terminal.send("go\r");
    await terminal.until(/^ {4}tick 2$/m);
    letGo(workspace);
    await terminal.until("final");
    await terminal.quiet();
    const whole = terminal.whole().join("\n");
    expect(whole).not.toMatch(/^ {4}tick/m);
    expect(Number(/✓ bash for i in 1 2.* · 3 lines · (\d+\.\d) s$/m.exec(whole)?.[1])).toBeGreaterThanOrEqual(
      1,
    );
  });
});

describe("a question", () => {
  const calls = [{ bash: { command: "echo asked > made.txt" } }];

  test("runs the command on 1 and leaves it on no, with the words of the person", async () => {
    const { terminal, server } = await open([{ calls }, { calls }, { text: "final" }]);
    terminal.send("go\r");
    await terminal.until("Run this command?");
    expect(terminal.screen().join("\n")).toContain("always allows exactly this command");
    terminal.send("5");
    await terminal.until("leave it empty to just say no");
    terminal.send("write it to other.txt\r");
    await terminal.until(/✗ bash[\s\S]*Run this command\?/);
    expect(JSON.stringify(server.requests[1]?.messages)).toContain("write it to other.txt");
    terminal.send("1");
    await terminal.until("final");
    expect(terminal.whole().join("\n")).toMatch(/✗ bash[\s\S]*✓ bash/);
  });

  test("always in every project is written to the settings, and not asked again", async () => {
    const { terminal, workspace } = await open([{ calls }, { calls }, { text: "final" }]);
    terminal.send("go\r");
    await terminal.until("Run this command?");
    terminal.send("4");
    await terminal.until("final");
    const { readFileSync, statSync } = await import("node:fs");
    const file = join(workspace.env.SAWTOOTH_HOME ?? "", "config/settings.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ allow: ["bash(echo asked > made.txt)"] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("is not answered by someone who is in the middle of typing", async () => {
    const { terminal } = await open([
      { text: "x ".repeat(40), calls, fault: { pauseMs: 60 } },
      { text: "final" },
    ]);
    terminal.send("go\r");
    await terminal.until("Writing");
    // The z would answer nothing, however long the pause before it; the 1 after it is typed on.
    const typing = "z\x1b[C1";
    for (let index = 0; index < 40 && !terminal.screen().join("\n").includes("Run this"); index++) {
      terminal.send(typing);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await terminal.until("Run this command?");
    terminal.send(typing);
    await terminal.quiet();
    expect(terminal.screen().join("\n")).toContain("Run this command?");
  });
});

describe("a paste", () => {
  test("of many lines is a mark in the editor and the whole text in the request", async () => {
    const { terminal, server } = await open([{ text: "final" }]);
    const lines = Array.from({ length: 5000 }, (_, index) => `row ${index}\t🟢`);
    terminal.send(`\x1b[200~${lines.join("\r\n")}\x1b[201~`);
    await terminal.until("[pasted 5,000 lines]");
    terminal.send(" please\r");
    await terminal.until("final");
    expect(lastUserText(server)).toBe(`${lines.join("\n")} please`);
  });

  test("with an end mark in it is not submitted half way", async () => {
    const { terminal, server } = await open([{ text: "final" }]);
    terminal.send("\x1b[200~one\x1b[201~\rtwo\r\x1b[201~");
    await terminal.until("two");
    await terminal.quiet(300);
    expect(server.requests).toHaveLength(0);
    terminal.send("\r");
    await terminal.until("final");
    expect(lastUserText(server)).toBe("one\ntwo\n");
  });

  test("without marks is not submitted by its line ends", async () => {
    const { terminal, server } = await open([{ text: "final" }]);
    terminal.send(Array.from({ length: 12 }, (_, index) => `burst ${index} ${"x".repeat(90)}\r`).join(""));
    await terminal.until("burst 11");
    await terminal.quiet(300);
    expect(server.requests).toHaveLength(0);
  });
});

test("the cursor stands behind wide and joined characters by their width", async () => {
  const { terminal, server } = await open([{ text: "final" }]);
  const typed: [string, number][] = [
    ["한글", 4],
    ["日本", 8],
    ["é", 9],
  ];
  for (const [text, column] of typed) {
    terminal.send(text);
    await terminal.drawn();
    expect(terminal.cursor()).toMatchObject({ column: column + 2, shown: true });
  }
  terminal.send("\x7f\x7f");
  await terminal.drawn();
  expect(terminal.cursor().column).toBe(2 + 6);
  terminal.send("\x1b[D!");
  await terminal.drawn();
  terminal.send("\r");
  await terminal.until("final");
  expect(lastUserText(server)).toBe("한글!日");
});

test("a name is completed with Tab, and ! runs a line whose output the model reads", async () => {
  const { terminal, server, workspace } = await open([{ text: "final" }]);
  writeFileSync(join(workspace.cwd, "needle-file.txt"), "x");
  terminal.send("!echo out-$((40+2))\r");
  await terminal.until(/^ {2}out-42/m);
  terminal.send("see @needle");
  await terminal.until("❯ needle-file.txt");
  terminal.send("\t");
  await terminal.until("see @needle-file.txt");
  terminal.send("now\r");
  await terminal.until("final");
  expect(lastUserText(server)).toBe("see @needle-file.txt now");
  expect(JSON.stringify(server.requests[0]?.messages)).toContain("$ echo out-$((40+2))\\n\\nout-42");
});

describe("Esc", () => {
  test("ends a command that will not be ended", async () => {
    const calls = [{ bash: { command: "trap '' INT TERM; echo deaf; sleep 900" } }];
    const { terminal } = await open([{ calls }, { text: "final" }], auto);
    terminal.send("go\r");
    await terminal.until(/^ {4}deaf$/m);
    terminal.send("\x1b");
    await terminal.until("interrupted");
    terminal.send("next\r");
    await terminal.until("final");
  });

  test("on a question interrupts the turn and runs nothing", async () => {
    const { terminal, server } = await open([
      { calls: [{ bash: { command: "touch made.txt" } }] },
      { text: "final" },
    ]);
    terminal.send("go\r");
    await terminal.until("Run this command?");
    terminal.send("\x1b");
    await terminal.until("interrupted");
    expect(terminal.screen().join("\n")).not.toContain("Run this command?");
    expect(server.requests).toHaveLength(1);
  });
});

test("the branch below follows a switch by the model and by the person, and the removal of the repository", async () => {
  const repository =
    "git init -q -b first; git -c user.name=n -c user.email=e@example.com commit -q --allow-empty -m 1";
  const { terminal, workspace } = await open(
    [{ calls: [{ bash: { command: `${repository}; git switch -qc second` } }] }, { text: "switched" }],
    auto,
    { columns: 200 },
  );
  terminal.send("go\r");
  await terminal.until("switched");
  await terminal.until("(second)");
  await atRest(terminal);
  terminal.send("!git switch -q first\r");
  await terminal.until("(first)");
  await atRest(terminal);
  writeFileSync(join(workspace.cwd, ".git/HEAD"), "ref: refs/heads/\x1b]0;evil\x07\nx\n");
  terminal.send("!true\r");
  await terminal.until("(detached HEAD)");
  await atRest(terminal);
  terminal.send("!rm -rf .git\r");
  await terminal.until(/^(?![\s\S]*\((?:first|second|detached HEAD)\))/);
});
