/** Lists the steps of a session as rows: expected and reported size, cache, cost, estimate error. Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import {
  cacheLifeMs,
  costOf,
  inputTotal,
  type ModelCard,
  type Usage,
  usualLife,
} from "../../core/model-card.ts";
import { calibrate, uncalibrated } from "../view/tokens.ts";

/** Reason for a cache miss. `unexpected`: nothing in the log explains it. */
export type Miss = "edit" | "cold" | "model" | "unexpected";

/** One request; `step` counts from 1 as `report --step` does. Without `usage` no reply was reported (yet). */
export type StepRow = {
  step: number;
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Estimated input tokens, calibrated by the reports until then. */
  expected: number;
  /** Input tokens: reported, else expected. */
  tokens: number;
  usage?: Usage;
  /** Dollars. */
  cost: number;
  miss?: Miss;
  /** Tokens that could have been forgotten, but were sent because forgetting did not pay yet. */
  deferredTokens: number;
  retries: number;
  durationMs: number;
  /** Names of the called tools. */
  calls: string[];
};

/** Reads the steps of a log event by event. A row changes until the next begins; all are in `rows`. */
export function stepReader(): {
  rows: readonly StepRow[];
  /** Those with reported usage. */
  answered: readonly (StepRow & { usage: Usage })[];
  take(event: LogEvent): void;
} {
  const rows: StepRow[] = [];
  const answers: (StepRow & { usage: Usage })[] = [];
  let model: ModelCard | undefined;
  let cache: Cache = { tokens: 0, at: 0, lifeMs: 0 };
  let disturbed: "edit" | "model" | undefined;
  let calibration = uncalibrated;
  const take = (event: LogEvent): void => {
    const row = rows.at(-1);
    if (event.type === "session_started") model = event.model;
    else if (event.type === "model_changed") {
      model = event.model;
      disturbed = "model";
    } else if (event.type === "context_edited") disturbed ??= "edit";
    else if (event.type === "model_request")
      rows.push(requestRow(event, rows.length + 1, calibration.factor));
    else if (event.type === "model_failed" && event.attempt > 0 && row) row.retries += 1;
    else if (isAnswer(event, row) && row && model) {
      const miss = missOf(event.usage, cache, row.at, disturbed);
      answers.push(Object.assign(row, answered(event, model), miss ? { miss } : {}));
      const { cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = event.usage;
      const lifeMs = cacheLifeMs[usualLife(model.contract)];
      cache = { tokens: cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens, at: row.at, lifeMs };
      disturbed = undefined;
    }
    calibration = calibrate(calibration, event);
  };
  return { rows, answered: answers, take };
}

/** Returns true for the first reply with usage to the request of `row`. */
function isAnswer(event: LogEvent, row: StepRow | undefined): event is EventOf<"assistant_message"> {
  return event.type === "assistant_message" && row !== undefined && !row.usage && inputTotal(event.usage) > 0;
}

function requestRow(event: EventOf<"model_request">, step: number, factor: number): StepRow {
  const expected = Math.ceil(event.tokensEstimated * factor);
  const { seq, at, deferredTokens = 0 } = event;
  return {
    step,
    seq,
    at,
    expected,
    tokens: expected,
    cost: 0,
    deferredTokens,
    retries: 0,
    durationMs: 0,
    calls: [],
  };
}

function answered(event: EventOf<"assistant_message">, { prices }: ModelCard) {
  const { usage, durationMs, content } = event;
  const calls = content.flatMap((block) =>
    isToolUse(block) || block.type === "server_tool_use" ? [block.name] : [],
  );
  return { usage, tokens: inputTotal(usage), cost: costOf(usage, prices), durationMs, calls };
}

/** Tokens that the last answered request left in the cache, when it was sent, and how long they live. */
type Cache = { tokens: number; at: number; lifeMs: number };

/** Returns the reason for a miss. After a fold less is read because less was sent, which is no miss. */
function missOf(usage: Usage, cache: Cache, at: number, disturbed: Miss | undefined): Miss | undefined {
  if (usage.cacheReadTokens >= 0.9 * Math.min(cache.tokens, inputTotal(usage))) return undefined;
  if (disturbed === "model") return disturbed;
  return at - cache.at > cache.lifeMs ? "cold" : (disturbed ?? "unexpected");
}

/** Returns the share of a step's input from the cache, 0 to 1; undefined without reported usage. */
export function hitRate({ usage }: Pick<StepRow, "usage">): number | undefined {
  return usage && inputTotal(usage) > 0 ? usage.cacheReadTokens / inputTotal(usage) : undefined;
}

/** Returns the estimate's error as a share of the reported size; negative when too low. */
export function estimateError({ usage, expected }: Pick<StepRow, "usage" | "expected">): number | undefined {
  return usage ? expected / inputTotal(usage) - 1 : undefined;
}
