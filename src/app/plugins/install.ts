/** Adds, updates, removes and lists plug-ins. Nothing is kept that a person did not accept by its hash. */

import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { UsageError } from "../../core/errors.ts";
import { ownName } from "../../disk/process-name.ts";
import { PluginError } from "../../plugins/manifest.ts";
import { readPlugin } from "../../plugins/read.ts";
import {
  forgetPlugin,
  type Installed,
  installedPlugins,
  keepPlugin,
  type PluginFolders,
  type PluginSource,
  pluginFolders,
  pluginHash,
} from "../../plugins/store.ts";
import { acceptedNow } from "./accepted.ts";
import { fetchPlugin, sourceOf } from "./fetch-plugin.ts";
import type { Fetched } from "./fetched.ts";
import { differenceText, reviewText } from "./review-text.ts";

export type PluginDesk = {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Shows a text in full. */
  show(text: string): void;
  /** Asks for a yes to exactly what was shown. `hash`: of all files. */
  accept(question: string, hash: string): Promise<boolean>;
};

/** The outcome, for people. */
export type Outcome = { done: boolean; text: string };

/** Fetches a plug-in, shows it, and keeps it after a yes. Throws `UsageError`. */
export async function addPlugin(words: string, desk: PluginDesk): Promise<Outcome> {
  const source = sourceOf(words, desk.cwd, desk.env);
  return staging(desk, async (all, staged) => {
    const { fetched, inner } = await fetchedBy(source, staged, all, desk);
    const { name } = fetched.plugin;
    const known = installedPlugins(all).find((each) => each.name === name);
    if (known?.hash === fetched.hash) return unchanged(known, { all, staged });
    if (known && (known.source.kind !== source.kind || known.source.from !== source.from))
      throw new UsageError(
        `there is a plug-in ${name} from elsewhere: sawtooth plugin remove ${name} takes it out`,
      );
    desk.show(shownBefore(known, fetched, all));
    return kept(fetched, { staged, inner, all, desk, verb: known ? "Updated" : "Added" });
  });
}

/** Fetches one again, shows the difference, and takes it after a yes. Throws `UsageError`. */
export async function updatePlugin(name: string, desk: PluginDesk): Promise<Outcome> {
  return staging(desk, async (all, staged) => {
    const known = installedNamed(name, all);
    const { fetched, inner } = await fetchedBy(known.source, staged, all, desk);
    if (fetched.plugin.name !== name)
      throw new UsageError(`${name} is called ${fetched.plugin.name} now: remove it, and add that`);
    if (fetched.hash === known.hash) return unchanged(known, { all, staged });
    desk.show(shownBefore(known, fetched, all));
    return kept(fetched, { staged, inner, all, desk, verb: "Updated" });
  });
}

/** Removes one; its data stays. Throws `UsageError`. */
export function removePlugin(name: string, env: PluginDesk["env"]): string {
  const all = pluginFolders(folders(env));
  forgetPlugin(all, installedNamed(name, all).name);
  return `Removed ${name}. What its servers stored stays in ${join(all.data, name)}.`;
}

/** Returns the names of all that were accepted. */
export function pluginNames(env: PluginDesk["env"]): string[] {
  return installedPlugins(pluginFolders(folders(env))).map(({ name }) => name);
}

/** Keeps what was accepted before; where the kept files were touched, the same ones are put back. */
function unchanged(known: Installed, { all, staged }: { all: PluginFolders; staged: string }): Outcome {
  if (typeof acceptedNow(known, all) === "object")
    return { done: true, text: `${known.name} is there already, unchanged.` };
  keepPlugin(all, known, staged);
  return { done: true, text: `${known.name} is as it was accepted again.` };
}

/** Returns the difference to what was accepted, or all of it where that is gone. */
function shownBefore(known: Installed | undefined, fetched: Fetched, all: PluginFolders): string {
  const before = known && acceptedNow(known, all);
  return typeof before === "object" ? differenceText(before, fetched) : reviewText(fetched);
}

function installedNamed(name: string, all: PluginFolders): Installed {
  const known = installedPlugins(all);
  const found = known.find((each) => each.name === name);
  if (found) return found;
  const names = known.map((each) => each.name).join(", ");
  throw new UsageError(`there is no plug-in ${name}${names ? `: there are ${names}` : ""}`);
}

async function fetchedBy(source: PluginSource, staged: string, all: PluginFolders, { env }: PluginDesk) {
  const got = await fetchPlugin(source, staged, env);
  const root = join(realpathSync(staged), got.inner);
  const plugin = readPlugin({ root, data: join(all.data, "new") });
  const { hash, files } = pluginHash(realpathSync(staged));
  const fetched: Fetched = { plugin, source: got.source, hash, files, place: staged };
  return { fetched, inner: got.inner };
}

type Keeping = { staged: string; inner: string; all: PluginFolders; desk: PluginDesk; verb: string };

async function kept(fetched: Fetched, { staged, inner, all, desk, verb }: Keeping): Promise<Outcome> {
  const { plugin, source, hash } = fetched;
  if (!(await desk.accept(`Take the plug-in ${plugin.name} as it is shown?`, hash)))
    return { done: false, text: `Not taken: ${plugin.name}` };
  // It may have changed while the person read.
  if (pluginHash(realpathSync(staged)).hash !== hash) throw new PluginError("its files changed meanwhile");
  keepPlugin(all, { name: plugin.name, source, hash, inner }, staged);
  return { done: true, text: `${verb} ${plugin.name}. New sessions have it.` };
}

/** Gives the work a folder for what is fetched, which is gone afterwards. */
async function staging(
  { env }: PluginDesk,
  work: (all: PluginFolders, staged: string) => Promise<Outcome>,
): Promise<Outcome> {
  const all = pluginFolders(folders(env));
  const staged = join(all.plugins, `.new-${ownName()}`);
  mkdirSync(all.plugins, { recursive: true, mode: 0o700 });
  try {
    return await work(all, staged);
  } catch (error) {
    if (error instanceof PluginError) throw new UsageError(`the plug-in is not taken: ${error.message}`);
    throw error;
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
