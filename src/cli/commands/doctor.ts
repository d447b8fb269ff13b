/** `sawtooth doctor`: checks this machine and advises how to fix problems. Never makes a paid request. */

import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkSettings } from "../../app/choices.ts";
import { checkHooks } from "../../app/hooks.ts";
import type { Machine } from "../../app/machine.ts";
import { telemetryState } from "../../app/opening/telemetry.ts";
import { projectOf } from "../../app/rules.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings } from "../../config/settings.ts";
import { projectRulesFile, readProjectRules } from "../../config/stored-rules.ts";
import { plural } from "../../context/report/amounts.ts";
import { isFullSandbox, type SandboxStatus } from "../../core/sandbox.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { wrap } from "../../report/text/columns.ts";
import { type Check, modelChecks } from "./doctor-models.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs all checks, in display order. `clean`: ends orphans and removes stale locks. */
export async function doctorChecks(machine: Machine, clean: boolean): Promise<Check[]> {
  const { env } = machine;
  const outside = await Promise.all([
    ptyCheck(machine),
    sandboxCheck(machine),
    programCheck(env, "bash", { pattern: /version (\d+)\.(\d+)/, least: [4, 4] }),
    programCheck(env, "git", {
      pattern: /git version (\d+)\.(\d+)/,
      missing: "Sawtooth does not know branches and ignored files",
    }),
    programCheck(env, "rg", {
      pattern: /ripgrep (\d+)\.(\d+)/,
      missing: "searches use grep, which is slower",
    }),
  ]);
  const models = await modelChecks(env);
  const { serverChecks } = await import("./doctor-servers.ts");
  return [
    nodeCheck(process.versions.node),
    ...outside,
    ...terminalChecks(machine),
    ...models,
    ...(await serverChecks(env, process.cwd())),
    await settingsCheck(env),
    ...(await telemetryChecks(env)),
    rulesCheck(env, process.cwd()),
    ...stateChecks(machine.sessionRoot),
    await orphanCheck(machine, clean),
    lockCheck(machine, clean),
  ];
}

/** Formats the checks as aligned text of 80 columns, with advice below. Pure. */
export function doctorText(checks: readonly Check[], version: string): string {
  const marks = { ok: "ok", note: "note", stops: "FAIL" };
  const lines = checks.flatMap(({ name, state, says, advice }) => {
    const [first = "", ...more] = wrap(cleanLine(says), 60);
    const head = `  ${marks[state].padEnd(5)} ${name.padEnd(11)} ${first}`;
    const rest = [...more, ...(advice ? wrap(`→ ${cleanLine(advice)}`, 60) : [])];
    return [head, ...rest.map((line) => `${" ".repeat(20)}${line}`)];
  });
  const stopping = checks.filter(({ state }) => state === "stops").length;
  const notes = checks.filter(({ state }) => state === "note").length;
  const end = stopping > 0 ? `${plural(stopping, "problem")} to fix.` : "All required checks passed.";
  return `${[`Sawtooth ${version} on ${process.platform} ${process.arch}`, "", ...lines, "", `${end}${notes > 0 ? ` ${plural(notes, "note")}.` : ""}`].join("\n")}\n`;
}

/** Returns 0 when nothing stops work. */
export function doctorExitCode(checks: readonly Check[]): number {
  return checks.some(({ state }) => state === "stops") ? 1 : 0;
}

function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = major > 22 || (major === 22 && minor >= 12);
  if (fits) return { name: "node", state: "ok", says: version };
  return { name: "node", state: "stops", says: version, advice: "install Node 22.12 or newer" };
}

async function ptyCheck({ hasPty, env }: Machine): Promise<Check> {
  if (await hasPty()) return { name: "pty", state: "ok", says: "commands run in their own terminal" };
  const off = env.SAWTOOTH_PTY === "off" ? "SAWTOOTH_PTY is off" : "the pty module cannot be loaded";
  const says = `${off}: commands run on pipes, so programs that need a terminal do not work`;
  return { name: "pty", state: "note", says };
}

/** Set where unprivileged user namespaces need a profile of AppArmor. */
const appArmorSwitch = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/** Says what an engine lacks that does not hold every wall. */
const lacking: Record<SandboxStatus["engine"], string> = {
  none: "without a sandbox, commands run with all your permissions, in mode auto without a question",
  landlock:
    "until then the network and sockets are open to commands, and questions are asked as without a sandbox",
  namespaces: "not every wall stands",
  seatbelt: "not every wall stands",
};

async function sandboxCheck({ sandbox, canServeNames }: Machine): Promise<Check> {
  const status = await sandbox();
  const full = isFullSandbox(status);
  const servesNames = full && (await canServeNames());
  // The engine by itself has none: names are served by what is asked for here.
  const inSession: SandboxStatus = servesNames ? { ...status, network: "names" } : status;
  const says = sandboxText(inSession).replace(/^sandbox: /, "");
  if (full && !servesNames)
    return {
      ...{ name: "sandbox", state: "note", says: `${says}; commands have no network` },
      advice: "install perl or python3: names of hosts are served with it",
    };
  if (full) return { name: "sandbox", state: "ok", says };
  const advice = restrictedByAppArmor()
    ? "allow bubblewrap a user namespace: apt-get install apparmor-profiles; ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
    : `install bubblewrap, and allow user namespaces; ${lacking[status.engine]}`;
  return { name: "sandbox", state: "note", says, advice };
}

function restrictedByAppArmor(): boolean {
  try {
    return readFileSync(appArmorSwitch, "utf8").trim() === "1";
  } catch {
    return false;
  }
}

/** Says what leaves this machine because the environment asks for it. */
async function telemetryChecks(env: Environment): Promise<Check[]> {
  const state = await telemetryState(env);
  if (!state) return [];
  if ("off" in state) return [{ name: "telemetry", state: "note", says: `off: ${state.off}` }];
  const what = state.contents ? "spans, metrics, prompts and results" : "spans and metrics, without contents";
  return [{ name: "telemetry", state: "ok", says: `OpenTelemetry: ${what} go to ${state.to}` }];
}

type Wanted = { pattern: RegExp; least?: [number, number]; missing?: string };

/** Checks a program. `missing`: the effect of its absence; without this text it is required. */
async function programCheck(
  { PATH, HOME }: Environment,
  name: string,
  { pattern, least = [0, 0], missing }: Wanted,
): Promise<Check> {
  const absent = missing === undefined ? ("stops" as const) : ("note" as const);
  try {
    const stdout = await new Promise<string>((resolve, reject) => {
      const options = { env: { PATH, HOME }, timeout: 5000 };
      execFile(name, ["--version"], options, (error, text) => (error ? reject(error) : resolve(text)));
    });
    const [, major, minor] = pattern.exec(stdout) ?? [];
    const says = major === undefined ? cleanLine(stdout.split("\n", 1)[0] ?? "") : `${major}.${minor}`;
    const old = Number(major) < least[0] || (Number(major) === least[0] && Number(minor) < least[1]);
    if (!old) return { name, state: "ok", says };
    return { name, state: "stops", says, advice: `install ${name} ${least.join(".")} or newer` };
  } catch {
    const says = missing ? `not found: ${missing}` : "not found";
    return { name, state: absent, says, advice: `install ${name === "rg" ? "ripgrep" : name}` };
  }
}

function terminalChecks({ env, output }: Machine): Check[] {
  const { TERM = "", NO_COLOR } = env;
  const size = output.isTTY ? `, ${output.columns ?? 0}×${output.rows ?? 0}` : ", output is not a terminal";
  const depth = output.getColorDepth?.() ?? 1;
  const colours = NO_COLOR ? "NO_COLOR" : output.isTTY ? `${2 ** depth} colours` : "";
  const says = `${TERM || "TERM is not set"}${colours ? `, ${colours}` : ""}${size}`;
  const dumb = TERM === "" || TERM === "dumb";
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || "";
  const utf8 = /utf-?8/i.test(locale);
  return [
    {
      name: "terminal",
      ...{ state: dumb ? "note" : "ok", says },
      ...(dumb ? { advice: "use a terminal that supports cursor movement, or --plain" } : {}),
    },
    {
      name: "locale",
      ...{ state: utf8 ? "ok" : "note", says: locale || "none" },
      ...(utf8 ? {} : { advice: "set LANG=C.UTF-8, or characters other than ASCII may look wrong" }),
    },
  ];
}

async function settingsCheck(env: Environment): Promise<Check> {
  const file = join(folders(env).config, "settings.json");
  try {
    const settings = readSettings(file);
    checkSettings(settings, file);
    await checkHooks(settings, file);
    return { name: "settings", state: "ok", says: existsSync(file) ? file : `none (${file})` };
  } catch (error) {
    return { name: "settings", state: "stops", says: error instanceof Error ? error.message : String(error) };
  }
}

/** The rules for `cwd`'s workspace; a file that cannot be read stops no work: nothing is allowed by it. */
function rulesCheck(env: Readonly<Record<string, string | undefined>>, cwd: string): Check {
  const root = projectOf(workspaceRoot(cwd));
  const file = projectRulesFile(folders(env).config, root);
  try {
    const rules = readProjectRules(file, root);
    if (rules.length === 0) return { name: "rules", state: "ok", says: `none for ${root}` };
    return {
      name: "rules",
      state: "ok",
      says: `${plural(rules.length, "rule")} for ${root}: ${rules.join(", ")} (${file})`,
    };
  } catch (error) {
    return {
      name: "rules",
      state: "note",
      says: (error as Error).message,
      advice: "until then no rule for this folder applies",
    };
  }
}

const largeState = 5 * 2 ** 30;
const littleRoom = 200 * 2 ** 20;

/** Checks the session folder. A session that cannot be saved can still run, but not be resumed. */
function stateChecks(root: string): Check[] {
  const folder = nearestExisting(root);
  const says = `${bytesText(sizeOf(root))} in ${root}`;
  if (!isWritable(folder))
    return [
      {
        name: "state",
        state: "note",
        says: `${root} is not writable`,
        advice: "make it writable; until then sessions are stored in a temporary folder",
      },
    ];
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < littleRoom)
    return [
      {
        name: "state",
        state: "note",
        says,
        advice: `free some disk space: only ${bytesText(bavail * bsize)} are left there`,
      },
    ];
  if (sizeOf(root) > largeState)
    return [{ name: "state", state: "note", says, advice: "delete folders of old sessions there" }];
  return [{ name: "state", state: "ok", says }];
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function sizeOf(folder: string): number {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return names.reduce(
      (sum, name) => sum + (lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  } catch {
    return 0;
  }
}

function bytesText(bytes: number): string {
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 1024)} KiB`;
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

async function orphanCheck(machine: Machine, clean: boolean): Promise<Check> {
  const found = machine.orphans();
  if (found.length === 0)
    return { name: "processes", state: "ok", says: "no processes left by killed agents" };
  const named = found.map(({ pid, command }) => `${pid} ${command}`).join("; ");
  if (clean) {
    await machine.endOrphans();
    return { name: "processes", state: "ok", says: `ended processes that killed agents left: ${named}` };
  }
  const advice = "sawtooth doctor --clean ends them";
  return { name: "processes", state: "note", says: `killed agents left processes: ${named}`, advice };
}

function lockCheck(machine: Machine, clean: boolean): Check {
  const stale = machine.staleLocks();
  if (stale.length === 0) return { name: "locks", state: "ok", says: "no stale locks" };
  const says = `${plural(stale.length, "stale lock")}`;
  if (!clean)
    return {
      name: "locks",
      state: "note",
      says,
      advice: "they are harmless; sawtooth doctor --clean removes them",
    };
  machine.removeStaleLocks();
  return { name: "locks", state: "ok", says: `removed ${says}` };
}
