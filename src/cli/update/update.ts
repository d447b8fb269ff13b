/** `sawtooth update`: says whether there is a newer version and what to type for it. Changes nothing. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { StartError, UsageError } from "../../core/errors.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { installedAt } from "./installed.ts";

/** `root`: the folder of the package. */
type Place = { env: Record<string, string | undefined>; root: string; version: string };

/** How long npm may take, in milliseconds: a person waits. */
const timeoutMs = 20_000;
/** Exit code where the network is the reason. */
const unreachable = 6;

/** Returns what the command prints. Throws `UsageError`, and `StartError` when the registry cannot be asked. */
export async function updateOutput(operands: readonly string[], place: Place): Promise<string> {
  if (operands.length > 0)
    throw new UsageError(`update takes nothing, and changes nothing; unexpected: ${operands[0]}`);
  const { version } = place;
  const newest = await newestVersion(place);
  const { how, type } = installedAt(resolve(place.root));
  const order = compareVersions(version, newest);
  if (order === 0) return `sawtooth ${version} is the newest version.\n`;
  if (order > 0) return `sawtooth ${version} is newer than ${newest}, the newest published one.\n`;
  return [
    `sawtooth ${newest} is there; this is ${version}, installed ${how}.`,
    `To update, type: ${type}`,
    "",
  ].join("\n");
}

/**
 * Asks npm, which knows the registry of this person. It is not run in the folder worked in: the .npmrc of a repository is
 * data. Throws `StartError`.
 */
async function newestVersion({ env }: Place): Promise<string> {
  const words = ["view", "sawtooth@latest", "version", "--json", "--fetch-retries=0"];
  const home = env.HOME && existsSync(env.HOME) ? env.HOME : tmpdir();
  const given = { ...withoutSecrets(env), npm_config_update_notifier: "false" };
  try {
    const { stdout } = await promisify(execFile)("npm", [...words, `--fetch-timeout=${timeoutMs / 2}`], {
      ...{ cwd: home, env: given, timeout: timeoutMs, maxBuffer: 1024 * 1024 },
    });
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer === "string" && parts(answer)) return answer;
    throw new StartError(`npm answered without a version: ${cleanLine(stdout).slice(0, 200)}`, unreachable);
  } catch (error) {
    throw error instanceof StartError ? error : new StartError(whyNot(error), unreachable);
  }
}

/** The error that `execFile` rejects with. */
type Failed = Error & { code?: unknown; killed?: boolean; stdout?: string; stderr?: string };

function whyNot(error: unknown): string {
  const { code, killed, stdout = "", message } = error as Failed;
  if (code === "ENOENT")
    return "npm is not on the PATH, and it knows the registry: install it, or look at the page of the project";
  if (killed)
    return `npm gave no answer within ${timeoutMs / 1000} seconds: is this machine online? npm ping says more`;
  const told = errorOf(stdout);
  if (told?.code === "E404")
    return "the registry that npm is set to has no package sawtooth: npm config get registry names it";
  const why = told?.summary || String(told?.code ?? message);
  return `the registry cannot be asked (${cleanLine(why).slice(0, 300)}): is this machine online? npm ping says more`;
}

/** The error that npm prints as JSON. */
function errorOf(stdout: string): { code?: string; summary?: string } | undefined {
  try {
    return (JSON.parse(stdout) as { error?: { code?: string; summary?: string } }).error;
  } catch {
    return undefined;
  }
}

/** The numbers of a version and what follows a dash; undefined for anything else. */
function parts(version: string): { numbers: number[]; before: string[] } | undefined {
  const [, numbers, before] = /^(\d+\.\d+\.\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version) ?? [];
  if (numbers === undefined) return undefined;
  return { numbers: numbers.split(".").map(Number), before: before?.split(".") ?? [] };
}

/** Returns a number below 0 when `a` is older than `b`, above 0 when it is newer, by the order of Semantic Versioning. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  if (!left || !right) return a === b ? 0 : -1;
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before.length === 0 || right.before.length === 0) return right.before.length - left.before.length;
  for (let index = 0; index < Math.max(left.before.length, right.before.length); index++) {
    const difference = compareIdentifiers(left.before[index], right.before[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [isNumber, isOther] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOther) return Number(a) - Number(b);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return a < b ? -1 : 1;
}
