/** Keeps the screen of a command that runs on the terminal itself. */

import type { TerminalSize, TerminalView } from "../../../core/waiting-command.ts";

export type Screen = {
  write(bytes: Uint8Array | string): void;
  /** Returns everything from the top of the scrollback on, without trailing blanks. */
  whole(): Promise<string>;
  /** Returns the rows that are visible now. */
  visible(): Promise<string>;
  view(): Promise<TerminalView>;
  resize(size: TerminalSize): void;
  /** Returns the output that makes a fresh terminal look like this one and be in its modes. */
  replay(): Promise<string>;
};

/** Private modes that change how keys, mouse and pastes are sent; and the visibility of the cursor. */
const replayed = [1, 9, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004];

/** Creates a screen of the given size with 2,000 lines of scrollback. */
export async function createScreen(columns: number, rows: number): Promise<Screen> {
  const loaded = await import("@xterm/headless");
  const { Terminal } = loaded.default ?? loaded;
  const terminal = new Terminal({ cols: columns, rows, scrollback: 2000, allowProposedApi: true });
  const modes = new Map<number, "h" | "l">();
  for (const final of ["h", "l"] as const) {
    terminal.parser.registerCsiHandler({ prefix: "?", final }, (numbers) => {
      for (const number of numbers.flat()) modes.set(number, final);
      return false;
    });
  }
  const drained = () => new Promise<void>((resolve) => terminal.write("", resolve));
  const linesFrom = (start: number): string => {
    const buffer = terminal.buffer.active;
    const lines: string[] = [];
    for (let row = start; row < buffer.length; row++) {
      const line = buffer.getLine(row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped && lines.length > 0) lines.push((lines.pop() ?? "") + text);
      else lines.push(text);
    }
    return lines.join("\n").trimEnd();
  };
  const windowRows = (): string[] => {
    const { active } = terminal.buffer;
    const rows = Array.from(
      { length: terminal.rows },
      (_, row) =>
        active
          .getLine(active.baseY + row)
          ?.translateToString(true)
          .trimEnd() ?? "",
    );
    return rows.slice(0, rows.findLastIndex((text) => text !== "") + 1);
  };
  const cursor = () => ({ row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX });
  return {
    write: (bytes) => terminal.write(bytes),
    async whole() {
      await drained();
      return linesFrom(0);
    },
    async visible() {
      await drained();
      return linesFrom(terminal.buffer.active.baseY);
    },
    async view() {
      await drained();
      const alternate = terminal.buffer.active.type === "alternate";
      return { rows: windowRows(), cursor: cursor(), alternate };
    },
    resize: ({ columns, rows }) => terminal.resize(columns, rows),
    async replay() {
      await drained();
      const { row, column } = cursor();
      const set = replayed.map((number) => (modes.has(number) ? `\x1b[?${number}${modes.get(number)}` : ""));
      return `\x1b[H\x1b[2J${windowRows().join("\r\n")}\x1b[${row + 1};${column + 1}H${set.join("")}`;
    },
  };
}
