/**
 * The start without a model that can be used: what was found is shown, and the person chooses one, stores a key, or
 * looks at the demo first. Loaded only then.
 */

import { join } from "node:path";
import { converse } from "../../app/conversation.ts";
import { findProviders, type Way as Means, type ProviderState } from "../../app/providers/found.ts";
import { type KeyRow, keyRows, storeFor } from "../../app/stored-keys.ts";
import { folders } from "../../config/folders.ts";
import { readSettings } from "../../config/settings.ts";
import { rememberModel } from "../../config/stored-rules.ts";
import { exitCodeOf, type NoModel } from "../../core/errors.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { modelFacts } from "../../tui/commands/model.ts";
import type { Tui } from "../../tui/ports/session.ts";
import type { PickItem, PickRequest } from "../../tui/ports/sessions.ts";
import type { Flags } from "../arguments/options.ts";
import { typedLine } from "../typed-line.ts";

/** A provider that can be used now, with its models as far as they are known. */
type Found = ProviderState & { way: Means };
type Door = { tui: Tui; flags: Flags; env: NodeJS.ProcessEnv; missing: NoModel };
/** A model to begin with; "named": the one that was asked for, whose key is there now. */
type Way = { model: string } | "named";

/** Lets the person choose until there is a model; undefined when they leave instead. */
export async function firstStart(door: Door): Promise<Way | undefined> {
  for (;;) {
    const found = await lookAround(door);
    const chosen = await door.tui.pick(waysOf(found, door));
    if (chosen === undefined) return undefined;
    const way = await goThrough(chosen, found, door).catch((error: unknown) => {
      if (exitCodeOf(error) === undefined) throw error;
      door.tui.warn((error as Error).message);
      return undefined;
    });
    if (way) return way;
  }
}

/**
 * Milliseconds that servers on this machine have to answer, all at once. Where none listens, that is known at once; one that
 * does is what the person is looking for, however busy it is.
 */
const waitMs = 2000;

async function lookAround({ tui, flags, env }: Door): Promise<Found[]> {
  const settings = flags.bare ? {} : readSettings(settingsFile(env));
  const all = await findProviders({ flags, env, settings, warn: tui.warn, waitMs });
  return all.filter((each): each is Found => each.way !== undefined);
}

function settingsFile(env: NodeJS.ProcessEnv): string {
  return join(folders(env).config, "settings.json");
}

async function goThrough(chosen: string, found: readonly Found[], door: Door): Promise<Way | undefined> {
  if (chosen === "demo") return showDemo(door);
  if (chosen === "sign in") return signIn(door);
  if (chosen === "paste") {
    const provider = await door.tui.pick(providersToPaste());
    return provider === undefined ? undefined : pasteKey(provider, door);
  }
  if (chosen.startsWith("paste ")) return pasteKey(chosen.slice("paste ".length), door);
  const one = found.find(({ row }) => row.name === chosen);
  return one && chooseOf(one, door);
}

/** The ways in: what was found first, then what a person can bring. */
function waysOf(found: readonly Found[], { flags, missing }: Door): PickRequest {
  const lacking = flags.bare ? undefined : keyRows.find(({ provider }) => provider === missing.provider);
  const isSignedIn = found.some(({ row }) => row.plan);
  const nothing = "No key is set, and no server on this machine answers.";
  const explained: Record<string, string> = {
    paste: `${found.length === 0 ? `${nothing} ` : ""}A key is stored for you alone, never shown again, and sent only to its provider; sawtooth logout removes it.`,
    sign: "Your ChatGPT plan pays, as far as you allow it. The browser may be on another machine; sawtooth logout chatgpt signs out. Nobody has tried this against OpenAI's own server yet.",
    demo: "A scripted model repairs a small repository in a temporary folder, with real commands. No key is needed, and nothing of yours is touched.",
  };
  const items: PickItem[] = [
    ...(lacking
      ? [
          {
            id: `paste ${lacking.provider}`,
            label: `Paste a key of ${lacking.title}`,
            facts: ["for the model you named"],
          },
        ]
      : []),
    ...found.map((one) => ({ id: one.row.name, label: `Use ${one.row.title}`, facts: [factOf(one)] })),
    ...(flags.bare ? [] : [{ id: "paste", label: "Paste an API key", facts: ["stored for you alone"] }]),
    ...(flags.bare || isSignedIn
      ? []
      : [{ id: "sign in", label: "Continue with ChatGPT", facts: ["Plus or Pro, in the browser"] }]),
    { id: "demo", label: "Try the demo", facts: ["no key needed"] },
  ];
  return {
    title: "No model yet: choose how to begin",
    items,
    few: items.length < 10,
    enter: "chooses",
    empty: nothing,
    preview: (id) => ({
      rows: [
        [{ text: explained[id.split(" ")[0] ?? ""] ?? about(found.find(({ row }) => row.name === id)) }],
      ],
      keep: "beginning",
    }),
  };
}

function factOf({ way, models }: Found): string {
  switch (way.by) {
    case "variable":
      return `${way.variable} is set`;
    case "sign_in":
      return "you are signed in";
    case "stored_key":
      return "its key is stored";
    case "cloud":
      return "its region is set";
    case "server":
    case "no_key_needed":
      return models.length === 1 ? "answers with 1 model" : `answers with ${models.length} models`;
  }
}

function about(found: Found | undefined): string {
  const names = found?.models.slice(0, 5).map(({ id }) => id) ?? [];
  const more = (found?.models.length ?? 0) - names.length;
  const fact = found ? `${factOf(found)}: ` : "";
  return names.length === 0
    ? `${fact}its models are not known`
    : `${fact}${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function providersToPaste(): PickRequest {
  return {
    title: "Whose key is it?",
    items: keyRows.map(({ provider, title, variables }) => ({
      id: provider,
      label: title,
      facts: [variables[0]],
    })),
    enter: "goes on",
    empty: "no provider is known",
  };
}

async function pasteKey(provider: string, door: Door): Promise<Way | undefined> {
  const { tui, env, missing } = door;
  const row = keyRows.find((each) => each.provider === provider) as KeyRow;
  const prompt = `Paste the API key of ${row.title} (it is not shown), then Enter; Esc goes back: `;
  const key = await tui.lend((typed) => typedLine(prompt, { shown: false, typed }));
  if (key === undefined) return undefined;
  tui.warn(`the key of ${row.title} is stored in ${storeFor(row, key, env)}, for you alone`);
  if (missing.provider === provider) return "named";
  const one = (await lookAround(door)).find(({ row: { name } }) => name === provider);
  return one && chooseOf(one, door);
}

async function signIn(door: Door): Promise<Way | undefined> {
  const { loginChatgpt } = await import("../commands/login-chatgpt.ts");
  await door.tui.lend(() => loginChatgpt(door.env));
  if (door.missing.provider === "chatgpt") return "named";
  const one = (await lookAround(door)).find(({ row }) => row.plan);
  return one && chooseOf(one, door);
}

/** Chooses one of its models; Anthropic's is chosen already. */
async function chooseOf({ row, models }: Found, { tui, env, flags }: Door): Promise<Way | undefined> {
  if (row.name === "anthropic") return { model: usualModel };
  const [first, ...others] = models;
  const model = first && others.length === 0 ? first.id : await tui.pick(modelsToChoose(row.title, models));
  if (model === undefined) return undefined;
  if (!flags.bare) rememberModel(settingsFile(env), model);
  return { model };
}

const usualModel = "anthropic/claude-sonnet-5-5";

function modelsToChoose(title: string, models: readonly ModelCard[]): PickRequest {
  return {
    title: `A model of ${title}`,
    items: models.map((card) => ({ id: card.id, label: card.id, facts: modelFacts(card) })),
    enter: "begins with it",
    empty: "it tells no models: name one with --model",
  };
}

async function showDemo({ tui, flags: { model: _, ...flags } }: Door): Promise<undefined> {
  const { runDemo } = await import("../commands/demo.ts");
  await tui.lend(async () => {
    await runDemo(flags, converse);
    await typedLine("\nEnter goes back: ", { shown: false });
  });
}
