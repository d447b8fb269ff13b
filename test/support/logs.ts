/** Builds logs for tests: an in-memory EventLog, cards, and short makers of events. */

import { type AssistantBlock, isToolUse } from "../../src/core/blocks.ts";
import type { EventBody, LogEvent, Task } from "../../src/core/events.ts";
import { type ModelCard, noUsage } from "../../src/core/model-card.ts";
import type { EventLog } from "../../src/core/ports.ts";
import { recital } from "../../src/core/task-list.ts";
import { toolNames } from "../../src/core/tool-calls.ts";
import { commandPurpose } from "../../src/permissions/bash/purpose.ts";

/** A clock that moves one second a look. */
export function fixedClock(start = Date.UTC(2026, 10, 20)): () => number {
  let now = start;
  return () => {
    now += 1000;
    return now;
  };
}

export function memoryLog(bodies: readonly EventBody[] = [], clock = fixedClock()): EventLog {
  const events: LogEvent[] = [];
  const listeners = new Set<(event: LogEvent) => void>();
  const log: EventLog = {
    append(body) {
      const event: LogEvent = { seq: events.length, at: clock(), ...body };
      events.push(event);
      for (const listener of listeners) listener(event);
      return event;
    },
    events: () => events,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  for (const body of bodies) log.append(body);
  return log;
}

export function testCard(
  history: "free" | "prefix_bound" = "free",
  changes: Partial<ModelCard> = {},
): ModelCard {
  return {
    id: "anthropic/test",
    window: 200_000,
    maxOutput: 64_000,
    prices: { input: 2, output: 10, cacheRead: 0.2, cacheWrite5m: 2.5, cacheWrite1h: 4 },
    thinking: "adaptive",
    contract: {
      history,
      reminders: history === "free" ? "tail" : "turn_scoped",
      toolGating: "none",
      cache: { kind: "breakpoints", maxBreakpoints: 4, lookback: 20, minTokens: 512, ttls: ["5m", "1h"] },
    },
    ...changes,
  };
}

export function started(card = testCard()): EventBody {
  return {
    type: "session_started",
    sessionId: "20261120-000000-test",
    cwd: "/w/app",
    folder: "/s/1",
    model: card,
    system: "You are a test.",
    tools: [{ name: "bash", description: "runs", input_schema: { type: "object" } }],
    context: "focus",
  };
}

export function user(text: string): EventBody {
  return { type: "user_message", content: [{ type: "text", text }] };
}

export function reply(...content: AssistantBlock[]): EventBody {
  const calls = content.some((block) => block.type === "tool_use");
  return {
    type: "assistant_message",
    content,
    stopReason: calls ? "tool_use" : "end_turn",
    usage: { ...noUsage, inputTokens: 100, outputTokens: 10 },
    model: "anthropic/test",
    durationMs: 5,
  };
}

export function text(words: string): AssistantBlock {
  return { type: "text", text: words };
}

export function thinking(words: string): AssistantBlock {
  return { type: "thinking", thinking: words, signature: `sig:${words}` };
}

export function call(id: string, name = "bash", input: unknown = { command: id }): AssistantBlock {
  return { type: "tool_use", id, name, input };
}

export function result(
  id: string,
  content = `output of ${id}`,
  toolName = "bash",
  isError = false,
): EventBody {
  return { type: "tool_result", toolUseId: id, toolName, content, isError };
}

/** The result of a `todo` call that wrote this list. */
export function listed(id: string, ...tasks: Task[]): EventBody {
  return {
    type: "tool_result",
    toolUseId: id,
    toolName: "todo",
    content: recital(tasks),
    isError: false,
    tasks,
  };
}

/** A turn of two steps under way, each with one call. */
export function twoSteps(): EventBody[] {
  return [started(), user("go"), reply(call("a")), result("a"), reply(call("b")), result("b")];
}

/** The same events, with what each command was for recorded beside its result, as the bash tool records it. */
export function withPurposes(bodies: readonly EventBody[]): EventBody[] {
  const commands = new Map<string, string>();
  return bodies.map((body) => {
    if (body.type === "assistant_message")
      for (const { id, name, input } of body.content.filter(isToolUse))
        if (name === toolNames.bash) commands.set(id, String((input as { command?: string }).command ?? ""));
    const command = body.type === "tool_result" ? commands.get(body.toolUseId) : undefined;
    if (body.type !== "tool_result" || command === undefined) return body;
    return { ...body, stats: { ...body.stats, purpose: commandPurpose(command, "/w") } };
  });
}
