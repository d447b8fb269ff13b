/** Logs that look like real sessions, for the report: one that was run by the agent, and long ones built by hand. */

import { rmSync } from "node:fs";
import { runTurn } from "../../src/agent/loop.ts";
import type { EventBody, EventOf, LogEvent } from "../../src/core/events.ts";
import type { Model, Tool, ToolOutput } from "../../src/core/ports.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { scriptedModel } from "../../src/models/playback/scripted.ts";
import { fakeTool, testAgent } from "./agents.ts";
import { call, memoryLog, reply, result, started, testCard, thinking, user } from "./logs.ts";

const bash = (command: string) => ({ bash: { command } });
const view = (path: string) => ({ str_replace_editor: { command: "view", path: `/w/app/${path}` } });
const edit = (path: string, text: string) => ({
  str_replace_editor: { command: "str_replace", path: `/w/app/${path}`, old_str: text, new_str: `${text};` },
});

/** Lines of a program's output: enough of them to weigh something, all of them different. */
function lines(count: number, of: (line: number) => string): string {
  return Array.from({ length: count }, (_, index) => of(index + 1)).join("\n");
}

function ran(input: Record<string, unknown>): ToolOutput {
  const command = String(input.command);
  const failing = command.startsWith("npm test") && !command.includes("--all");
  const content = failing
    ? `${lines(60, (line) => `ok ${line} - rounds ${line * 7} cents as the invoice does`)}\nAssertionError: 15244 !== 15243\n[exit 1]`
    : lines(
        40 + (command.length % 5) * 30,
        (line) => `src/tax/${command.length}.ts:${line}: const rate${line} = ${line * 19}`,
      );
  return {
    content,
    isError: failing,
    stats: { exitCode: failing ? 1 : 0, lines: content.split("\n").length },
  };
}

function edited({ command, path }: Record<string, unknown>): ToolOutput {
  const file = String(path);
  if (command !== "view") return { content: `${file}: replaced 1 line`, stats: { wrote: [file] } };
  const content = lines(
    120 + (file.length % 4) * 40,
    (line) => `${line}\texport function part${line}(cents: number) {}`,
  );
  return { content, stats: { read: [file], lines: content.split("\n").length } };
}

const tools: Tool[] = [
  fakeTool("bash", ran),
  fakeTool("str_replace_editor", edited),
  fakeTool("start_focus", ({ objective }) => ({ content: `Focus open: ${objective}` })),
  fakeTool("complete_focus", () => ({ content: "Focus closed." })),
];

function focus(objective: string, steps: ScriptedReply[], learned: string): ScriptedReply[] {
  const closing = { attempted: "reading and running", learned, outcome: "found; the repair comes next" };
  return [{ calls: [{ start_focus: { objective } }] }, ...steps, { calls: [{ complete_focus: closing }] }];
}

function work(from: number, count: number): ScriptedReply[] {
  return Array.from({ length: count }, (_, index): ScriptedReply => {
    const number = from + index;
    const thought =
      `Step ${number}: the rate is applied before the rounding, so a cent is lost here and there. `.repeat(4);
    const calls = [
      [view(`src/tax/rate-${number % 9}.ts`)],
      [bash(`grep -rn rate${number % 7} src`)],
      [edit(`src/tax/rate-${number % 9}.ts`, "const rounded = Math.round(cents)".repeat(8))],
      [bash("npm test")],
      [bash(`sed -n 1,80p src/tax/table-${number}.ts`), view(`src/tax/table-${number}.ts`)],
    ];
    return {
      thinking: thought,
      ...(number % 4 ? {} : { text: "One cent less." }),
      calls: calls[number % 5] ?? [],
    };
  });
}

const first: ScriptedReply[] = [
  { text: "I look around first.", calls: [bash("git log --oneline | head; ls src test")] },
  ...focus("Find out why invoices are one cent off", work(0, 9), "src/tax/rate-3.ts rounds before it adds."),
  ...work(9, 24),
  ...focus("See whether refunds have the same fault", work(40, 7), "They do: src/tax/refund.ts, line 61."),
  ...work(50, 6),
  { text: "The cents add up now.", calls: [bash("npm test --all")] },
  { text: "All tests pass: rates are added first and rounded once." },
];
const second: ScriptedReply[] = [...work(60, 8), { text: "The documentation says so now, too." }];

/**
 * A session of 60 steps and two turns with focus folds, economist flushes, a retry, a warning and a pause of 20
 * minutes, run by the real loop over a scripted model. Its soft window is small, so that all of it happens.
 */
export async function sessionLog(history: "free" | "prefix_bound" = "free"): Promise<readonly LogEvent[]> {
  let now = Date.UTC(2026, 10, 20, 9, 30);
  const clock = () => {
    now += 400;
    return now;
  };
  const card = testCard(history);
  const engine = { window: 36_000, earlyShare: 1 };
  const preamble = [
    { type: "text", text: `Folder: /w/app\n\n# AGENTS.md\n${"Keep it short.\n".repeat(40)}` },
  ];
  const task = user("Invoices with three tax rates are one cent off. Find out why and repair it.");
  const start = { ...started(card), context: "economist", engine } as EventBody;
  const log = memoryLog([start, { ...task, preamble } as EventBody], clock);
  const model = stumbling(scriptedModel({ card, turns: [...first, ...second], cwd: "/w/app", now: clock }));
  const { agent } = testAgent({ turns: [], tools, context: "economist", changes: { log, clock, model } });
  await runTurn(agent, new AbortController().signal);
  now += 20 * 60_000;
  log.append({ type: "warning", text: "the file AGENTS.md changed while the session was open" });
  log.append(user("Say so in the documentation, too."));
  await runTurn(agent, new AbortController().signal);
  rmSync(agent.artifacts.folder, { recursive: true, force: true });
  return log.events();
}

/** The same model, which is overloaded once before its 20th reply. */
function stumbling(model: Model): Model {
  let sent = 0;
  return {
    ...model,
    send(request, body, onPart, signal) {
      if (++sent === 20)
        onPart({
          type: "attempt_failed",
          kind: "overloaded",
          message: "Overloaded",
          attempt: 1,
          waitMs: 2000,
        });
      return model.send(request, body, onPart, signal);
    },
  };
}

/** A log of `count` events, with an edit now and then: for speed, and for pages that must not grow with its square. */
export function longLog(count: number): readonly LogEvent[] {
  const log = memoryLog([started(testCard("free", { window: 1_000_000 })), user("a long task")]);
  for (let step = 1; log.events().length < count; step++) {
    const size = 300 * Math.max(1, log.events().length - 20 * Math.floor(step / 40));
    log.append({ type: "model_request", bodyHash: "", tokensEstimated: size, cacheAfter: [] });
    const answer = reply(thinking(`thought ${step} `.repeat(20)), call(`c${step}`));
    const usage = {
      inputTokens: 500,
      cacheReadTokens: size,
      cacheWrite5mTokens: 900,
      cacheWrite1hTokens: 0,
      outputTokens: 60,
    };
    log.append({ ...answer, usage } as EventBody);
    const output = log.append(
      result(
        `c${step}`,
        lines(30, (line) => `line ${line} of step ${step}: ${line * step}`),
      ),
    );
    if (step % 40 === 0)
      log.append({
        type: "context_edited",
        policy: "economist",
        reason: "break-even",
        edits: [{ type: "replace", seq: output.seq - 30, block: 0, text: "[30 lines omitted]" }],
        economics: { meter: 1200, threshold: 1100, expectedSavingUsd: 0.01 },
      });
  }
  return log.events();
}

/** An event and, where it matters, its time in seconds. */
export type Timed = EventBody & { at?: number };

/** Events as they stand in a log; time moves a second at each, or to where an event says, in seconds. */
export function logOf(...bodies: readonly Timed[]): readonly LogEvent[] {
  let now = 0;
  return bodies.map(({ at, ...body }, seq) => {
    now = at === undefined ? now + 1000 : at * 1000;
    return { seq, at: now, ...body } as LogEvent;
  });
}

/** The edit that puts a placeholder in the place of a result. */
export function masked(seq: number, extra: Partial<EventOf<"context_edited">> = {}): EventBody {
  const edits = [{ type: "replace" as const, seq, block: 0, text: "[gone]" }];
  return { type: "context_edited", policy: "masking", reason: "old", edits, economics: {}, ...extra };
}
