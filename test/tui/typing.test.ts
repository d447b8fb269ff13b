import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { Drive } from "../support/pty-drive.ts";
import { lastUserText, open } from "../support/terminal-fixture.ts";

const slow: ScriptedReply = { text: "slowly and in many small words ".repeat(40), fault: { pauseMs: 120 } };
const auto = ["--permission-mode", "auto"];

/** Returns the editor's first row, without the prompt. */
function written(terminal: Drive): string {
  return (
    terminal
      .screen()
      .findLast((row) => row.startsWith("› "))
      ?.slice(2) ?? ""
  );
}

describe("the cursor's cell is the caret's", () => {
  const family = "👨‍👩‍👧‍👦";

  test.each([
    [
      "Hangul that is composed letter by letter",
      ["ㅎ", "\x7f하", "\x7f한", "ㄱ", "\x7f그", "\x7f글"],
      "한글",
    ],
    ["a family that comes one code point at a time", [...family], family],
    ["Arabic", [..."مرحبا بك"], "مرحبا بك"],
    ["combining marks", ["n", "\u0303", "o", "\u0308", "\u0323"], "n\u0303o\u0308\u0323"],
    ["flags and skin tones", ["🇩🇪", "👍🏽", "日本語"], "🇩🇪👍🏽日本語"],
  ])("after each key of %s, and the very text is sent", async (_, keys, text) => {
    const { terminal, server } = await open([{ text: "final" }]);
    for (const key of keys) {
      terminal.send(key);
      await terminal.drawn();
      expect(terminal.cursor()).toMatchObject({ shown: true });
    }
    expect(terminal.cursor().column).toBe(2 + stringWidth(text));
    terminal.send("x");
    await terminal.drawn();
    terminal.send("\x7f");
    await terminal.drawn();
    expect(terminal.cursor().column).toBe(2 + stringWidth(text));
    terminal.send("\r");
    await terminal.until("final");
    expect(lastUserText(server)).toBe(text);
  });

  test("and one backspace takes a whole family away, with no cell left over", async () => {
    const { terminal } = await open([]);
    terminal.send(`ab${family}cd`);
    await terminal.drawn();
    terminal.send("\x1b[D\x1b[D\x7f");
    await terminal.drawn();
    expect(written(terminal)).toBe("abcd");
    expect(terminal.cursor().column).toBe(4);
  });

  test("in the middle of a text over three rows", async () => {
    const { terminal, server } = await open([{ text: "final" }], [], { columns: 30, rows: 20 });
    const text = "日本語と한국어 and plain words, ".repeat(3).trim();
    terminal.send(text);
    await terminal.drawn();
    terminal.send("\x1b[D".repeat(40));
    await terminal.drawn();
    const before = text.slice(0, text.length - 40);
    terminal.send("\x1b[1;5D\x17é");
    await terminal.drawn();
    const { row, column } = terminal.cursor();
    const left =
      terminal
        .cells()
        [row]?.slice(0, column)
        .map((cell) => cell.getChars())
        .join("") ?? "";
    expect(left.endsWith("é")).toBe(true);
    terminal.send("\r");
    await terminal.until("final");
    expect(lastUserText(server).startsWith(before.slice(0, 20))).toBe(true);
    expect(lastUserText(server)).toContain("é");
  });
});

describe("a paste", () => {
  test("of 1 MB while an answer streams, with wide characters at each edge of 4,096 bytes, is the very text", async () => {
    const { terminal, server, workspace } = await open([slow, { text: "final" }]);
    terminal.send("go\r");
    await terminal.until("slowly");
    const block = `${"x".repeat(4094)}🟢`;
    const text = Array.from({ length: 256 }, (_, index) => `${index}${block}`).join("\n");
    terminal.send(`\x1b[200~${text}\x1b[201~`);
    await terminal.until("[pasted 256 lines]");
    expect(server.requests).toHaveLength(1);
    terminal.send("\x1b");
    await terminal.until("interrupted");
    terminal.send("\r");
    await terminal.until("final");
    // A message of that length is kept in a file, whose path the model reads with its ends.
    const state = `${workspace.env.SAWTOOTH_HOME}/state/sessions`;
    const kept = readdirSync(state, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith("000001.txt"),
    );
    expect(readFileSync(`${state}/${kept}`, "utf8") === text).toBe(true);
    expect(lastUserText(server)).toContain("000001.txt");
  });

  test("of tabs, CRLF and an inner end mark is shown as text and taken as it is", async () => {
    const { terminal, server } = await open([{ text: "final" }]);
    terminal.send("\x1b[200~a\tb\r\nc\x1b[201~d\x1b[201~");
    await terminal.until("cd");
    terminal.send("\r");
    await terminal.until("final");
    expect(lastUserText(server)).toBe("a\tb\ncd");
  });
});

describe("Esc and Ctrl-C", () => {
  const overloaded = {
    status: 529,
    headers: { "retry-after": "30" },
    body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  };

  test.each([
    ["Esc", "\x1b"],
    ["Ctrl-C", "\x03"],
  ])("%s ends the wait for another try at once, and what is typed stays", async (name, key) => {
    const { terminal } = await open([{ fault: overloaded }, { text: "final" }]);
    terminal.send("go\r");
    await terminal.until("Trying again in");
    if (name === "Esc") {
      terminal.send("kept words");
      await terminal.until("› kept words");
    }
    terminal.send(key);
    await terminal.until("interrupted");
    await terminal.quiet(150);
    if (name === "Esc") expect(written(terminal)).toBe("kept words");
    expect(terminal.screen().join("\n")).not.toContain("Trying again");
  });

  test("Ctrl-C takes away what is written first, then interrupts, and the queue comes back", async () => {
    const { terminal, server } = await open([slow, { text: "final" }]);
    terminal.send("go\r");
    await terminal.until("slowly");
    terminal.send("later\r");
    await terminal.until("queued: later");
    terminal.send("half");
    await terminal.until("› half");
    terminal.send("\x03");
    await terminal.drawn();
    expect(terminal.screen().join("\n")).not.toContain("interrupted");
    // Two presses within a second would end the program.
    await sleep(1100);
    terminal.send("\x03");
    await terminal.until("interrupted");
    await terminal.quiet(150);
    expect(written(terminal)).toBe("later");
    expect(server.requests).toHaveLength(1);
  });

  test("three commands at once end together", async () => {
    const calls = [1, 2, 3].map((index) => ({ bash: { command: `sleep 90${index}` } }));
    const { terminal, server } = await open([{ calls }, { text: "final" }], auto);
    terminal.send("go\r");
    await terminal.until("sleep 901");
    terminal.send("\x1b");
    await terminal.until("interrupted");
    terminal.send("on\r");
    await terminal.until("final");
    const results = JSON.stringify(server.requests.at(-1)?.messages).match(/"tool_result"/g);
    expect(results).toHaveLength(3);
  });
});
