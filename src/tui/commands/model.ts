/** `/model`: a list of models with search, the cost of a change, and the change. */

import { formatTokens, money } from "../../context/report/amounts.ts";
import { type SwitchCost, switchCost } from "../../context/report/switch-cost.ts";
import type { LogEvent } from "../../core/events.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { allOf } from "../../core/questions.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import type { ModelChoice, Models } from "../ports/session-actions.ts";
import type { PickRequest } from "../ports/sessions.ts";
import { type Row, safe } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const modelCommands: readonly Command[] = [
  {
    name: "model",
    summary: "switch to another model, from a list or by name",
    argument: "provider/id",
    run: chooseModel,
  },
];

async function chooseModel(typed: string, context: CommandContext): Promise<void> {
  const { host, busy, notice, pick, work } = context;
  if (busy) return notice(busyNotice);
  const name = typed || (await pick(modelsRequest(host.actions.models(), context, Date.now())));
  if (name === undefined) return;
  // Input before the answer waits: no turn may begin in between.
  await work("Looking for the model", (signal) => changeModel(name, context, signal));
}

async function changeModel(name: string, context: CommandContext, signal: AbortSignal): Promise<void> {
  const { host, events, notice, confirm } = context;
  const models = host.actions.models();
  const choice = await host.actions.findModel(name);
  const { id } = choice.card;
  if (id === models.current) return notice(`${id} is already the model`);
  const isNoted = allOf(events, "assistant_message").length > 0 || choice.warnings.length > 0;
  if (isNoted && !(await confirm(`Switch to ${short(id)}?`, costRows(choice, models.current), signal)))
    return notice(`Still using ${models.current}`);
  choice.take();
}

/** Returns a model id without its provider. */
function short(id: string): string {
  return safe(id.replace(/^.*?\//, ""));
}

/** Returns the list to choose from: window and prices beside each, and what changing to the marked one costs. */
function modelsRequest(
  { listed, current, others }: Models,
  { events }: CommandContext,
  now: number,
): PickRequest {
  const cards = new Map(listed.map(({ card }) => [card.id, card]));
  return {
    title: others === undefined ? "Models" : `Models · ${others}`,
    enter: "switches",
    empty: "no model is known",
    items: listed.map(({ card, lacking }) => ({
      id: card.id,
      label: safe(card.id),
      facts: modelFacts(card),
      mark: card.id === current ? "current" : lacking,
    })),
    preview: (id) => ({ rows: previewOf(cards.get(id), { events, current, now }), keep: "beginning" }),
  };
}

/** Returns window and prices of a model, as lists show them. */
export function modelFacts(card: ModelCard): string[] {
  return [formatTokens(card.window), ...pricesOf(card)];
}

function pricesOf({ prices: { input, output, cacheRead } }: ModelCard): string[] {
  return output === 0 ? ["no price is known"] : [`$${input} in, $${output} out`, `$${cacheRead} cached`];
}

type Now = { events: readonly LogEvent[]; current: string; now: number };

/** Shows facts of a model, and what changing to it costs. */
function previewOf(card: ModelCard | undefined, { events, current, now }: Now): Row[] {
  if (!card) return [];
  const facts = `${formatInteger(card.window)} tokens of context; a million tokens: ${pricesOf(card).join(", ")}`;
  const first: Row = [{ text: facts, tone: "dim" }];
  if (card.id === current || allOf(events, "assistant_message").length === 0) return [first];
  return [first, ...costRows({ card, cost: switchCost(events, card, now), warnings: [] }, current)];
}

/** Describes the losses and the cost of a change, in sentences. */
function costRows({ card, cost, warnings }: Omit<ModelChoice, "take">, current: string): Row[] {
  const { tokens, cached, next, stay, later } = cost;
  const prices = card.prices.output > 0;
  const now = prices ? `: ${money(next)} for it` : "";
  const compared = stay > 0 ? `, where ${short(current)} would take ${money(stay)}` : "";
  const after = prices && later >= 0.00005 && later < next ? ` Each step after it: ${money(later)}.` : "";
  return [
    cached > 0
      ? `${formatInteger(cached)} cached tokens are lost.`
      : "Nothing is lost from the cache: it holds nothing of this context now.",
    `The next request reads about ${formatInteger(tokens)} tokens again${now}${prices ? compared : ""}.${after}`,
    ...thinkingText(cost),
    ...(tokens > cost.soft
      ? [
          `Its soft window is ${formatInteger(cost.soft)} tokens: the context is shortened before the next request.`,
        ]
      : []),
    ...warnings,
  ].map((text) => [{ text: safe(text) }]);
}

function thinkingText({ thinking: { tokens, gone } }: SwitchCost): string[] {
  if (tokens === 0) return [];
  return [
    `About ${formatInteger(tokens)} tokens of thinking are ${gone ? "dropped for good" : "not sent to it"}: its API does not accept another model's thinking.`,
  ];
}
