/** `/model`: lists models, shows the cost of a change, and makes it. */

import { formatTokens, money } from "../../context/report/amounts.ts";
import type { SwitchCost } from "../../context/report/switch-cost.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { allOf } from "../../core/questions.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import type { ModelChoice, Models } from "../ports/session-actions.ts";
import { cutRow, type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const modelCommands: readonly Command[] = [
  {
    name: "model",
    summary: "list the models; switch to another",
    argument: "provider/id",
    run: chooseModel,
  },
];

async function chooseModel(name: string, context: CommandContext): Promise<void> {
  const { host, columns, busy, notice, print, work } = context;
  if (name === "") return print(modelRows(host.actions.models(), columns));
  if (busy) return notice(busyNotice);
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

/** Returns one line per model with window and prices; the current one is marked. */
function modelRows({ cards, current, lacking }: Models, columns: number): Row[] {
  const width = Math.max(...cards.map(({ id }) => id.length));
  const priced = columns >= width + 44;
  return [
    [{ text: "  Models", tone: "heading" }],
    ...cards.map((card): Row => {
      const marked = card.id === current;
      return cutRow(
        [
          { text: marked ? "  ● " : "    ", tone: "accent" },
          { text: safe(card.id).padEnd(width), ...(marked ? { tone: "strong" as const } : {}) },
          { text: `  ${formatTokens(card.window).padStart(4)}${priced ? pricesOf(card) : ""}`, tone: "dim" },
        ],
        columns,
      );
    }),
    ...lacking.flatMap((text) => wrap([{ text: `  ${safe(text)}`, tone: "dim" }], columns, "  ")),
    ...wrap(
      [{ text: "  /model <provider/id> switches; you see the cost before it happens.", tone: "dim" }],
      columns,
      "  ",
    ),
  ];
}

function pricesOf({ prices }: ModelCard): string {
  if (prices.output === 0) return "  no price is known";
  return `  $${prices.input} in, $${prices.output} out, $${prices.cacheRead} cached`;
}

/** Describes the losses and the cost of a change, in sentences. */
function costRows({ card, cost, warnings }: ModelChoice, current: string): Row[] {
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
