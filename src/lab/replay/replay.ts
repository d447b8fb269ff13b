/** Feeds the events of a recording, step by step, to another policy stack at another model's prices. Pure. */

import { judgeProse } from "../../context/handoff/prose.ts";
import { resultBudget } from "../../context/policies/budget.ts";
import { knowledgeHead } from "../../context/policies/focus.ts";
import { planStep } from "../../context/policies/planner.ts";
import { stackNamed } from "../../context/policies/stacks.ts";
import { composeRequest } from "../../context/request/compose.ts";
import { proseTokens, summaryRequest } from "../../context/request/summary-call.ts";
import type { LineTable } from "../../context/reuse/lines.ts";
import { brokenRules, violationText } from "../../context/rules/request.ts";
import { checkRequest, type PreviousRequest } from "../../context/rules/sequence.ts";
import { blockTokens } from "../../context/view/tokens.ts";
import { type View, type ViewReader, viewReader } from "../../context/view/view.ts";
import { type AssistantBlock, isThinking } from "../../core/blocks.ts";
import type { EventBody, EventOf, LogEvent } from "../../core/events.ts";
import { addUsage, costOf, inputTotal, type ModelCard, noUsage, type Usage } from "../../core/model-card.ts";
import { started } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { truncateOutput } from "../../core/text/truncate-output.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { type Bill, type Meter, meter } from "./bill.ts";
import { extraSteps } from "./fold.ts";
import { type Misses, type MissMeter, missMeter } from "./missing.ts";
import { lastWords, outputTokens } from "./output.ts";
import type { Stack } from "./stack.ts";

export type ReplayOptions = {
  card: ModelCard;
  stack: Stack;
  /** `ignore`: every step follows the one before at once, so that no turn is cold. */
  gaps: "recorded" | "ignore";
  /** Called with each request that goes out. */
  onRequest?: (sent: Sent) => void;
  /** The lines of the recording, shared between its replays. */
  lines?: LineTable;
};

/** A request as it goes out, what it is billed, the log before it, and its time (milliseconds). */
export type Sent = { request: ModelRequest; bill: Bill; log: readonly LogEvent[]; now: number };

export type Replayed = Misses & {
  /** Replies, those that the fold's stand-in added among them. */
  steps: number;
  /** Input tokens of each step. */
  sizes: number[];
  /** Steps (from 1) whose request came after an edit. */
  editedAt: number[];
  edits: number;
  /** Sum over all requests, summary calls among them. */
  usage: Usage;
  /** Dollars. */
  cost: number;
  /** Dollars of the output alone, which is the same under every stack but for summaries and folds. */
  outputCost: number;
  summaries: number;
  /** Requests that an API would refuse, and why: distinct sentences. */
  invalid: number;
  broken: string[];
};

/** Some agents ask again after a reply that was cut, with nothing said between; our requests end with the user. */
const goOn: EventBody = { type: "user_message", content: [{ type: "text", text: "Continue." }] };

type Player = {
  options: ReplayOptions;
  log: LogEvent[];
  reader: ViewReader;
  meter: Meter;
  misses: MissMeter;
  /** The previous request, which the next one is checked against. */
  previous: PreviousRequest | undefined;
  result: Omit<Replayed, keyof Misses>;
  /** `whole`: the recorded text of a result that is shortened. */
  append(at: number, body: EventBody, whole?: string): void;
};

/** The whole recording under one stack. Recorded edits, reminders and requests are left out: they are the stack's. */
export function replay(recorded: readonly LogEvent[], options: ReplayOptions): Replayed {
  const player = playerOf(options);
  const folds = options.stack.foldAfter > 0 && !recorded.some(opensFocus);
  player.append(started(recorded).at, opening(recorded, options));
  for (const event of recorded) {
    switch (event.type) {
      case "user_message":
        player.append(event.at, firstWords(event, player));
        break;
      case "tool_result":
        if (options.stack.ingests) ingest(event, player);
        else player.append(event.at, bodyOf(event));
        break;
      case "reminder":
        // What watching said belongs to the recorded stack; a notice of a job does not.
        if (!event.about) player.append(event.at, bodyOf(event));
        break;
      case "assistant_message":
        if (folds) playExtraSteps(player, options.stack.foldAfter);
        playStep(player, event.content, outputTokens(event), event.at);
        break;
      case "session_started":
      case "session_named":
      case "settings_changed":
      case "model_changed":
      case "model_request":
      case "model_failed":
      case "permission_decided":
      case "context_edited":
      case "summary_call":
      case "tools_gated":
      case "sandbox":
      case "quarantined":
      case "runs_elsewhere":
      case "egress":
      case "mcp_called":
      case "delegate_started":
      case "delegate_called":
      case "delegate_ended":
      case "warning":
      case "turn_ended":
        break;
      default:
        event satisfies never;
    }
  }
  return { ...player.result, ...player.misses.result };
}

function playerOf(options: ReplayOptions): Player {
  const log: LogEvent[] = [];
  const misses = missMeter(options.card, options.lines);
  return {
    options,
    log,
    reader: viewReader(),
    meter: meter(options.card),
    misses,
    previous: undefined,
    result: {
      steps: 0,
      sizes: [],
      editedAt: [],
      edits: 0,
      usage: noUsage,
      cost: 0,
      outputCost: 0,
      summaries: 0,
      invalid: 0,
      broken: [],
    },
    append(at, body, whole) {
      const event = { seq: log.length, at, ...body };
      log.push(event);
      misses.take(event, whole);
    },
  };
}

function opensFocus(event: LogEvent): boolean {
  return event.type === "tool_result" && event.toolName === toolNames.startFocus;
}

function opening(recorded: readonly LogEvent[], { card, stack }: ReplayOptions): EventBody {
  const { sessionId, cwd, folder, system, tools } = started(recorded);
  const { base, ingests, engine } = stack;
  // The budget of a result follows from the stack's name, and `raw` has none to speak of.
  const context = base === "raw" && ingests ? "ingest" : base;
  return { type: "session_started", sessionId, cwd, folder, model: card, system, tools, context, engine };
}

function bodyOf(event: LogEvent): EventBody {
  const { seq: _, at: __, ...body } = event;
  return body;
}

/** As the wiring does: `focus-top` keeps its knowledge in a block of the first message. */
function firstWords(event: EventOf<"user_message">, { log, options }: Player): EventBody {
  const { content, preamble = [], knowledge } = event;
  const facts = preamble.filter((_, index) => index !== knowledge);
  const isFirst = !log.some(({ type }) => type === "user_message");
  if (!isFirst || !stackNamed(options.stack.base).knowledgeFirst)
    return { type: "user_message", content, preamble: facts };
  const top = { type: "text" as const, text: knowledgeHead };
  return { type: "user_message", content, preamble: [...facts, top], knowledge: facts.length };
}

function ingest(event: EventOf<"tool_result">, { log, append }: Player): void {
  const body = bodyOf(event) as typeof event;
  if (typeof event.content !== "string") {
    append(event.at, body);
    return;
  }
  const path = event.artifact ?? `${started(log).folder}/artifacts/${String(event.seq).padStart(6, "0")}.txt`;
  const { text } = truncateOutput(event.content, { maxBytes: 4 * resultBudget(log), path });
  const whole = text.length < event.content.length ? event.content : undefined;
  append(event.at, { ...body, content: text, artifact: path }, whole);
}

function playExtraSteps(player: Player, foldAfter: number): void {
  for (const { content, toolUseId, toolName, result } of extraSteps(player.log, foldAfter)) {
    const at = nowOf(player);
    playStep(
      player,
      content,
      content.reduce((sum, block) => sum + blockTokens(block), 0),
      at,
    );
    player.append(at, { type: "tool_result", toolUseId, toolName, content: result, isError: false });
  }
}

/** A request starts when the last thing that it answers was there. */
function nowOf({ log, options, result }: Player): number {
  return options.gaps === "ignore" ? (log[0]?.at ?? 0) + 1000 * result.steps : (log.at(-1)?.at ?? 0);
}

function playStep(player: Player, content: readonly AssistantBlock[], output: number, at: number): void {
  const { options, log, result } = player;
  if (log.at(-1)?.type === "assistant_message") player.append(log.at(-1)?.at ?? at, goOn);
  const now = nowOf(player);
  const deferredTokens = plan(player, now);
  const view = player.reader.read(log);
  const composed = composeRequest(log, view);
  const { request, estimated } = composed;
  const { broken, current } = checkRequest(composed, { events: log, view }, player.previous);
  player.previous = current;
  const usage = send(player, request, { output, now, broken: broken.map(violationText) });
  player.append(now, {
    type: "model_request",
    bodyHash: "",
    tokensEstimated: estimated,
    cacheAfter: request.cacheAfter,
    deferredTokens,
  });
  player.misses.reply(content, view, usage);
  result.steps += 1;
  result.sizes.push(inputTotal(usage));
  player.append(at, {
    type: "assistant_message",
    content: content.map((block) => resigned(block, player.meter)),
    stopReason: content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn",
    usage,
    model: options.card.id,
    durationMs: Math.max(0, at - now),
  });
}

/** The recorded signature binds the recorded history; in this one it is made here. */
function resigned(block: AssistantBlock, { sign }: Meter): AssistantBlock {
  if (!isThinking(block)) return block;
  return block.type === "thinking" ? { ...block, signature: sign() } : { ...block, data: sign() };
}

/** `broken`: the rules that the engine itself finds broken. */
function send(
  player: Player,
  request: ModelRequest,
  { output, now, broken }: { output: number; now: number; broken: readonly string[] },
): Usage {
  const { result, options } = player;
  const bill = player.meter.bill(request, now);
  options.onRequest?.({ request, bill, log: player.log, now });
  const usage = { ...bill.usage, outputTokens: output };
  const cost = costOf(usage, options.card.prices);
  result.usage = addUsage(result.usage, usage);
  result.cost += cost;
  result.outputCost += cost - costOf(bill.usage, options.card.prices);
  note(result, [...broken, ...bill.broken]);
  return usage;
}

function note(result: Player["result"], broken: readonly string[]): void {
  if (broken.length === 0) return;
  result.invalid += 1;
  result.broken = [...new Set([...result.broken, ...broken])].slice(0, 20);
}

/** Runs the planner of the agent over this log. Returns the tokens that are held back. */
function plan(player: Player, now: number): number {
  const { log, reader, options, result } = player;
  const before = log.length;
  const planning = planStep(
    { events: () => log, now: () => now, isInterrupted: () => false },
    { policies: stackNamed(options.stack.base).policies, reader, mayAsk: () => true },
  );
  let step = planning.next();
  while (!step.done) {
    if (step.value.type === "append") {
      player.append(now, step.value.event);
      step = planning.next();
    } else step = planning.next(askForProse(player, step.value, now));
  }
  const edits = log.slice(before).filter(({ type }) => type === "context_edited").length;
  result.edits += edits;
  if (edits > 0) result.editedAt.push(result.steps + 1);
  return step.value.deferredTokens;
}

/** Stands for prompts/summary.md. */
const question = "Write down what is needed to continue the work.";

/**
 * No model is asked: the answer is what the recorded model said last, to the usual length, and is judged as an answer.
 */
function askForProse(
  player: Player,
  { view, replaced }: { view: View; replaced: number },
  now: number,
): string {
  const { log, options, result } = player;
  const request = summaryRequest(log, view, { question });
  const broken = brokenRules(request).map(violationText);
  const usage = send(player, request, { output: proseTokens, now, broken });
  const answer = { content: [{ type: "text" as const, text: lastWords(log) }], stopReason: "end_turn" };
  // The files of the recording are not on this machine.
  const verdict = judgeProse(answer, { replaced, events: log, question, exists: () => true });
  const called = { type: "summary_call" as const, purpose: "summary" as const, question };
  const made = { usage, model: options.card.id, durationMs: 0 };
  if ("rejected" in verdict)
    player.append(now, { ...called, ...made, outcome: "rejected", detail: verdict.rejected });
  else player.append(now, { ...called, ...made, outcome: "accepted" });
  result.summaries += 1;
  return "rejected" in verdict ? "" : verdict.prose;
}
