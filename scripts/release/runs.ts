/** Installs the package under one version of Node, and runs it there without a network. */

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, cpSync, existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Outcome } from "./outcome.ts";

type Place = { version: string; tarball: string; work: string };
type Installed = { bin: string; modules: string; env: Record<string, string> };
/** `id`: of the user and the group; undefined: who runs this. */
type User = { name: string; id: number | undefined };

/** Most packages that an installation brings, Sawtooth included. */
const mostPackages = 4;
/** The user that owns nothing. */
const nobody = 65_534;
const runMs = 300_000;

/** Checks one version. A version that the registry does not have is skipped. */
export function* runChecks({ version, tarball, work }: Place): Generator<Outcome> {
  const what = `Node ${version}`;
  const node = fetchNode(version, work);
  if (!node) {
    yield {
      what,
      state: "skipped",
      says: `the registry has no node-${process.platform}-${process.arch}@${version}`,
    };
    return;
  }
  const path = [
    node,
    ...(process.env.PATH ?? "").split(delimiter).filter((one) => !one.includes("node_modules")),
  ];
  const env = { PATH: path.join(delimiter), LANG: "C.UTF-8", TERM: "xterm-256color" };
  const real = execFileSync("node", ["--version"], { env, encoding: "utf8" }).trim();
  const folder = join(work, `installed-${version}`);
  mkdirSync(folder);
  const words = ["install", "--prefix", folder, "--no-audit", "--no-fund", tarball];
  const { status, stderr } = spawnSync("npm", words, {
    env: { ...process.env, ...env },
    encoding: "utf8",
    cwd: folder,
  });
  if (status !== 0) {
    yield { what: `${what} install`, state: "FAILED", says: lastLine(stderr) };
    return;
  }
  const modules = join(folder, "node_modules");
  const packages = globSync(["*/package.json", "@*/*/package.json", "**/node_modules/*/package.json"], {
    cwd: modules,
  });
  const says = `${real}, ${packages.length} packages of at most ${mostPackages}`;
  yield { what: `${what} install`, state: packages.length <= mostPackages ? "ok" : "FAILED", says };
  for (const user of users())
    yield* runsAs(user, { bin: join(modules, ".bin/sawtooth"), modules, env }, { what, work });
}

/** Returns the folder of that Node's program, from its package. */
function fetchNode(version: string, work: string): string | undefined {
  const name = `node-${process.platform}-${process.arch}`;
  const to = join(work, `node-${version}`);
  const words = [
    "install",
    "--prefix",
    to,
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    `${name}@${version}`,
  ];
  mkdirSync(to);
  const { status } = spawnSync("npm", words, { cwd: to, stdio: "ignore" });
  const folder = join(to, "node_modules", name, "bin");
  return status === 0 && existsSync(join(folder, "node")) ? folder : undefined;
}

function users(): User[] {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) return [{ name: "this user", id: undefined }];
  return [
    { name: "root", id: undefined },
    { name: "nobody", id: nobody },
  ];
}

function* runsAs(
  user: User,
  { bin, modules, env }: Installed,
  { what, work }: { what: string; work: string },
): Generator<Outcome> {
  const home = join(work, `home-${what.replaceAll(" ", "-")}-${user.id ?? "self"}`);
  const project = join(home, "project");
  mkdirSync(home);
  cpSync(join(modules, "sawtooth/examples/fix-js"), project, { recursive: true });
  if (user.id !== undefined)
    for (const path of ["", ...globSync("**", { cwd: home })]) chownSync(join(home, path), user.id, user.id);
  const run = (words: readonly string[]) =>
    offline(user, [bin, ...words], { cwd: project, env: { ...env, HOME: home } });
  const about = `${what} ${user.name}, offline`;
  if (!canBeOffline(user)) {
    yield { what: about, state: "skipped", says: "no network namespace can be made here (unshare -n)" };
    return;
  }
  const script = join(modules, "sawtooth/examples/fix-js.script.yaml");
  const calls: [name: string, words: string[], isRight: (ran: Ran) => boolean][] = [
    ["--version", ["--version"], ({ status, stdout }) => status === 0 && /^\d+\.\d+\.\d+/.test(stdout)],
    // Without a key one check stops, and no other.
    [
      "doctor",
      ["doctor"],
      ({ stdout }) => (stdout.match(/^ {2}FAIL /gm) ?? []).length === 1 && / FAIL {2}keys /.test(stdout),
    ],
    ["demo", ["demo"], ({ status }) => status === 0],
    [
      "fix",
      ["fix", "--check", "npm test", "--model", `scripted/${script}`],
      ({ status }) => status === 0 && isRepaired(project),
    ],
  ];
  for (const [name, words, isRight] of calls) {
    const ran = run(words);
    const right = isRight(ran);
    yield {
      what: `${about}: ${name}`,
      state: right ? "ok" : "FAILED",
      says: right
        ? `exit ${ran.status}${name === "doctor" ? ", for want of a key alone" : ""}`
        : `exit ${ran.status}: ${lastLine(ran.stderr || ran.stdout)}`,
    };
  }
}

function isRepaired(project: string): boolean {
  return readFileSync(join(project, "src/parse.js"), "utf8").includes("text[index + 1]");
}

type Ran = { status: number | null; stdout: string; stderr: string };

/** Runs a program where no network is, as another user if one is named. */
function offline(
  { id }: User,
  line: readonly string[],
  where: { cwd: string; env: Record<string, string> },
): Ran {
  const as = id === undefined ? [] : ["setpriv", `--reuid=${id}`, `--regid=${id}`, "--clear-groups"];
  const [program = "", ...words] = [...withoutNetwork(), ...as, ...line];
  return spawnSync(program, words, { ...where, encoding: "utf8", timeout: runMs, input: "" });
}

/** A user who is not root gets the right to it in a namespace of users. */
function withoutNetwork(): string[] {
  return process.getuid?.() === 0 ? ["unshare", "-n"] : ["unshare", "-rn"];
}

function canBeOffline(user: User): boolean {
  const env = { PATH: process.env.PATH ?? "" };
  return offline(user, ["true"], { cwd: "/", env }).status === 0;
}

/** The last line that says something: npm ends with where its log is. */
function lastLine(text: string): string {
  const lines = text
    .trim()
    .split("\n")
    .filter((line) => !/A complete log of this run/.test(line));
  return lines.at(-1)?.slice(0, 200) ?? "";
}
