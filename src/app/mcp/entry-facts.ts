/** Says in full what an entry of a server does, before anything of it is used: nothing hidden, nothing cut. Pure. */

import { isSecret, withheldNames } from "../../core/secrets/secrets.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Entry = Readonly<Record<string, unknown>>;

/** Facts in texts that are safe to show. */
export type EntryFacts = {
  transport: "stdio" | "http";
  /** The command line or the address, as it is written. */
  runs: string;
  /** Variables or headers that it is given, as they are written. */
  gets: { name: string; value: string }[];
  /** Names of variables of the environment that its entry reads. */
  reads: { name: string; set: boolean; secret: boolean }[];
  /** Folder that it starts in; undefined for the workspace. */
  cwd?: string;
  /** False where the person lets it run outside of the sandbox. */
  sandboxed: boolean;
  /** True where the person believes what its tools claim of themselves. */
  trusted: boolean;
};

/** Reads an entry as it is written, of any shape. */
export function entryFacts(entry: Entry, env: Environment): EntryFacts {
  const isRemote = entry.url !== undefined;
  const words = [entry.command, ...listOf(entry.args)].filter((word) => word !== undefined);
  const given = isRemote ? entry.headers : entry.env;
  return {
    transport: isRemote ? "http" : "stdio",
    runs: isRemote ? plainWord(entry.url) : words.map(plainWord).join(" "),
    gets: pairsOf(given).map(([name, value]) => ({ name: plainWord(name), value: plainWord(value) })),
    reads: namesRead(entry).map((name) => readVariable(name, env)),
    ...(entry.cwd === undefined ? {} : { cwd: plainWord(entry.cwd) }),
    ...{ sandboxed: entry.sandbox !== false, trusted: entry.annotations === "trusted" },
  };
}

function readVariable(name: string, env: Environment): EntryFacts["reads"][number] {
  const value = env[name] ?? "";
  const secret = isSecret(name, value || "x") || withheldNames({ [name]: value || "x" }).length > 0;
  return { name, set: value !== "", secret };
}

/** Returns the names in all `${NAME}` and `${NAME:-…}` of the entry, wherever they are. */
function namesRead(entry: Entry): string[] {
  const names = [...JSON.stringify(entry).matchAll(/\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}/g)];
  return [...new Set(names.map(([, name = ""]) => name))];
}

/** Returns a value in one line: bare where that is clear, else as JSON with every hidden character spelled out. */
function plainWord(value: unknown): string {
  if (typeof value === "string" && /^[\w@%+=:,./${}-]+$/.test(value)) return value;
  return showHidden((JSON.stringify(value) ?? "").toWellFormed());
}

function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function pairsOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
