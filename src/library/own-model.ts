/** A model made of a function. */

import { UsageError } from "../core/errors.ts";
import { type ModelCard, noUsage } from "../core/model-card.ts";
import type { Model } from "../core/ports.ts";
import type { OwnModel } from "./surface.ts";

const noPrices = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
/** The contract that asks least of a model. */
const plainContract: ModelCard["contract"] = {
  history: "free",
  reminders: "logged",
  toolGating: "none",
  cache: { kind: "none", maxBreakpoints: 0, lookback: 0, minTokens: 0, ttls: ["5m"] },
};
/** Tokens of a reply, of models that do not say. */
const usualOutput = 32_000;

/** Makes the model. Throws `UsageError` for facts that make no sense. */
export function modelOf({ id, window, maxOutput, prices, contract, send }: OwnModel): Model {
  if (typeof id !== "string" || !/^[^/\s]+\/\S+$/.test(id))
    throw new UsageError(`defineModel: the id ${JSON.stringify(id)} must be provider/id, such as "my/model"`);
  if (!(window > 0)) throw new UsageError(`defineModel: window must be a number of tokens above 0`);
  if (typeof send !== "function") throw new UsageError("defineModel: send must be a function");
  const card: ModelCard = {
    ...{ id, window, prices: prices ?? noPrices, thinking: "none" },
    maxOutput: maxOutput ?? Math.min(usualOutput, Math.ceil(window / 4)),
    contract: { ...plainContract, ...contract },
  };
  return {
    card,
    encode: (request) => JSON.stringify(request),
    async send(request, _body, onPart, signal) {
      const { content, stopReason, usage } = await send(request, onPart, signal);
      const called = content.some(({ type }) => type === "tool_use");
      return {
        ...{ content, model: id, usage: usage ?? noUsage },
        stopReason: stopReason ?? (called ? "tool_use" : "end_turn"),
      };
    },
  };
}
