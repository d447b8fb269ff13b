/** Makes one model call: sends it, logs it, and classifies its failures. */

import type { Planned } from "../context/policies/planner.ts";
import { watchRepetition } from "../context/reminders/repetition.ts";
import { unexpectedMiss } from "../context/request/cache-miss.ts";
import type { Composed } from "../context/request/compose.ts";
import { type AssistantBlock, isCarried, isSearch, isThinking, isToolUse } from "../core/blocks.ts";
import { withOwnIds } from "../core/call-ids.ts";
import type { EventOf } from "../core/events.ts";
import { noUsage } from "../core/model-card.ts";
import { ModelError, type ModelPart, type ModelReply } from "../core/ports.ts";
import { findCall } from "../core/questions.ts";
import { wellFormedValue } from "../core/text/clean-text.ts";
import type { Agent, StepOutcome } from "./agent.ts";
import { learnWindow } from "./learned-window.ts";
import { repair } from "./repair.ts";
import { discardReply } from "./watching.ts";

/** Sends the request and appends its outcome. */
export async function sendStep(
  agent: Agent,
  composed: Composed,
  { deferredTokens, flushTokens }: Planned,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { request, estimated } = composed;
  const body = agent.model.encode(request);
  agent.log.append({
    type: "model_request",
    bodyHash: agent.hash(body),
    tokensEstimated: estimated,
    cacheAfter: request.cacheAfter,
    ...(deferredTokens > 0 ? { deferredTokens, flushTokens } : {}),
  });
  const sentAt = agent.clock();
  const listener = listen(agent);
  try {
    const either = AbortSignal.any([signal, listener.cut]);
    const reply = await agent.model.send(request, body, listener.take, either);
    // It was there as a whole before the cut could reach it.
    if (listener.cut.aborted) return discarded(agent, String(listener.cut.reason));
    return { type: "reply", reply: appendReply(agent, reply, agent.clock() - sentAt) };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (listener.cut.aborted && !signal.aborted) return discarded(agent, String(listener.cut.reason));
    return failed(agent, error, agent.clock() - sentAt);
  }
}

/** Listens to a reply being made; `cut` fires, with what it repeats, when the reply goes round in circles. */
function listen(agent: Agent): { take(part: ModelPart): void; cut: AbortSignal } {
  const controller = new AbortController();
  let watch: ReturnType<typeof watchRepetition> | undefined;
  const take = (part: ModelPart): void => {
    if (part.type === "attempt_failed") {
      const { kind, message, attempt, waitMs } = part;
      agent.log.append({ type: "model_failed", kind, message, attempt, waitMs });
      watch = undefined;
    }
    const spoken = part.type === "text_delta" || part.type === "thinking_delta";
    if (spoken) watch ??= watchRepetition();
    const repeated = spoken ? watch?.feed(part.text) : undefined;
    if (repeated !== undefined) controller.abort(repeated);
    agent.onPart(part);
  };
  return { take, cut: controller.signal };
}

/** Discards the reply: its repetition would only lead the next one to repeat too. */
function discarded(agent: Agent, repeated: string): StepOutcome {
  const limit = discardReply(agent, repeated);
  return limit ? { type: "end", ...limit } : { type: "again" };
}

function appendReply(agent: Agent, reply: ModelReply, durationMs: number): EventOf<"assistant_message"> {
  if (reply.droppedThinking) {
    const text = `the API dropped ${reply.droppedThinking} thinking blocks that no longer match the history`;
    agent.log.append({ type: "warning", code: "thinking_dropped", text });
  }
  const surprise = reply.cacheMissReason && unexpectedMiss(agent.log.events(), reply.cacheMissReason);
  if (surprise) agent.log.append({ type: "warning", code: "cache_missed", text: surprise });
  return agent.log.append({
    type: "assistant_message",
    content: withOwnIds(
      reply.content.map((block) =>
        (isThinking(block) || isSearch(block)) && !isCarried(block)
          ? block
          : (wellFormedValue(block) as AssistantBlock),
      ),
      (id) => findCall(agent.log.events(), id) !== undefined,
    ),
    stopReason: reply.stopReason,
    usage: reply.usage,
    model: reply.model,
    durationMs,
    ...(reply.messageId ? { messageId: reply.messageId } : {}),
  }) as EventOf<"assistant_message">;
}

function failed(agent: Agent, error: ModelError, durationMs: number): StepOutcome {
  if (error.kind === "aborted") {
    keepPartial(agent, error.partial, durationMs);
    return { type: "end", reason: "interrupted" };
  }
  agent.log.append({ type: "model_failed", kind: error.kind, message: error.message, attempt: 0 });
  const why = "the API refused a thinking signature";
  if (error.kind === "bound_thinking" && repair(agent, why, { onlyThinking: true })) return { type: "again" };
  if (error.kind === "context_full" && learnWindow(agent, error.message)) return { type: "again" };
  if (error.kind === "context_full") return { type: "end", reason: "context_full", detail: error.message };
  return { type: "end", reason: "model_error", detail: error.message };
}

/** Keeps the visible part of an interrupted reply; calls in it never ran and are left out. */
function keepPartial(agent: Agent, partial: AssistantBlock[], durationMs: number): void {
  const content = partial.filter((block) => !isToolUse(block));
  if (!content.some((block) => block.type === "text" && block.text.trim() !== "")) return;
  const model = agent.model.card.id;
  agent.log.append({
    type: "assistant_message",
    content,
    stopReason: "interrupted",
    usage: noUsage,
    model,
    durationMs,
  });
}
