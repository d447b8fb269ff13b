import { Terminal } from "@xterm/headless";
import { describe, expect, test } from "vitest";
import { createScreen, type Frame } from "../../src/tui/screen/screen.ts";
import { seededRandom } from "../support/random.ts";

/** A screen over a terminal emulator; `text` is scrollback and window, blanks at the end left out. */
function onTerminal(columns: number, rows: number) {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  let bytes = "";
  const write = (text: string) => {
    bytes += text;
    terminal.write(text);
  };
  const screen = createScreen({ write, size: { columns, rows }, reflow: "xterm.js" });
  const settle = () => new Promise<void>((resolve) => terminal.write("", resolve));
  return {
    screen,
    write,
    bytes: () => bytes,
    async resize(nextColumns: number, nextRows: number) {
      await settle();
      terminal.resize(nextColumns, nextRows);
      screen.resized({ columns: nextColumns, rows: nextRows });
    },
    async text(): Promise<string[]> {
      await settle();
      const { active } = terminal.buffer;
      const lines = Array.from(
        { length: active.length },
        (_, index) => active.getLine(index)?.translateToString(true) ?? "",
      );
      return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
    },
    async cursor() {
      await settle();
      const { baseY, cursorY, cursorX } = terminal.buffer.active;
      return { row: baseY + cursorY, column: cursorX };
    },
  };
}

function frame(lines: string[], row = lines.length - 1, column = 0): Frame {
  return { lines, caret: { row, column } };
}

describe("the writer", () => {
  test("puts history above and keeps the live area below it", async () => {
    const { screen, text, cursor } = onTerminal(40, 10);
    screen.draw(["one"], frame(["live a", "live b"], 0, 3));
    screen.draw(["two", "three"], frame(["live a", "live c"], 1, 2));
    expect(await text()).toEqual(["one", "two", "three", "live a", "live c"]);
    expect(await cursor()).toEqual({ row: 4, column: 2 });
  });

  test("makes the live area taller and smaller again without leaving anything", async () => {
    const { screen, text } = onTerminal(40, 6);
    screen.draw(["h1", "h2"], frame(["a"]));
    screen.draw([], frame(["a", "b", "c", "d"], 1));
    screen.draw([], frame(["a", "x"], 0));
    screen.draw(["h3"], frame(["y"]));
    expect(await text()).toEqual(["h1", "h2", "h3", "y"]);
  });

  test("writes a typed character in a few bytes", () => {
    const { screen, bytes } = onTerminal(80, 24);
    screen.draw([], frame(["\x1b[36m› \x1b[0mhell", "\x1b[2mstatus\x1b[0m"], 0, 6));
    const before = bytes().length;
    screen.draw([], frame(["\x1b[36m› \x1b[0mhello", "\x1b[2mstatus\x1b[0m"], 0, 7));
    expect(bytes().length - before).toBeLessThan(45);
  });

  test("writes nothing when nothing changed", () => {
    const { screen, bytes } = onTerminal(80, 24);
    screen.draw([], frame(["a", "b"]));
    const before = bytes();
    screen.draw([], frame(["a", "b"]));
    expect(bytes()).toBe(before);
  });

  test("draws a line anew from where a joining character could change the one before it", async () => {
    const { screen, text } = onTerminal(40, 5);
    screen.draw([], frame(["e|"]));
    screen.draw([], frame(["e\u0301|"]));
    screen.draw([], frame(["日本|"]));
    screen.draw([], frame(["日语|"]));
    expect(await text()).toEqual(["日语|"]);
  });

  test("shows any frames and history as they are", async () => {
    const random = seededRandom(7);
    const pick = (most: number) => Math.floor(random() * most);
    const words = [
      "alpha",
      "\x1b[2mdim\x1b[0m",
      "日本語",
      "x",
      "",
      "\x1b[36mcolour\x1b[0m end",
      "a longer piece of text",
    ];
    const line = () =>
      Array.from({ length: pick(3) }, () => words[pick(words.length)])
        .join(" ")
        .trimEnd();
    const { screen, text } = onTerminal(60, 8);
    const history: string[] = [];
    const bare = (each: string) => each.replaceAll(/\x1b\[\d+m/g, "");
    for (let round = 0; round < 300; round++) {
      const added = Array.from({ length: pick(3) === 0 ? pick(12) : 0 }, () =>
        `h${round} ${line()}`.trimEnd(),
      );
      history.push(...added);
      const lines = ["top", ...Array.from({ length: pick(6) }, line), "bottom"];
      screen.draw(added, frame(lines, pick(lines.length), pick(4)));
      expect(await text()).toEqual([...history, ...lines].map(bare));
    }
  });
});

describe("after a change of the size", () => {
  const rows = [
    "",
    `  ${"words ".repeat(12)}`.trimEnd(),
    "  more words",
    "  ⠋ Working",
    "",
    "› typed",
    `  ${"status ".repeat(9)}end`,
  ];

  test.each([
    [50, 24],
    [30, 24],
    [120, 24],
  ])("to %d by %d the live area is there once", async (columns, height) => {
    const { screen, text, resize } = onTerminal(80, 24);
    screen.draw(["first", "second"], frame(rows, 5, 7));
    await resize(columns, height);
    const next = rows.map((row) => row.slice(0, columns));
    screen.draw([], frame(next, 5, 7));
    expect(await text()).toEqual(["first", "second", ...next]);
  });

  test("again and again, before anything is drawn, what is above is never touched", async () => {
    const random = seededRandom(11);
    const pick = (most: number) => Math.floor(random() * most);
    const sizes = [80, 50, 120, 20, 33, 64].flatMap((columns) =>
      [24, 5, 10, 30].map((height) => [columns, height] as const),
    );
    for (let round = 0; round < 25; round++) {
      const { screen, text, resize, write } = onTerminal(80, 24);
      // The shell has filled the window before.
      const above = Array.from({ length: 30 }, (_, index) => `above ${index}`);
      write(above.map((line) => `${line}\r\n`).join(""));
      screen.located(23);
      let columns = 80;
      const history: string[] = [];
      for (let step = 0; step < 12; step++) {
        const lines = [`top ${"x".repeat(pick(columns - 8))}`, "middle", `prompt ${"y".repeat(pick(12))}`];
        const below = Array.from({ length: pick(3) }, () => "s".repeat(1 + pick(columns - 1)));
        const added = pick(2) === 0 ? [`history ${round} ${step}`] : [];
        history.push(...added);
        screen.draw(
          added,
          frame(
            [...lines, ...below].map((line) => line.slice(0, columns)),
            2,
            pick(9),
          ),
        );
        for (let many = pick(4); many > 0; many--) {
          const [next, height] = sizes[pick(sizes.length)] ?? [80, 24];
          await resize(next, height);
          columns = next;
        }
      }
      screen.draw([], frame(["the end"]));
      const whole = await text();
      const kept = whole.filter((line) => /^(above|history)/.test(line));
      expect(kept).toEqual([...above, ...history]);
      expect(whole.at(-1)).toBe("the end");
    }
  });
});
