/** Fetches a plug-in into a folder: from a folder, with git, or with npm. No script of it is run. */

import { execFile } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { UsageError } from "../../core/errors.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { gitIn } from "../../git/run.ts";
import { PluginError } from "../../plugins/manifest.ts";
import { type PluginSource, pluginHash } from "../../plugins/store.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const timeoutMs = 300_000;
const npmName = /^(@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(@[\w.^~<>=|*-]+)?$/i;

/** Reads what a person named: a path, a URL of a git repository, or a package of npm. Throws `UsageError`. */
export function sourceOf(words: string, cwd: string, env: Environment): PluginSource {
  if (/^(\.{0,2}\/|~\/|\.{1,2}$)/.test(words)) {
    const path = resolve(cwd, words.replace(/^~(?=\/)/, env.HOME ?? homedir()));
    if (!existsSync(path)) throw new UsageError(`${words}: there is no such folder`);
    return { kind: "folder", from: realpathSync(path) };
  }
  if (/^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|\.git(#|$)/.test(words)) return { kind: "git", from: words };
  if (npmName.test(words)) return { kind: "npm", from: words };
  throw new UsageError(
    `${words} names no plug-in: give a folder (./…), the URL of a git repository, or a package of npm`,
  );
}

/** Fetches into `target`, which is made. `inner`: the path of the plug-in in it. Throws `PluginError`. */
export async function fetchPlugin(
  source: PluginSource,
  target: string,
  env: Environment,
): Promise<{ source: PluginSource; inner: string }> {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true, mode: 0o700 });
  switch (source.kind) {
    case "folder":
      copyFolder(source.from, target);
      return { source, inner: "." };
    case "git":
      return { source: await clone(source.from, target, env), inner: "." };
    case "npm":
      return { source, inner: await install(source.from, target, env) };
  }
}

function copyFolder(from: string, to: string): void {
  if (!lstatSync(from).isDirectory()) throw new PluginError("it is not a folder");
  // Also finds what cannot be copied, and stops at a limit.
  pluginHash(from);
  const filter = (path: string) => basename(path) !== ".git";
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

async function clone(from: string, to: string, env: Environment): Promise<PluginSource> {
  const [url = "", branch] = from.split("#");
  const git = gitIn(to, env, { timeoutMs });
  const which = branch ? ["--branch", branch] : [];
  try {
    await git(["clone", "--quiet", "--depth", "1", "--no-tags", "--template=", ...which, "--", url, "."]);
    const commit = (await git(["rev-parse", "HEAD"])).trim();
    rmSync(join(to, ".git"), { recursive: true });
    return { kind: "git", from, commit };
  } catch (error) {
    throw new PluginError(`it was not fetched: ${firstLines((error as Error).message)}`);
  }
}

/** Returns the path of the package, beside the packages that it needs. */
async function install(from: string, to: string, env: Environment): Promise<string> {
  const words = ["install", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-save"];
  try {
    await promisify(execFile)("npm", [...words, "--install-links", "--prefix", to, "--", from], {
      ...{ cwd: to, env: withoutSecrets(env), timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 },
    });
  } catch (error) {
    const { code, stderr = "", message } = error as Error & { code?: unknown; stderr?: string };
    const why = code === "ENOENT" ? "npm is not installed" : firstLines(stderr || message);
    throw new PluginError(`it was not fetched: ${why}`);
  }
  rmSync(join(to, "node_modules/.package-lock.json"), { force: true });
  const at = from.lastIndexOf("@");
  const name = join("node_modules", at > 0 ? from.slice(0, at) : from);
  if (!existsSync(join(to, name))) throw new PluginError("npm installed something else");
  if (readdirSync(to).length > 1)
    for (const file of ["package.json", "package-lock.json"]) rmSync(join(to, file), { force: true });
  return name;
}

function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, 5).join("\n").slice(0, 1000);
}
