/**
 * `npm run cards`: takes windows and prices of the models in `src/models/cards.json` from a published package, by exact
 * version and integrity, and shows what changed. Which models there are, and what their APIs accept, is written in that
 * file by hand: data from outside never decides what is legal.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelCard, Prices } from "../src/core/model-card.ts";

/** The package with the figures (MIT). `date`: of the data in it, which `sawtooth doctor` looks at. */
const source = {
  package: "@earendil-works/pi-ai",
  version: "1.5.2",
  integrity:
    "sha512-2tWPSnV3qzfiDIY3aWluBag3vC++Vs+VsXt/UquSU5onPMohPih72FUhIhaqmDdMYubOgB3Byl9uF4Vk40JLvQ==",
  date: "2026-11-10",
};

/** Names of our providers in the package, where they differ. */
const theirNames: Record<string, string> = {
  gemini: "google",
  moonshot: "moonshotai",
  qwen: "qwen-token-plan",
};

type Figures = Pick<ModelCard, "window" | "maxOutput" | "prices">;
type Card = { id: string } & Partial<Figures> & Record<string, unknown>;
type TheirPrices = { input: number; output: number; cacheRead: number; cacheWrite: number };
type TheirModel = {
  id: string;
  type?: string;
  contextWindow: number;
  maxTokens: number;
  cost: TheirPrices & { tiers?: (TheirPrices & { inputTokensAbove: number })[] };
};

const file = join(import.meta.dirname, "../src/models/cards.json");

/** Returns the folder of the unpacked package. Throws when it is not the pinned one. */
function fetchPackage(folder: string): string {
  const name = `${source.package}@${source.version}`;
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", name, "--json", "--silent"], { cwd: folder, encoding: "utf8" }),
  ) as { filename: string }[];
  const archive = join(folder, packed?.filename ?? "");
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (integrity !== source.integrity)
    throw new Error(`${name} has another integrity than the pinned one: ${integrity}`);
  execFileSync("tar", ["xzf", archive, "-C", folder]);
  return join(folder, "package");
}

function modelsOf(folder: string, provider: string): TheirModel[] {
  const path = join(folder, "dist/providers/data", `${theirNames[provider] ?? provider}.json`);
  const byApi = JSON.parse(readFileSync(path, "utf8")) as Record<string, Record<string, TheirModel>>;
  return Object.values(byApi)
    .flatMap((models) => Object.values(models))
    .filter(({ type = "chat" }) => type === "chat");
}

/**
 * Anthropic writes for an hour at twice the input; elsewhere there is one price for writing. Where reading from the
 * cache has no price of its own it costs what input does.
 */
function pricesOf(provider: string, { cost }: TheirModel): Prices {
  const { input, output, cacheRead, cacheWrite } = cost;
  const cacheWrite1h = provider === "anthropic" ? rounded(2 * input) : cacheWrite;
  const prices = { input, output, cacheRead: cacheRead || input, cacheWrite5m: cacheWrite, cacheWrite1h };
  const [tier] = cost.tiers ?? [];
  if (!tier) return prices;
  const factors = { input: rounded(tier.input / input), output: rounded(tier.output / output) };
  return { ...prices, tier: { aboveTokens: tier.inputTokensAbove, ...factors } };
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}

/** Takes the figures from the package and the rest from the card. */
function refreshed(card: Card, folder: string): Card {
  const [provider = "", ...rest] = card.id.split("/");
  const model = modelsOf(folder, provider).find(({ id }) => id === rest.join("/"));
  if (!model) throw new Error(`${source.package} ${source.version} has no model ${card.id}: remove its card`);
  const { id, window: _, maxOutput: __, prices: ___, ...ours } = card;
  return {
    ...{ id, window: model.contextWindow, maxOutput: model.maxTokens },
    ...{ prices: pricesOf(provider, model), ...ours },
  };
}

/** Lists the differences of two cards, one line each. */
function differences(before: Card, after: Card): string[] {
  const keys = ["window", "maxOutput", "prices"] as const;
  return keys.flatMap((key) => {
    const [old, now] = [JSON.stringify(before[key]), JSON.stringify(after[key])];
    return old === now ? [] : [`${after.id} ${key}: ${old ?? "none"} → ${now}`];
  });
}

const folder = mkdtempSync(join(tmpdir(), "sawtooth-cards-"));
try {
  const unpacked = fetchPackage(folder);
  const data = JSON.parse(readFileSync(file, "utf8")) as { contracts: object; cards: Card[] };
  const cards = data.cards.map((card) => refreshed(card, unpacked));
  const { integrity: _, ...from } = source;
  writeFileSync(file, `${JSON.stringify({ source: from, contracts: data.contracts, cards }, null, 2)}\n`);
  execFileSync("npx", ["biome", "format", "--write", file], { stdio: "ignore" });
  const changed = cards.flatMap((card, index) => differences(data.cards[index] ?? { id: card.id }, card));
  for (const line of changed) console.log(line);
  console.log(`${cards.length} cards, ${changed.length} figures changed`);
} finally {
  rmSync(folder, { recursive: true });
}
