import { execFileSync } from "node:child_process";
import { readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { open } from "../support/terminal-fixture.ts";

const words = Array.from({ length: 160 }, (_, index) => `word${index}`);
const paragraph = words.join(" ");

/** How often each word stands in a text, where that is not once. */
function notOnce(text: string): [string, number][] {
  const found = text.match(/\bword\d+\b/g) ?? [];
  return words
    .map((word): [string, number] => [word, found.filter((each) => each === word).length])
    .filter(([, times]) => times !== 1);
}

/** The number of the last word in these rows. */
function lastWord(rows: string[]): number {
  return Math.max(0, ...(rows.join("\n").match(/word(\d+)/g) ?? []).map((one) => Number(one.slice(4))));
}

test.each([
  [80, 24],
  [40, 10],
  [20, 6],
])("a long paragraph streams into a window of %d by %d, each word once", async (columns, rows) => {
  const { terminal } = await open([{ text: paragraph, fault: { pauseMs: 15 } }], [], { columns, rows });
  terminal.send("go\r");
  await terminal.until("word159");
  await terminal.quiet(400);
  expect(notOnce(terminal.whole().join("\n"))).toEqual([]);
});

describe("while an answer has stopped in the middle of a line", () => {
  test.each([
    [
      "smaller and smaller",
      [
        [50, 20],
        [20, 5],
        [40, 10],
      ],
    ],
    [
      "small at once",
      [
        [20, 5],
        [40, 10],
      ],
    ],
    [
      "small and large again",
      [
        [20, 5],
        [80, 24],
        [20, 5],
        [120, 30],
      ],
    ],
    [
      "narrow",
      [
        [24, 24],
        [80, 24],
      ],
    ],
    [
      "to nothing",
      [
        [1, 1],
        [80, 24],
      ],
    ],
  ] as [string, [number, number][]][])(
    "the window gets %s, and each word is there once",
    async (_, sizes) => {
      const fault = { silentAfterEvents: 6 };
      const { terminal } = await open([{ text: `${paragraph}\n\n${"more ".repeat(300)}`, fault }]);
      terminal.send("go\r");
      await terminal.until(/word(2[1-9]|[3-9]\d|\d{3})/);
      // What is drawn while the window gets another size is a matter of the terminal: nothing comes any more.
      for (let shown = 0; shown !== lastWord(terminal.whole()); await sleep(300))
        shown = lastWord(terminal.whole());
      for (const [columns, rows] of sizes) {
        await terminal.resize(columns, rows);
        await terminal.drawn();
      }
      terminal.send("\x1b");
      await terminal.until("interrupted");
      const last = lastWord(terminal.whole());
      expect(last).toBeGreaterThan(20);
      expect(notOnce(terminal.whole().join("\n")).filter(([word]) => Number(word.slice(4)) < last)).toEqual(
        [],
      );
    },
  );
});

test("500 changes of the size around the ends of commands leave one prompt and each row once", async () => {
  const calls = Array.from({ length: 40 }, (_, index) => ({ bash: { command: `echo out ${index}` } }));
  const turns = [...calls.map((call) => ({ calls: [call] })), { text: "all of it is done" }];
  const { terminal } = await open(turns, ["--permission-mode", "auto"]);
  terminal.send("go\r");
  for (let index = 0; index < 500; index++) {
    const [columns, rows] = [
      [80, 24],
      [61, 17],
      [100, 30],
      [73, 20],
    ][index % 4] ?? [80, 24];
    await terminal.resize(columns ?? 80, rows ?? 24);
    await sleep(3);
  }
  await terminal.resize(80, 24);
  await terminal.until("all of it is done");
  await terminal.quiet(400);
  const whole = terminal.whole().join("\n");
  expect(whole.split("› what to do?")).toHaveLength(2);
  for (let index = 0; index < 40; index++) expect(whole.split(`echo out ${index} ·`)).toHaveLength(2);
  expect(terminal.raw()).not.toMatch(/\x1b\[[23]J|\x1b\[\?1049h/);
});

test("a window of no size at all while an answer streams loses no word of it", async () => {
  const { terminal } = await open([{ text: paragraph, fault: { pauseMs: 60 } }]);
  const tty = readlinkSync(`/proc/${terminal.pid}/fd/0`);
  const setSize = (columns: number, rows: number) =>
    execFileSync("stty", ["-F", tty, "cols", String(columns), "rows", String(rows)]);
  terminal.send("go\r");
  await terminal.until(/word\d/);
  for (let round = 0; round < 4; round++) {
    setSize(0, 0);
    await sleep(90);
    setSize(80, 24);
    await sleep(90);
  }
  await terminal.until("› what to do?");
  await terminal.quiet(300);
  expect(notOnce(terminal.whole().join("\n"))).toEqual([]);
});

test("/mcp at 30 columns says whole what to do about a server of the project", async () => {
  const { terminal, workspace } = await open([], [], { columns: 30 });
  const servers = { mcpServers: { files: { command: "node", args: ["files.js"] } } };
  writeFileSync(join(workspace.cwd, ".mcp.json"), JSON.stringify(servers));
  terminal.send("/mcp\r");
  await terminal.until(/files {2}of this\s+project's[\s\S]*\/mcp\s+review\s+shows\s+what\s+it\s+does/);
});
