/** Keeps the plug-ins that a person accepted: each in a folder of its own, with the hash of all its files. */

import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { contentsOf } from "../config/skills/content-hash.ts";
import { replaceFile } from "../disk/replace-file.ts";
import { isObject, PluginError } from "./manifest.ts";

/** Where it came from, for `update` and for people. `commit`: of a git repository. */
export type PluginSource = { kind: "folder" | "git" | "npm"; from: string; commit?: string };

/** An accepted plug-in. `inner`: the path of its root in its folder. */
export type Installed = { name: string; source: PluginSource; hash: string; inner: string };

/** Absolute paths: folders of all plug-ins and of their data, and the file of known hashes. */
export type PluginFolders = { plugins: string; data: string; hashes: string };

/** Most files of a plug-in, folders included. */
export const mostFiles = 5000;
const limits = { files: mostFiles, bytes: 64 * 1024 * 1024 };

/** Returns the folders. */
export function pluginFolders({ config, state }: { config: string; state: string }): PluginFolders {
  return {
    plugins: join(config, "plugins"),
    data: join(state, "plugin-data"),
    hashes: join(state, "plugin-hashes.json"),
  };
}

/** Returns the SHA-256 over all files of a plug-in. Throws `PluginError`. */
export function pluginHash(folder: string): { hash: string; files: string[] } {
  const contents = contentsOf(folder, limits, "outward links as such");
  if (typeof contents === "string") throw new PluginError(contents);
  return contents;
}

/** Returns the accepted plug-ins by name; damaged entries are passed over. */
export function installedPlugins({ plugins }: PluginFolders): Installed[] {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(plugins, "accepted.json"), "utf8"));
    return Array.isArray(stored) ? stored.filter(isInstalled) : [];
  } catch {
    return [];
  }
}

function isInstalled(value: unknown): value is Installed {
  if (!isObject(value) || !isObject(value.source)) return false;
  const { name, hash, inner, source } = value;
  return (
    [name, hash, inner, source.kind, source.from].every((each) => typeof each === "string") &&
    !/[/\0]|^\.\.?$/.test(String(name)) &&
    !String(inner).split("/").includes("..")
  );
}

/** Puts an accepted plug-in from `staged` in place of an earlier one. */
export function keepPlugin(folders: PluginFolders, plugin: Installed, staged: string): void {
  const place = join(folders.plugins, plugin.name);
  const old = `${staged}.old`;
  const others = installedPlugins(folders).filter(({ name }) => name !== plugin.name);
  rmSync(old, { recursive: true, force: true });
  if (others.length < installedPlugins(folders).length) renameSync(place, old);
  else rmSync(place, { recursive: true, force: true });
  renameSync(staged, place);
  write(folders, [...others, plugin]);
  rmSync(old, { recursive: true, force: true });
}

/** Removes a plug-in; its data stays. */
export function forgetPlugin(folders: PluginFolders, name: string): void {
  write(
    folders,
    installedPlugins(folders).filter((each) => each.name !== name),
  );
  rmSync(join(folders.plugins, name), { recursive: true, force: true });
}

function write({ plugins }: PluginFolders, all: readonly Installed[]): void {
  mkdirSync(plugins, { recursive: true, mode: 0o700 });
  const sorted = all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  replaceFile(join(plugins, "accepted.json"), `${JSON.stringify(sorted, undefined, 2)}\n`);
}
