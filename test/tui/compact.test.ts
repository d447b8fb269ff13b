import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { editWords, sentenceOf } from "../../src/context/view/edit-words.ts";
import type { LogEvent } from "../../src/core/events.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { Workspace } from "../support/sawtooth.ts";
import { atRest, held, lastUserText, letGo, open } from "../support/terminal-fixture.ts";

const auto = ["--permission-mode", "auto"];
const work: ScriptedReply[] = [
  { thinking: "a thought", text: "I count.", calls: [{ bash: { command: "seq 1 900" } }] },
  { thinking: "another", text: "I count on.", calls: [{ bash: { command: "seq 2000 2900" } }] },
  { text: "Counted." },
];
const prose = "Facts: the numbers end at 2900. Next steps: look at /srv/far/away.txt.";

/** The log of the only session there is. */
function logOf({ env }: Workspace): LogEvent[] {
  const root = join(env.SAWTOOTH_HOME ?? "", "state/sessions");
  const [folder = ""] = readdirSync(root);
  const [session = ""] = readdirSync(join(root, folder));
  const text = readFileSync(join(root, folder, session, "events.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LogEvent);
}

test.each(["claude-sonnet-5-5", "claude-haiku-4-5"])(
  "/compact on %s makes a handoff that keeps what the person asked for, and says what it took and cost",
  async (model) => {
    const words = [...auto, "--model", `anthropic/${model}`];
    const { terminal, server, workspace } = await open([...work, { text: prose }, { text: "final" }], words);
    terminal.send("go\r");
    await terminal.until("Counted.");
    await atRest(terminal);
    terminal.send("/compact the file /srv/far/away.txt\r");
    await terminal.until(/context: [\d,]+ → [\d,]+ tokens; the summary cost \$0\.\d{4}/);
    expect(server.requests).toHaveLength(4);
    expect(lastUserText(server)).toMatch(
      /Write only what cannot be read elsewhere[\s\S]*\/srv\/far\/away\.txt$/,
    );
    const [, before, after] = /context: ([\d,]+) → ([\d,]+) tokens/.exec(terminal.whole().join("\n")) ?? [];
    const numbers = [before, after].map((text) => Number(text?.replace(",", "")));
    expect(numbers[0]).toBeGreaterThan((numbers[1] ?? 0) + 1500);
    terminal.send("next\r");
    await terminal.until("final");
    const sent = JSON.stringify(server.requests.at(-1)?.messages);
    expect(server.exchanges.map(({ error }) => error)).toEqual(Array(5).fill(undefined));
    expect(sent).toContain("the numbers end at 2900");
    expect(sent).toContain("Counted.");
    expect(sent).not.toContain("I count on.");
    expect(sent).not.toContain("The person asked for this handoff");
    const events = logOf(workspace);
    expect(events.flatMap((event) => (event.type === "user_message" ? event.content : []))).toEqual([
      { type: "text", text: "go" },
      { type: "text", text: "next" },
    ]);
    expect(events.filter(({ type }) => type === "context_edited")).toMatchObject([{ policy: "compact" }]);
  },
);

test.each([80, 30])("Ctrl-O has the edit, in the words of the history, at %d columns", async (columns) => {
  const { terminal, workspace } = await open([...work, { text: prose }], auto, { columns, rows: 30 });
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  terminal.send("/compact the file /srv/far/away.txt\r");
  await terminal.until("context:");
  await atRest(terminal);
  terminal.send("\x0f");
  await terminal.until("edit of the context");
  const events = logOf(workspace);
  const edit = events.findLast((event) => event.type === "context_edited");
  const said = edit?.type === "context_edited" ? sentenceOf(editWords(edit, events)) : "";
  expect(said).toContain("leave the context");
  const rows = terminal.screen().filter((row) => row.startsWith("  │ "));
  expect(rows.map((row) => row.slice(4)).join(" ")).toBe(said);
  terminal.send("\x1b[D");
  await terminal.until("│ seq 2000");
});

test("Esc ends /compact with the history as it was, and what was typed meanwhile is said after", async () => {
  const slow: ScriptedReply = { text: "word ".repeat(200), fault: { pauseMs: 100 } };
  const { terminal, server, workspace } = await open([...work, slow, { text: "final" }], auto);
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  terminal.send("/compact\r");
  await terminal.until("Making a summary");
  terminal.send("typed\r");
  await terminal.until("queued: typed");
  terminal.send("\x1b");
  await terminal.until("interrupted: the history is as it was");
  await terminal.until("› typed");
  terminal.send("\r");
  await terminal.until("final");
  expect(lastUserText(server)).toBe("typed");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("2899");
  expect(logOf(workspace).filter(({ type }) => type === "context_edited")).toEqual([]);
});

test("a summary that fails or is of no use changes nothing, and that is said", async () => {
  const broken: ScriptedReply = { text: "x", fault: { status: 400 } };
  const turns = [...work, broken, { calls: [{ bash: { command: "ls" } }] }, { text: "final" }];
  const { terminal, workspace } = await open(turns, auto);
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  terminal.send("/compact\r");
  await terminal.until("nothing was changed: the summary failed (");
  await atRest(terminal);
  terminal.send("/compact\r");
  await terminal.until(/nothing was changed: the summary was unusable \(it called a tool/);
  expect(logOf(workspace).filter(({ type }) => type === "context_edited")).toEqual([]);
});

test("/compact says when there is nothing worth it, and waits for no turn", async () => {
  const calls = [{ bash: { command: held } }];
  const { terminal, server, workspace } = await open([{ calls }, { text: "final" }], auto);
  terminal.send("/compact\r");
  await terminal.until("there is nothing to compact yet");
  expect(server.requests).toHaveLength(0);
  terminal.send("go\r");
  await terminal.until("Running");
  terminal.send("/compact\r");
  await terminal.until("Busy: press Esc to interrupt first");
  letGo(workspace);
  await terminal.until("final");
  await atRest(terminal);
  terminal.send("/compact\r");
  await terminal.until(/final[\s\S]*there is nothing to compact yet/);
  expect(server.requests).toHaveLength(2);
});
