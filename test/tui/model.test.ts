import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOpenaiServer } from "../support/mock-openai.ts";
import { again, atRest, held, letGo, open, type TerminalFixture } from "../support/terminal-fixture.ts";

const auto = ["--permission-mode", "auto"];

async function switchTo(terminal: TerminalFixture["terminal"], name: string): Promise<void> {
  terminal.send(`/model ${name}\r`);
  await terminal.until(/Switch to [\s\S]*❯ 2 No/);
  terminal.send("y");
  await terminal.until(`from here on ${name.includes("/") ? name : `anthropic/claude-${name}`}`);
}

test("a session goes from Anthropic to another server and back, and every request is legal", async () => {
  const other = await startOpenaiServer(
    { text: "Over here.", calls: [{ id: "functions.bash:0", name: "bash", args: '{"command":"seq 1 9"}' }] },
    { text: "Nine." },
  );
  onTestFinished(() => other.close());
  const step = { thinking: "a thought", calls: [{ bash: { command: "seq 1 900" } }] };
  const turns = [step, { thinking: "more", text: "Counted." }, step, { text: "Back again." }];
  const { terminal, server } = await open(turns, auto, { env: { OPENAI_BASE_URL: other.url } });
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  await switchTo(terminal, "openai/gpt-6.1-sol");
  const whole = terminal.whole().join("\n");
  expect(whole).not.toContain("is not a known model");
  terminal.send("and you?\r");
  await terminal.until("Nine.");
  await atRest(terminal);
  await switchTo(terminal, "anthropic/claude-sonnet-5-5");
  terminal.send("back\r");
  await terminal.until("Back again.");
  expect(other.received.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  expect(server.exchanges.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  const sent = JSON.stringify(server.requests[2]?.messages);
  expect(sent).toMatch(/"id":"functions_[\w-]+"/);
  expect(sent).not.toContain("a thought");
  expect(server.requests[2]?.diagnostics).toBeUndefined();
  expect(server.requests[3]?.diagnostics?.previous_message_id).toBe(server.exchanges[2]?.messageId);
});

test("/model says what a change costs before it is made, and no is an answer", async () => {
  const step = { thinking: "a long thought ".repeat(40), calls: [{ bash: { command: "seq 1 2000" } }] };
  const { terminal, server } = await open([step, { text: "Counted." }, { text: "final" }], auto, {
    rows: 40,
  });
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  terminal.send("/model opus-5-5\r");
  await terminal.until(/[\d,]{5,} cached tokens are lost/);
  const { usage } = server.exchanges[1] ?? {};
  const cached = (usage?.cacheReadTokens ?? 0) + (usage?.cacheWrite5mTokens ?? 0);
  const shown = terminal.screen().join("\n").replaceAll(/\n +/g, " ");
  expect(shown).toContain(`${cached.toLocaleString("en-US")} cached tokens are lost`);
  const [, tokens, next] = /reads about ([\d,]+) tokens again: \$([\d.]+) for it/.exec(shown) ?? [];
  expect(Number(next)).toBeCloseTo((Number(tokens?.replace(",", "")) * 5) / 1e6, 3);
  expect(shown).toMatch(/where claude-sonnet-5-5 would take \$0\.\d{4}/);
  expect(shown).toMatch(/About \d{3} tokens of thinking are dropped for good/);
  terminal.send("\r");
  await terminal.until("Still using anthropic/claude-sonnet-5-5");
  terminal.send("/model opus-5-5\r");
  await terminal.until("Switch to");
  terminal.send("\x1b");
  await terminal.until("Still using anthropic/claude-sonnet-5-5");
  terminal.send("next\r");
  await terminal.until("final");
  expect(server.requests.at(-1)?.model).toBe("claude-sonnet-5-5");
});

test("before anything was said a model is changed without a question, later with one", async () => {
  const { terminal, server } = await open([{ text: "first" }, { text: "second" }], auto);
  terminal.send("/model haiku-5-5\r");
  await terminal.until("from here on anthropic/claude-haiku-5-5");
  terminal.send("go\r");
  await terminal.until("first");
  await atRest(terminal);
  await switchTo(terminal, "sonnet-5-5");
  terminal.send("and on\r");
  await terminal.until("second");
  expect(server.requests.map(({ model }) => model)).toEqual(["claude-haiku-5-5", "claude-sonnet-5-5"]);
});

test("a wrong name, a missing key and a running turn change nothing", async () => {
  const calls = [{ bash: { command: held } }];
  const { terminal, server, workspace } = await open([{ calls }, { text: "final" }], auto);
  terminal.send("/model nonsense\r");
  await terminal.until("unknown model nonsense");
  terminal.send("/model opus\r");
  await terminal.until("opus is ambiguous: anthropic/claude-opus-5-5, anthropic/claude-opus-5");
  terminal.send("/model openai/gpt-6.1-sol\r");
  await terminal.until("no credentials for openai/gpt-6.1-sol: set OPENAI_API_KEY");
  terminal.send("/model sonnet-5-5\r");
  await terminal.until("is already the model");
  terminal.send("go\r");
  await terminal.until("Running");
  terminal.send("/model haiku-5-5\r");
  await terminal.until("Busy: press Esc to interrupt first");
  letGo(workspace);
  await terminal.until("final");
  expect(server.requests.map(({ model }) => model)).toEqual(["claude-sonnet-5-5", "claude-sonnet-5-5"]);
});

test("an unknown model is asked about before anything was said, and a new session keeps the choice", async () => {
  const { terminal, server } = await open([{ text: "first" }, { text: "second" }], auto);
  terminal.send("/model anthropic/claude-sonet-5-5\r");
  await terminal.until("is not a known model");
  terminal.send("n");
  await terminal.until("Still using");
  terminal.send("/model haiku-5-5\r");
  await terminal.until("from here on anthropic/claude-haiku-5-5");
  terminal.send("go\r");
  await terminal.until("first");
  await atRest(terminal);
  terminal.send("/clear\r");
  await terminal.until(/claude-haiku-5-5\n.*\/help/);
  terminal.send("more\r");
  await terminal.until("second");
  expect(server.requests.map(({ model }) => model)).toEqual(["claude-haiku-5-5", "claude-haiku-5-5"]);
});

test("a change of model leaves what was recorded, and a resumed session has its last model", async () => {
  const fixture = await open(
    [{ text: "first" }, { text: "second" }, { text: "third" }],
    [...auto, "--record", "cassette.jsonl"],
  );
  const { terminal, server, workspace } = fixture;
  terminal.send("go\r");
  await terminal.until("first");
  await atRest(terminal);
  await switchTo(terminal, "haiku-5-5");
  terminal.send("more\r");
  await terminal.until("second");
  const lines = readFileSync(join(workspace.cwd, "cassette.jsonl"), "utf8");
  expect(lines).toContain("first");
  expect(lines).toContain("second");
  terminal.send("/exit\r");
  await terminal.ended;
  const resumed = await again(workspace, [...auto, "-c"]);
  resumed.send("last\r");
  await resumed.until("third");
  expect(server.requests.at(-1)?.model).toBe("claude-haiku-5-5");
});

test("/model without a name is a list with search: window, prices and the cost of each change, then the question", async () => {
  const { terminal, server } = await open(
    [{ calls: [{ bash: { command: "seq 1 2000" } }] }, { text: "Counted." }, { text: "final" }],
    auto,
    { rows: 40, columns: 100 },
  );
  terminal.send("/model\r");
  await terminal.until(/❯ anthropic\/claude-sonnet-5-5 current .* \$\d\S* in, \$\d+ out/);
  await terminal.until(/openai\/gpt-6.1-sol needs OPENAI_API_KEY/);
  terminal.send("\x1b");
  await terminal.until(/^(?![\s\S]*type to search)/);
  terminal.send("go\r");
  await terminal.until("Counted.");
  await atRest(terminal);
  terminal.send("/model\r");
  await terminal.until("type to search");
  terminal.send("haiku-5-5");
  await terminal.until(/❯ anthropic\/claude-haiku-5-5/);
  await terminal.until(/│ .*tokens of context[\s\S]*│ .*cached tokens are lost/);
  terminal.send("\r");
  await terminal.until(/Switch to claude-haiku-5-5\?[\s\S]*❯ 2 No/);
  terminal.send("y");
  await terminal.until("from here on anthropic/claude-haiku-5-5");
  terminal.send("next\r");
  await terminal.until("final");
  expect(server.requests.at(-1)?.model).toBe("claude-haiku-5-5");
});

test.each([
  [40, 10],
  [80, 24],
])("the list of models fits %i by %i, and Esc leaves the model", async (columns, rows) => {
  const { terminal } = await open([], auto, { columns, rows });
  terminal.send("/model\r");
  await terminal.until(/❯ anthropic\/claude/);
  expect(terminal.screen().join("\n")).toContain("Esc");
  terminal.send("\x1b[B\x1b[B");
  await terminal.until(/❯ anthropic\/claude-fable/);
  terminal.send("\x1b");
  await terminal.until(/^(?![\s\S]*type to search)/);
});

test("a model without its key says what it takes, and the model stays", async () => {
  const { terminal } = await open([], auto);
  terminal.send("/model\r");
  await terminal.until("type to search");
  terminal.send("gpt-6.1-sol");
  await terminal.until(/❯ openai\/gpt-6.1-sol/);
  terminal.send("\r");
  await terminal.until("no credentials for openai/gpt-6.1-sol");
});
