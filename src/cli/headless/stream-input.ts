/** `--input-format stream-json`: a program talks to the session in lines of JSON on standard input. */

import { createInterface } from "node:readline";
import type { Permission } from "../../agent/agent.ts";
import type { Driver as SessionDriver, SettleHeadless } from "../../app/session.ts";
import type { UserBlock } from "../../core/blocks.ts";
import type { EventLog } from "../../core/ports.ts";

export type Driver = ReturnType<typeof readDriver>;

type Reply = { behavior: "allow" } | { behavior: "deny"; message: string };

/** Milliseconds to wait for a driver's answer before a run continues without it. */
const answerMs = 60_000;
const shapeHint = 'expected {"type":"user","message":{"role":"user","content":"…"}} or a control line';

type State = {
  queue: UserBlock[][];
  steering: UserBlock[][];
  waiting: ((blocks: UserBlock[] | undefined) => void) | undefined;
  questions: Map<string, (reply: Reply) => void>;
  turn: AbortController;
  ended: boolean;
  warn: (text: string) => void;
  write: (line: object) => void;
};

/** Reads lines until the end of `input`. `write` sends questions and receipts. */
export function readDriver(input: NodeJS.ReadableStream, write: (line: object) => void) {
  const state: State = {
    queue: [],
    steering: [],
    waiting: undefined,
    questions: new Map(),
    turn: new AbortController(),
    ended: false,
    warn: (message) => write({ type: "warning", message }),
    write,
  };
  let lines = 0;
  const end = () => endInput(state);
  input.on("error", end);
  createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    .on("line", (line) => {
      lines += 1;
      if (line.trim() !== "") takeLine(state, line, lines);
    })
    .on("close", end);
  return {
    /** Waits for the next user message; undefined at the end of the input or when `signal` is aborted. */
    next: (signal?: AbortSignal) => next(state, signal),
    /** Returns a signal that is aborted when the driver interrupts the turn that begins now. */
    turnSignal(): AbortSignal {
      state.turn = new AbortController();
      return state.turn.signal;
    },
    /** From here on warnings go to the log, and so to the driver as one of its lines. */
    warnIn(log: EventLog): void {
      state.warn = (text) => log.append({ type: "warning", text });
    },
    takeSteering: () => state.steering.splice(0).map((content) => ({ content })),
    settle: (call, denied) => ask(state, call, denied),
  } satisfies SessionDriver & Record<string, unknown>;
}

function endInput(state: State): void {
  state.ended = true;
  state.waiting?.(undefined);
  for (const answer of state.questions.values())
    answer({ behavior: "deny", message: "The driving program has closed its input." });
}

function next(state: State, signal: AbortSignal | undefined): Promise<UserBlock[] | undefined> {
  const queued = state.queue.shift();
  if (queued || state.ended || signal?.aborted) return Promise.resolve(signal?.aborted ? undefined : queued);
  return new Promise((resolve) => {
    state.waiting = (blocks) => {
      state.waiting = undefined;
      resolve(blocks);
    };
    signal?.addEventListener("abort", () => state.waiting?.(undefined), { once: true });
  });
}

type Line = {
  type?: unknown;
  message?: { content?: unknown };
  priority?: unknown;
  request_id?: unknown;
  request?: { subtype?: unknown };
  response?: {
    subtype?: unknown;
    request_id?: unknown;
    response?: { behavior?: unknown; message?: unknown };
  };
};

function takeLine(state: State, text: string, number: number): void {
  const line = parsed(text);
  switch (line?.type) {
    case "user": {
      const blocks = blocksOf(line.message?.content);
      if (!blocks) break;
      if (line.priority === "now") state.steering.push(blocks);
      else if (state.waiting) state.waiting(blocks);
      else state.queue.push(blocks);
      return;
    }
    case "control_request":
      takeRequest(state, line);
      return;
    case "control_response":
      takeAnswer(state, line.response);
      return;
  }
  state.warn(`line ${number} of standard input was not understood: ${shapeHint}`);
}

function parsed(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Accepts text only: a string, or blocks of text. */
function blocksOf(content: unknown): UserBlock[] | undefined {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (!Array.isArray(blocks) || blocks.length === 0) return undefined;
  const texts = blocks.map((block: { type?: unknown; text?: unknown } | null) =>
    block?.type === "text" && typeof block.text === "string" ? block.text.toWellFormed() : undefined,
  );
  if (texts.some((text) => text === undefined) || texts.join("").trim() === "") return undefined;
  return texts.map((text) => ({ type: "text", text: text ?? "" }));
}

function takeRequest({ turn, write }: State, { request_id, request }: Line): void {
  const known = request?.subtype === "interrupt";
  if (known) turn.abort("interrupted");
  const error = `unknown control request ${JSON.stringify(request?.subtype ?? null)}: there is interrupt`;
  const outcome = known ? { subtype: "success" } : { subtype: "error", error };
  write({ type: "control_response", response: { ...outcome, request_id } });
}

function takeAnswer({ questions }: State, response: Line["response"]): void {
  const { behavior, message } = response?.response ?? {};
  const allowed = response?.subtype === "success" && behavior === "allow";
  const say = typeof message === "string" && message !== "" ? message : "The driving program said no.";
  questions.get(String(response?.request_id))?.(
    allowed ? { behavior: "allow" } : { behavior: "deny", message: say.toWellFormed() },
  );
}

/** Asks the driver for a decision; no after a minute, at the end of its input, and when the turn is stopped. */
async function ask(
  state: State,
  { toolName, input, signal }: Parameters<SettleHeadless>[0],
  denied: Parameters<SettleHeadless>[1],
): Promise<Permission> {
  if (state.ended) return denied;
  const id = `permission_${crypto.randomUUID()}`;
  const reply = await new Promise<Reply>((resolve) => {
    const no = (message: string) => resolve({ behavior: "deny", message });
    setTimeout(() => no(`The driving program did not answer in ${answerMs / 1000} s.`), answerMs).unref();
    signal.addEventListener("abort", () => no("Stopped while waiting for an answer."), { once: true });
    state.questions.set(id, resolve);
    const request = { subtype: "can_use_tool", tool_name: toolName, input, suggested_rule: denied.rule };
    state.write({ type: "control_request", request_id: id, request });
  });
  state.questions.delete(id);
  const record = { rule: denied.rule, by: "driver" as const };
  const { reason = "" } = denied.asked ?? {};
  if (reply.behavior === "allow") return { decision: "allow", ...record, asked: { reason } };
  const { message } = reply;
  const unanswered = signal.aborted;
  const details = { reason, say: message, ...(unanswered ? { unanswered } : {}) };
  return { decision: "deny", ...record, asked: details, reason: message };
}
