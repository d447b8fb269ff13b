/** The permission callback of a program, as the person of a session. */

import type { Person } from "../app/session.ts";
import type { RuleScope } from "../core/decision.ts";
import { violations } from "../core/schema.ts";
import { describeCall } from "../core/tool-calls.ts";
import type { Answer, Question } from "../tui/ports/session.ts";
import type { AgentOptions, PermissionQuestion } from "./surface.ts";

type Callback = NonNullable<AgentOptions["permission"]>;

/** An answer that came too late, or none. */
const unanswered: Answer = { decision: "deny", say: "" };

/** Asks the callback. It denies the call when it throws or answers with something else, of which `warn` tells. */
export function asking(permission: Callback, warn: (text: string) => void): Person["ask"] {
  return async (question, signal, onShown) => {
    onShown?.();
    const { promise: stopped, resolve } = Promise.withResolvers<Answer>();
    const stop = () => resolve(unanswered);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await Promise.race([stopped, answered(permission, questionOf(question), { signal, warn })]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
}

async function answered(
  permission: Callback,
  question: PermissionQuestion,
  { signal, warn }: { signal: AbortSignal; warn(text: string): void },
): Promise<Answer> {
  const failed = (what: string): Answer => {
    if (!signal.aborted) warn(`the permission callback ${what}; ${question.title} was denied`);
    return unanswered;
  };
  if (signal.aborted) return unanswered;
  try {
    const answer: unknown = await permission(question, signal);
    return (
      answerOf(answer) ??
      failed(`answered ${shown(answer)}, not { decision: "allow" } or { decision: "deny" }`)
    );
  } catch (error) {
    return failed(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function questionOf({ toolUseId, toolName, input, facts, reason, suggestion, connection }: Question) {
  const { verb, subject } = facts ?? describeCall({ name: toolName, input });
  return {
    ...{ tool: toolName, input, reason },
    title: connection?.title ?? `${verb} ${subject}`.trim(),
    ...(suggestion === undefined ? {} : { rule: suggestion }),
    ...(toolUseId === undefined ? {} : { toolUseId }),
  };
}

const text = { type: "string" } as const;
const scopes: readonly RuleScope[] = ["session", "project", "user"];
const remember = {
  type: "object",
  properties: { rule: text, scope: { type: "string", enum: scopes } },
  required: ["rule", "scope"],
} as const;
const shape = {
  type: "object",
  properties: { decision: { type: "string", enum: ["allow", "deny"] }, say: text, remember },
  required: ["decision"],
} as const;

/** Returns undefined for a value that is no answer. */
function answerOf(value: unknown): Answer | undefined {
  if (violations(shape, value).length > 0) return undefined;
  const answer = value as Answer & { say?: string };
  return answer.decision === "deny" ? { decision: "deny", say: answer.say ?? "" } : answer;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, 100).toWellFormed();
}
