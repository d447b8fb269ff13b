/**
 * Notes for the model on what the sandbox denied a command. A line of output is only a hint: a note is made only
 * when the plan denies the path in it and the machine itself would not. Pure.
 */

import type { SandboxPlan } from "../../core/sandbox.ts";
import { readCommandLine } from "../bash/command-line.ts";
import { isInside, nameOf, plain, resolvePath } from "../paths.ts";
import { protectionOf } from "./plan.ts";

export type EndedCommand = {
  command: string;
  /** The output as the model sees it. */
  output: string;
  /** Real folder in which it ended. */
  cwd: string;
};

/** The machine outside of the sandbox. Paths are absolute. */
export type Machine = {
  /** Resolves links, and leads a path of temporary files to those of the commands. */
  realPath(path: string): string;
  exists(path: string): boolean;
  /** Returns the answer of `access(2)` for the path, or for the nearest existing folder above it. */
  mayWrite(path: string): boolean;
};

export type DenialScope = { plan: SandboxPlan; workspace: readonly string[]; home: string; machine: Machine };

type Denial = { cause: string; note: string };

const mostNotes = 5;
const mostLines = 2000;
const mostLength = 4096;

/** Errors of writing, as programs spell them: the sentence, the name, or Python's number. */
const writeError =
  /Read-only file system|Permission denied|Operation not permitted|Device or resource busy|\bE(?:ROFS|ACCES|PERM|BUSY)\b|\[Errno (?:1|13|16|30)\]/i;
const anyError = new RegExp(
  `${writeError.source}|No such file or directory|not found|Connection refused|cannot connect|\\bE(?:NOENT|CONNREFUSED)\\b|\\[Errno (?:2|111)\\]`,
  "i",
);

/** Returns at most five notes, one per cause, in order of appearance. */
export function denialNotes(ended: EndedCommand, scope: DenialScope): string[] {
  const notes = new Map<string, string>();
  const add = (cause: string | undefined, note: string): void => {
    if (cause !== undefined && !notes.has(cause)) notes.set(cause, note);
  };
  for (const line of ended.output.split("\n", mostLines)) {
    if (line.length <= mostLength && anyError.test(line)) {
      const found = firstDenial(line, ended.cwd, scope);
      add(found?.cause, found?.note ?? "");
    }
    if (/no new privileges/i.test(line))
      add("privileges", "sandbox: sudo and other programs that gain rights cannot work in here.");
  }
  for (const path of pathsNamed(ended, scope)) {
    const found = hiddenDenial(path, scope);
    add(found?.cause, found?.note ?? "");
  }
  return [...notes.values()].slice(0, mostNotes);
}

/** Returns the denial of the first path in a line that has one. */
function firstDenial(line: string, cwd: string, scope: DenialScope): Denial | undefined {
  const isWrite = writeError.test(line);
  for (const path of pathsIn(line, cwd, scope)) {
    const found = denialOf(path, isWrite, scope);
    if (found) return found;
  }
  return undefined;
}

/** Returns how the plan denies a path that an error names; undefined when the machine would deny it too. */
function denialOf(path: string, isWrite: boolean, scope: DenialScope): Denial | undefined {
  const { plan, machine } = scope;
  const socket = plan.sockets.mask.find((one) => one === path || one === machine.realPath(path));
  if (socket !== undefined)
    return { cause: socket, note: `sandbox: the socket ${socket} is not passed into the sandbox.` };
  const real = machine.realPath(path);
  // Commands have temporary files of their own: the same path leads to another file.
  if (machine.exists(path) && !machine.exists(real)) return temporaryDenial(path);
  const protection = protectionOf(plan, real);
  if (protection === "hidden") return hiddenDenial(real, scope);
  if (!isWrite || !machine.mayWrite(real)) return undefined;
  if (protection === "readOnly") return readOnlyDenial(real, scope);
  if (protection === "open") return outsideDenial(real, scope);
  const pinned = plan.pinned.find((one) => one === real);
  if (pinned === undefined) return undefined;
  const note = `sandbox: ${shown(pinned, scope)} cannot be moved or removed here: it holds files that are read-only.`;
  return { cause: pinned, note };
}

function temporaryDenial(path: string): Denial {
  const note = `sandbox: ${path} of this machine is not here: commands and the editor have temporary files of their own. To use it, copy it into the workspace with outside: true and say why.`;
  return { cause: "temporary", note };
}

function hiddenDenial(path: string, scope: DenialScope): Denial | undefined {
  const { plan, machine } = scope;
  const entry = deepest(plan.hidden, path);
  if (entry === undefined || protectionOf(plan, path) !== "hidden" || !machine.exists(path)) return undefined;
  const note = `sandbox: ${shown(entry, scope)} is hidden here and looks empty. Do not look for keys elsewhere; say what you need.`;
  return { cause: entry, note };
}

function readOnlyDenial(path: string, scope: DenialScope): Denial | undefined {
  const entry = deepest(scope.plan.readOnly, path);
  if (entry === undefined) return undefined;
  const why = (scope.plan.why[entry] ?? "").replace(/^built in: /, "");
  const readOnly = `sandbox: ${shown(entry, scope)} is read-only here${why ? `: ${why}` : ""}.`;
  const other = isGitSettings(entry)
    ? " What git says it set there is not set. For this session, set it with git config --global: that file is the session's own, and branch.<name>.remote, remote.<name>.url, submodule.<name>.url or user.name work there too."
    : "";
  return { cause: entry, note: `${readOnly}${other} To change it, repeat with outside: true and say why.` };
}

/** Returns true for the settings of a repository, or of a submodule in its folder. */
function isGitSettings(path: string): boolean {
  return nameOf(path) === "config" && /\/\.git\//.test(path);
}

function outsideDenial(path: string, scope: DenialScope): Denial {
  const { plan, workspace } = scope;
  const root = workspace.find((one) => isInside(path, one));
  if (root !== undefined)
    return { cause: root, note: `sandbox: ${shown(path, scope)} cannot be written in plan mode.` };
  const below = plan.writable.find((one) => workspace.includes(one)) ?? workspace[0];
  const where = below === undefined ? "$TMPDIR" : `${below} or $TMPDIR`;
  const note = `sandbox: ${shown(path, scope)} is outside the workspace and cannot be written. Write below ${where}, or repeat with outside: true and say why; the person is then asked.`;
  return { cause: beginning(path, scope), note };
}

/** Returns the first name of a path, below the home where it lies there: one cause for all that is below it. */
function beginning(path: string, { home }: DenialScope): string {
  const from = isInside(path, home) ? home.length : 0;
  return path.slice(0, from) + path.slice(from).split("/", 2).join("/");
}

function deepest(entries: readonly string[], path: string): string | undefined {
  const covering = entries.filter((one) => isInside(path, one));
  return covering.sort((a, b) => b.length - a.length)[0];
}

function shown(path: string, { home, workspace }: DenialScope): string {
  const root = workspace.find((one) => path !== one && isInside(path, one));
  if (root !== undefined) return path.slice(root.length + 1);
  return isInside(path, home) ? `~${path.slice(home.length)}` : path;
}

/** Lists the possible paths in a line, likeliest first: quoted words, text between colons, other words. */
function pathsIn(line: string, cwd: string, { home }: DenialScope): string[] {
  const quoted = [...line.matchAll(/['"`‘“]([^'"`’”]+)['"`’”]/g)].map(([, text = ""]) => text);
  const words = line.split(/\s+/).map((word) => word.replace(/^[("'`]+|[)"'`.,;]+$/g, ""));
  const pieces = [...line.split(/:\s+/), ...words].filter((piece) => piece.includes("/"));
  const texts = [...quoted, ...pieces].map((text) =>
    text.replace(/^\w+:\/\//, "").replace(/:(?:\d+)?:?$/, ""),
  );
  return [...new Set(texts.filter((text) => text !== "").map((text) => absolute(text, cwd, home)))];
}

/** Returns the paths that the words of a command name. */
function pathsNamed({ command, cwd }: EndedCommand, { home }: DenialScope): string[] {
  const { commands } = readCommandLine(command, { home, folders: [cwd] });
  return commands.flatMap(({ words, redirects, folders }) => {
    const texts = [...words.slice(1), ...redirects.map(({ target }) => target)].map(plain);
    const paths = texts.filter((text) => /^[~./]|\//.test(text));
    return folders.flatMap((folder) => paths.map((path) => absolute(path, folder, home)));
  });
}

function absolute(text: string, cwd: string, home: string): string {
  return resolvePath(cwd, text === "~" || text.startsWith("~/") ? home + text.slice(1) : text);
}
