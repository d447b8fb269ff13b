/** The hosts that a command line names, by the programs that are known to reach some. A guess for replays. Pure. */

import type { HostGrant } from "../../core/sandbox.ts";
import { plain } from "../../permissions/paths.ts";
import { canonicalHost } from "../../permissions/sandbox/hosts.ts";

/** A host by its canonical name, a preset such as `@npm`, or a phrase in parentheses where the line does not say. */
export type NamedHost = { host: string; port: number; grant: HostGrant };

const unsaid = (what: string, grant: HostGrant = "fetch"): NamedHost => ({
  host: `(${what})`,
  port: 443,
  grant,
});
const preset = (name: string, grant: HostGrant = "fetch"): NamedHost => ({ host: name, port: 443, grant });

/** Package managers: the words that make them reach their registry, and its preset. */
const managers: Readonly<Record<string, Registry>> = {
  npm: {
    verbs: /^(?:i|install|ci|add|update|up|audit|outdated|view|exec|x|init|create|publish|search)$/,
    names: "@npm",
  },
  pnpm: { verbs: /^(?:i|install|add|update|up|audit|outdated|dlx|create|publish)$/, names: "@npm" },
  yarn: { verbs: /^(?:install|add|upgrade|up|audit|dlx|create|publish)$/, names: "@npm" },
  bun: { verbs: /^(?:i|install|add|update|create|x|publish)$/, names: "@npm" },
  pip: { verbs: /^(?:install|download|index|search)$/, names: "@pypi" },
  uv: { verbs: /^(?:add|sync|lock|pip|tool|run|publish)$/, names: "@pypi" },
  poetry: { verbs: /^(?:install|add|update|lock|publish)$/, names: "@pypi" },
  pipx: { verbs: /^(?:install|run|upgrade)$/, names: "@pypi" },
  cargo: { verbs: /^(?:install|add|update|fetch|search|publish)$/, names: "@cargo" },
  go: { verbs: /^(?:get|install|mod)$/, names: "@go" },
};
const sameAs: Readonly<Record<string, string>> = { pip3: "pip", pip2: "pip" };
const ofSystem = /^(?:apt|apt-get|apk|dnf|yum|brew|conda|mamba|gem|bundle|composer|pacman|zypper)$/;
const systemVerbs = /^(?:install|update|upgrade|add|fetch|search|download)$/;
const fetchers = /^(?:curl|wget|http|https|aria2c|lynx|w3m|ftp)$/;
const remotes = /^(?:ssh|scp|sftp|rsync|telnet|nc|ncat|socat|ping|dig|nslookup|host|traceroute)$/;
const gitVerbs = /^(?:clone|fetch|pull|push|ls-remote|submodule)$/;

/** Returns false for a line in which no program is written that may reach a host. */
export function mayName(line: string): boolean {
  return /\b(?:npm|npx|pnpm|yarn|bunx?|pip[23]?|pipx|uv|poetry|cargo|go|apt|apt-get|apk|dnf|yum|brew|conda|mamba|gem|bundle|composer|pacman|zypper|git|gh|curl|wget|https?|aria2c|lynx|w3m|ftp|ssh|scp|sftp|rsync|telnet|nc|ncat|socat|ping|dig|nslookup|host|traceroute)\b/.test(
    line,
  );
}

/** Returns the hosts that one program with its arguments reaches. `words`: the program's name first. */
export function hostsNamed(words: readonly string[]): NamedHost[] {
  const [first = "", ...rest] = words.map(plain);
  const isModule = /^python[\d.]*$/.test(first) && rest[0] === "-m";
  const [program = "", ...args] = isModule ? rest.slice(1) : [first, ...rest];
  const name = sameAs[program] ?? program;
  const verb = args.find((word) => !word.startsWith("-")) ?? "";
  const manager = Object.hasOwn(managers, name) ? managers[name] : undefined;
  if (manager) return ofRegistry(name, manager, { verb, args });
  switch (name) {
    case "npx":
    case "bunx":
      return [preset("@npm")];
    case "git":
      return gitVerbs.test(verb) ? [remoteOf(args, verb)] : [];
    case "gh":
      return [preset("@github", "full")];
  }
  if (ofSystem.test(name)) return systemVerbs.test(verb) ? [unsaid(`packages of ${name}`)] : [];
  if (fetchers.test(name)) return fetched(name, args);
  return remotes.test(name) ? [reached(args) ?? unsaid(`a host of ${name}`)] : [];
}

type Registry = { verbs: RegExp; names: string };

function ofRegistry(
  name: string,
  { verbs, names }: Registry,
  { verb, args }: { verb: string; args: readonly string[] },
): NamedHost[] {
  if (!verbs.test(verb) || isLocal(name, args)) return [];
  return [preset(names, verb === "publish" ? "full" : "fetch")];
}

/** Installing a folder of the project with what is there already reaches nobody. */
function isLocal(name: string, args: readonly string[]): boolean {
  return name === "pip" && args.some((word) => word === "--no-index");
}

function remoteOf(args: readonly string[], verb: string): NamedHost {
  const grant = verb === "push" ? "full" : "fetch";
  const named = args
    .map((word) => fromUrl(word, grant) ?? fromScp(word, grant))
    .find((host) => host !== undefined);
  return named ?? unsaid("a git remote", grant);
}

function fetched(name: string, args: readonly string[]): NamedHost[] {
  const sends = args.some((word) => /^(?:-d|--data.*|-F|--form.*|-T|--upload-file|--post-.*)$/.test(word));
  const grant = sends || name === "ftp" ? "full" : "fetch";
  const named = args.flatMap(
    (word) => fromUrl(word, grant) ?? (isHost(word) ? (bare(word, grant) ?? []) : []),
  );
  const isLocal = args.some((word) =>
    /^(?:https?:\/\/)?(?:localhost|127\.[\d.]+|0\.0\.0\.0|\[::1\])(?:[:/]|$)/i.test(word),
  );
  return named.length > 0 || isLocal ? named : [unsaid(`a host of ${name}`, grant)];
}

function reached(args: readonly string[]): NamedHost | undefined {
  const word = args.find((one) => !one.startsWith("-") && (one.includes("@") || isHost(one)));
  return word === undefined
    ? undefined
    : (fromScp(word, "full") ?? bare(word.replace(/^.*@/, ""), "full", 22));
}

function isHost(word: string): boolean {
  return (
    /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d+)?(?:\/|$)/i.test(word) &&
    !/\.(?:txt|json|html?|gz|sh|py|md)$/.test(word)
  );
}

function fromUrl(word: string, grant: HostGrant): NamedHost | undefined {
  const [, scheme = "", host = "", port] =
    /^(https?|ssh|git|ftp|git\+https):\/\/(?:[^/@]*@)?([^/:?#]+)(?::(\d+))?/i.exec(word) ?? [];
  const usual = /^ssh$/i.test(scheme) ? 22 : /^http$/i.test(scheme) ? 80 : 443;
  return host === "" ? undefined : bare(host, grant, port === undefined ? usual : Number(port));
}

/** Reads `user@host:path`. */
function fromScp(word: string, grant: HostGrant): NamedHost | undefined {
  const [, host] = /^[\w.-]+@([\w.-]+):/.exec(word) ?? [];
  return host === undefined ? undefined : bare(host, grant, 22);
}

function bare(text: string, grant: HostGrant, usual = 443): NamedHost | undefined {
  const [name = "", port] = (text.split("/")[0] ?? "").split(":");
  const host = canonicalHost(name);
  // A service of the machine itself.
  if (host === undefined || host === "localhost" || /^127\.|^::1$|^0\.0\.0\.0$/.test(host)) return undefined;
  return { host, port: port === undefined ? usual : Number(port), grant };
}
