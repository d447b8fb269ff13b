/** Token estimates: bytes over four, calibrated against what the API reported. Pure. */

import type { Block, ToolChangeBlock, ToolUseBlock } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { memoizeBy, memoizedReduce } from "../../core/memoize.ts";
import { inputTotal } from "../../core/model-card.ts";
import { utf8Length } from "../../core/text/clean-text.ts";

export function textTokens(text: string): number {
  return Math.ceil(utf8Length(text) / 4);
}

/** An image costs about 1,600 tokens at the size the API scales it to (vendor's vision guide). */
const imageTokens = 1600;

/** Estimated tokens of one block, uncalibrated. */
export const blockTokens: (block: Block) => number = memoizeBy(countedTokens);

function countedTokens(block: Block): number {
  switch (block.type) {
    case "text":
      return textTokens(block.text);
    case "thinking":
      return textTokens(block.thinking) + textTokens(block.signature);
    case "redacted_thinking":
      return textTokens(block.data);
    case "tool_use":
      return textTokens(block.name) + textTokens(JSON.stringify(block.input)) + 12 + signatureTokens(block);
    case "tool_result":
      return typeof block.content === "string"
        ? textTokens(block.content) + 12
        : blocksTokens(block.content) + 12;
    case "server_tool_use":
      return textTokens(JSON.stringify(block.wire?.item ?? block));
    case "web_search_tool_result":
      // Over Responses its search holds it.
      return block.wire ? 0 : textTokens(JSON.stringify(block));
    case "image":
      return imageTokens;
    case "tool_removal":
    case "tool_addition":
      return changeTokens(block.tool);
  }
}

function changeTokens(tool: ToolChangeBlock["tool"]): number {
  return textTokens(tool.type === "tool_reference" ? tool.name : JSON.stringify(tool.definition)) + 12;
}

/** Tokens of what a server signed a call with. */
function signatureTokens({ wire }: ToolUseBlock): number {
  return wire?.api === "chat" ? textTokens(JSON.stringify(wire.extra_content)) : 0;
}

export function blocksTokens(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + blockTokens(block), 0);
}

/** Estimated tokens of what stands before the messages: system text and tool definitions, uncalibrated. */
export const fixedTokens = memoizedReduce(
  () => 0,
  (tokens, event) =>
    event.type === "session_started"
      ? textTokens(event.system) + textTokens(JSON.stringify(event.tools))
      : tokens,
);

/**
 * Returns the tokens that the API counted for the newest answered request, over the estimate for it. 1 until a reply
 * reported usage; clamped to 0.5–3 so that one odd report cannot derail the engine.
 */
export function calibration(events: readonly LogEvent[]): number {
  return calibrating(events).factor;
}

/** The calibration up to some event of a log; `estimated` is that of the newest request. */
export type Calibrating = { factor: number; estimated: number };

/** The calibration of an empty log. */
export const uncalibrated: Calibrating = { factor: 1, estimated: 0 };

/** The calibration after one more event. */
export function calibrate(state: Calibrating, event: LogEvent): Calibrating {
  if (event.type === "model_request") return { ...state, estimated: event.tokensEstimated };
  if (event.type !== "assistant_message" || inputTotal(event.usage) === 0) return state;
  const ratio = state.estimated === 0 ? 1 : inputTotal(event.usage) / state.estimated;
  return { ...state, factor: Math.min(3, Math.max(0.5, ratio)) };
}

const calibrating = memoizedReduce(() => uncalibrated, calibrate);
