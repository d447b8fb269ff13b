import { describe, expect, test } from "vitest";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { liveView } from "../../src/tui/app/live.ts";
import { type Action, initialState, reduce, type State } from "../../src/tui/app/state.ts";
import { commands } from "../../src/tui/commands/commands.ts";
import { onKey } from "../../src/tui/input/on-key.ts";
import { width } from "../../src/tui/rows/rows.ts";
import { frameOf } from "../support/frame.ts";
import { memoryLog, started } from "../support/logs.ts";
import { seededRandom } from "../support/random.ts";
import { sized } from "../support/size.ts";

function stateOf([columns, rows]: readonly [number, number]): {
  state: State;
  log: ReturnType<typeof memoryLog>;
} {
  const log = memoryLog([started()]);
  const location = { cwd: "/w/日本", shortCwd: "~/日本", branch: "main" };
  const state = initialState({
    size: { columns, rows },
    mode: "ask",
    location,
    commands,
    typed: ["old"],
    events: log.events(),
  });
  return { state, log };
}

const words = [
  "short",
  "日本語の文",
  "x".repeat(300),
  "two\nlines",
  "",
  "tab\there",
  "e\u0301",
  "- item",
  "```",
  "| a | b |",
];

/** Something that may happen, by number. */
function happening(number: number, text: string): Action[] {
  const call = { type: "tool_use" as const, id: "1", name: "bash", input: { command: text } };
  const event = (body: EventBody): Action[] => {
    const log = memoryLog([started(), body]);
    return [{ type: "event", event: log.events()[1] as never, events: log.events() }];
  };
  const reply = {
    stopReason: "",
    model: "m",
    durationMs: 1,
    usage: {
      inputTokens: 5e4,
      cacheReadTokens: 1e5,
      cacheWrite5mTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 9,
    },
  };
  switch (number) {
    case 0:
      return [{ type: "part", part: { type: "text_delta", text }, now: 0 }];
    case 1:
      return [{ type: "turn_started", now: 0 }];
    case 2:
      return event({ type: "assistant_message", content: [call, { ...call, id: "2" }], ...reply });
    case 3:
      return [{ type: "progress", id: "1", text: `${text}\n`.repeat(9) }];
    case 4:
      return [
        {
          type: "asked",
          id: 1,
          question: {
            toolName: "bash",
            input: { command: text },
            reason: text,
            suggestion: `bash(${text}:*)`,
          },
        },
      ];
    case 5:
      return event({
        type: "reminder",
        channel: "logged",
        text,
        todo: `- [x] a\n- [>] ${text.replaceAll("\n", " ")}\n${"- [ ] more\n".repeat(8)}`,
      });
    case 6:
      return [{ type: "withdrawn", id: 1 }];
    case 7:
      return [{ type: "notice", text: text.replaceAll("\n", " ") }];
    default:
      return event({ type: "model_failed", kind: "network", message: text, attempt: 1, waitMs: 5 });
  }
}

describe("the live area", () => {
  test("is lower than the window, no wider than it, and holds the cursor, whatever happens", () => {
    const random = seededRandom(3);
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
    for (let round = 0; round < sized(150, 400); round++) {
      const size = pick([
        [80, 24],
        [40, 10],
        [20, 5],
        [120, 40],
        [12, 4],
      ] as const);
      let { state } = stateOf(size);
      for (let step = 0; step < 12; step++) {
        for (const action of happening(Math.floor(random() * 9), pick(words)))
          state = reduce(state, action).state;
        const key = pick(["up", "down", "ctrl-r", "alt-enter", "5", "/", "@", "left"]);
        state = onKey(
          state,
          random() < 0.5 ? { type: "text", text: pick(words) || "y" } : { type: "key", key },
          5000 * step,
        ).state;
      }
      const view = liveView(state, 60_000);
      const { lines, caret } = frameOf(view, { colour: true });
      expect(lines.length).toBeLessThan(size[1]);
      expect(Math.max(...lines.map((line) => width(line)))).toBeLessThanOrEqual(size[0]);
      expect(caret.row).toBeGreaterThanOrEqual(0);
      expect(caret.row).toBeLessThan(lines.length);
      expect(caret.column).toBeLessThan(size[0]);
    }
  });

  test("tells the context, what is held back and the cost in the status", () => {
    const { state, log } = stateOf([100, 24]);
    log.append({
      type: "model_request",
      bodyHash: "",
      tokensEstimated: 60_000,
      cacheAfter: [],
      deferredTokens: 18_000,
      flushTokens: 30_000,
    });
    const usage = {
      inputTokens: 1000,
      cacheReadTokens: 59_000,
      cacheWrite5mTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 500,
    };
    const event = log.append({
      type: "assistant_message",
      content: [],
      stopReason: "end_turn",
      model: "m",
      durationMs: 1,
      usage,
    });
    const after = reduce(state, { type: "event", event, events: log.events() }).state;
    const status = (columns: number) =>
      frameOf(liveView({ ...after, size: { columns, rows: 24 } }, 0)).lines.slice(-2);
    const held = "holding 18k stale tokens";
    expect(status(100)).toEqual([
      "  ask  test  ~/日本 (main)  cache 98 %  $0.019",
      `  context █████····· 60k of 120k  ${held}, $0.0036 a step; flush would cost $0.0690`,
    ]);
    expect(status(80)[1]).toBe(`  context █████····· 60k of 120k  ${held}`);
    expect(status(40)[1]).toBe("  ask  context █████····· 60k of 120k");
  });
});

describe("in a window of 40 by 10", () => {
  test("a running call keeps its name above its output, and the task under way is told", () => {
    let { state } = stateOf([40, 10]);
    for (const number of [1, 2, 3, 5]) {
      for (const action of happening(number, "make check")) state = reduce(state, action).state;
    }
    const lines = frameOf(liveView(state, 60_000)).lines;
    expect(lines.join("\n")).toMatch(/● bash make check[\s\S]*○ bash make check/);
    expect(lines.join("\n")).toContain("next: make check");
  });
});

test("10,000 events are taken over without reading the log anew for each", () => {
  const { state: first } = stateOf([80, 24]);
  const events: LogEvent[] = [{ ...started(), seq: 0, at: 0 } as LogEvent];
  let state = first;
  let read = 0;
  const log = new Proxy(events, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) read += 1;
      return Reflect.get(target, key);
    },
  });
  for (let index = 1; index <= 10_000; index++) {
    const event = { type: "warning", text: "w", seq: index, at: index } as LogEvent;
    events.push(event);
    state = reduce(state, { type: "event", event, events: log }).state;
  }
  expect(read).toBeLessThan(40 * 10_000);
});
