/** Reads the end of a hook: exit code and output, as Claude Code defines them. Pure. */

import type { Hook } from "./configuration.ts";
import type { HookEnd } from "./run-hook.ts";

/** Answers of hooks. Several add up, and the strictest holds. */
export type HookVerdict = {
  /** Why what the hook was asked about must not be. */
  block?: string;
  /** Why a person has to be asked about it. */
  ask?: string;
  /** Why the turn ends. */
  stop?: string;
  /** Texts for the model. */
  context: string[];
  /** Lines for the person. */
  messages: string[];
};

/** Returns the verdict of a hook that ended. A hook can refuse and ask; it cannot allow. */
export function verdictOf({ event, command, onFailure, timeoutMs }: Hook, end: HookEnd): HookVerdict {
  const name = hookName(event, command);
  const failed = (why: string): HookVerdict => {
    const text = `the hook ${name} ${why}`;
    return { context: [], messages: [text], ...(onFailure === "block" ? { block: text } : {}) };
  };
  switch (end.type) {
    case "cancelled":
      return { context: [], messages: [] };
    case "timed_out":
      return failed(`was ended after ${timeoutMs / 1000} s`);
    case "failed":
      return failed(`did not start: ${end.why}`);
    case "ended":
      break;
  }
  const cut = end.cut ? [`the hook ${name} wrote more than 64 kB, and the rest was not read`] : [];
  if (end.code === 2) {
    const refusal = blocked(event, end.stderr || `The hook ${name} said no.`);
    return { ...refusal, messages: [...refusal.messages, ...cut] };
  }
  if (end.code !== 0) {
    const reason = end.stderr.split("\n", 1)[0] ?? "";
    const failure = failed(`ended with ${end.code ?? "a signal"}${reason ? `: ${reason}` : ""}`);
    return { ...failure, messages: [...failure.messages, ...cut] };
  }
  const output = end.stdout.startsWith("{") ? objectIn(end.stdout) : undefined;
  if (end.stdout.startsWith("{") && !output && (end.cut || isAsked(event)))
    return failed("wrote JSON that cannot be read");
  if (output) {
    const verdict = verdictIn(event, name, output);
    return { ...verdict, messages: [...verdict.messages, ...cut] };
  }
  // Plain text is for the model where the hook stands before its turn, and for nobody elsewhere.
  const speaks = event === "SessionStart" || event === "UserPromptSubmit";
  return { context: speaks && end.stdout ? [end.stdout] : [], messages: cut };
}

/** Names a hook for people: its moment, and the beginning of its command. */
export function hookName(event: string, command: string): string {
  const line = command.trim().split("\n", 1)[0] ?? "";
  return `${event} (${line.length > 60 ? `${line.slice(0, 59).toWellFormed()}…` : line})`;
}

/** Combines verdicts: of several reasons the first one is kept. */
export function combined(verdicts: readonly HookVerdict[]): HookVerdict {
  const first = (key: "block" | "ask" | "stop") =>
    verdicts.find((verdict) => verdict[key] !== undefined)?.[key];
  const [block, ask, stop] = [first("block"), first("ask"), first("stop")];
  return {
    ...(block === undefined ? {} : { block }),
    ...(ask === undefined ? {} : { ask }),
    ...(stop === undefined ? {} : { stop }),
    context: verdicts.flatMap(({ context }) => context),
    messages: verdicts.flatMap(({ messages }) => messages),
  };
}

/** Returns true where the answer decides about something. */
function isAsked(event: Hook["event"]): boolean {
  return event === "PreToolUse" || event === "UserPromptSubmit" || event === "Stop";
}

/** After a tool has run there is nothing left to block: the model reads the reason. */
function blocked(event: Hook["event"], reason: string): HookVerdict {
  if (event === "PostToolUse") return { context: [reason], messages: [] };
  return isAsked(event) ? { block: reason, context: [], messages: [] } : { context: [], messages: [reason] };
}

type Fields = Readonly<Record<string, unknown>>;

function verdictIn(event: Hook["event"], name: string, output: Fields): HookVerdict {
  const special = fields(output.hookSpecificOutput);
  const permission = text(special.permissionDecision) ?? text(output.decision);
  const reason = text(special.permissionDecisionReason) ?? text(output.reason) ?? `The hook ${name} said no.`;
  const refused = permission === "deny" || output.decision === "block";
  const verdict = refused ? blocked(event, reason) : { context: [], messages: [] };
  const context = text(special.additionalContext);
  const message = text(output.systemMessage);
  return {
    ...verdict,
    ...(permission === "ask" ? { ask: reason } : {}),
    // Ours runs what the model wrote, which a person reads in the log, or nothing.
    ...(special.updatedInput !== undefined && event === "PreToolUse"
      ? { block: `The hook ${name} wants another input than this one. Sawtooth changes no input: ${reason}` }
      : {}),
    ...(output.continue === false
      ? { stop: text(output.stopReason) ?? `the hook ${name} ended the turn` }
      : {}),
    context: [...verdict.context, ...(context === undefined ? [] : [context])],
    messages: [...verdict.messages, ...(message === undefined ? [] : [message])],
  };
}

function objectIn(json: string): Fields | undefined {
  try {
    return fields(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
