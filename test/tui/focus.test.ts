import { expect, test } from "vitest";
import { atRest, open } from "../support/terminal-fixture.ts";

const focus = { start_focus: { objective: "find the slow part" } };

test.each(["claude-sonnet-5-5", "claude-haiku-4-5"])(
  "/focus fold on %s folds the open focus from the log, the next request is legal, and another focus can be opened",
  async (model) => {
    const turns = [
      { thinking: "hm", calls: [focus] },
      { thinking: "hm", calls: [{ bash: { command: "seq 1 900" } }] },
      { thinking: "hm", calls: [{ bash: { command: "seq 5000 5900; false" } }] },
      { text: "It is the cache." },
      { thinking: "hm", calls: [focus] },
      { text: "final" },
    ];
    const words = ["--permission-mode", "auto", "--model", `anthropic/${model}`];
    const { terminal, server } = await open(turns, words, { columns: 120, rows: 40 });
    terminal.send("/focus fold\r");
    await terminal.until("no focus is open");
    terminal.send("go\r");
    await terminal.until("It is the cache.");
    await atRest(terminal);
    terminal.send("/focus\r");
    await terminal.until(/In focus: find the slow part\n.*3 steps, about [\d,]+ tokens/);
    terminal.send("/context\r");
    await terminal.until(/bash seq 5000 5900; false +\/focus fold +kept while it is likely/);
    terminal.send("/focus fold\r");
    await terminal.until("made from the log alone");
    terminal.send("/knowledge\r");
    await terminal.until(
      /Focus closed by the person: find the slow part[\s\S]*seq 5000 5900; false → failed/,
    );
    terminal.send("next\r");
    await terminal.until("final");
    const sent = JSON.stringify(server.requests.at(-1)?.messages);
    expect(sent).toContain("Said last: It is the cache.");
    expect(sent).not.toContain("5899");
    expect(sent).toContain("Focus opened");
    expect(server.exchanges.map(({ error }) => error)).toEqual(Array(6).fill(undefined));
    terminal.send("/focus\r");
    await terminal.until(/Folded: 1 entry[\s\S]*find the slow part/);
  },
);

test("a focus whose beginning went into a handoff stays open, and can still be folded", async () => {
  const turns = [
    { calls: [focus] },
    { calls: [{ bash: { command: "seq 1 2000" } }] },
    { text: "Half way." },
    { text: "Facts: the numbers end at 2000." },
    { calls: [{ bash: { command: "seq 5000 5900" } }] },
    { text: "All the way." },
    { text: "final" },
  ];
  const { terminal, server } = await open(turns, ["--permission-mode", "auto"]);
  terminal.send("go\r");
  await terminal.until("Half way.");
  await atRest(terminal);
  terminal.send("/compact\r");
  await terminal.until(/context: [\d,]+ →/);
  terminal.send("on\r");
  await terminal.until("All the way.");
  await atRest(terminal);
  terminal.send("/focus fold\r");
  await terminal.until("made from the log alone");
  terminal.send("end\r");
  await terminal.until("final");
  const sent = JSON.stringify(server.requests.at(-1)?.messages);
  expect(sent).toContain("the numbers end at 2000");
  expect(sent).toContain("Focus closed by the person");
  expect(sent).not.toContain("5899");
  expect(server.exchanges.map(({ error }) => error)).toEqual(Array(7).fill(undefined));
});
