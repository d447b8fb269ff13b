/** What a person would see of a command that runs on the terminal itself. */

export type Screen = {
  write(bytes: Buffer): void;
  /** Everything from the top of the scrollback on, without trailing blanks. */
  whole(): Promise<string>;
  /** The rows that are visible now. */
  visible(): Promise<string>;
};

/** A screen of the given size with 2,000 lines of scrollback. */
export async function createScreen(columns: number, rows: number): Promise<Screen> {
  const loaded = await import("@xterm/headless");
  const { Terminal } = loaded.default ?? loaded;
  const terminal = new Terminal({ cols: columns, rows, scrollback: 2000, allowProposedApi: true });
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
  };
}
