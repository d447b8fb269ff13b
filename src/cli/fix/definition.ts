/** Finds the definition of a check in the project: the scripts, targets and files that its command runs. Pure. */

import { readCommandLine } from "../../permissions/bash/command-line.ts";
import { programsOf } from "../../permissions/bash/programs.ts";
import { nameOf, plain, resolvePath } from "../../permissions/paths.ts";

/** Returns the text of a file of the project by its absolute path; undefined when there is none. */
export type ReadFile = (path: string) => string | undefined;

/** One part that a check runs. `path` is the absolute path of the file that defines it. */
export type Definition = { path: string; text: string };

const packageManagers = /^(?:npm|pnpm|yarn|bun)$/;
const interpreters = /^(?:ba|da|z|k)?sh$|^(?:node|bun|deno|python\d?(?:\.\d+)?|ruby|perl|php|tsx|ts-node)$/;
/** Programs that one file controls. */
const fileOf: Record<string, string[]> = {
  tox: ["tox.ini"],
  nox: ["noxfile.py"],
  just: ["justfile", "Justfile"],
  task: ["Taskfile.yml", "Taskfile.yaml"],
  rake: ["Rakefile"],
};
const makefiles = ["GNUmakefile", "makefile", "Makefile"];
const checkName = /(?:^|[/._-])(?:tests?|checks?|ci|lint|verify|specs?|e2e)(?:[/._-]|$)/i;
const depthLimit = 6;

/** Returns the parts that the commands run, by name. `cwd` is absolute. Changing any of them would change the check. */
export function definitionsOf(
  commands: readonly string[],
  cwd: string,
  read: ReadFile,
): Map<string, Definition> {
  const found = new Map<string, Definition>();
  for (const command of commands) follow(command, cwd, { found, read }, 0);
  return found;
}

type Search = { found: Map<string, Definition>; read: ReadFile };

function follow(command: string, folder: string, search: Search, depth: number): void {
  if (depth > depthLimit) return;
  const home = "/nonexistent";
  const line = readCommandLine(command, { home, folders: [folder] });
  const written = line.commands.flatMap(({ words }) => words.map(plain));
  for (const { words, folders } of programsOf(line, { home })) {
    const [name = "", ...rest] = words.map(plain);
    const at = folders[0] ?? folder;
    const program = written.find((word) => nameOf(word) === name) ?? name;
    if (packageManagers.test(name)) followScript(name, rest, at, search, depth);
    else if (/^g?make$/.test(name)) followMake(rest, at, search, depth);
    else if (fileOf[name])
      takeFirst(
        fileOf[name].map((file) => resolvePath(at, file)),
        search,
      );
    else
      takeFirst(
        scriptFiles(program, rest).map((file) => resolvePath(at, file)),
        search,
      );
  }
}

/** Returns the program itself, or an interpreter's script, when its name says that it checks something. */
function scriptFiles(program: string, rest: readonly string[]): string[] {
  const file = interpreters.test(nameOf(program)) ? rest.find((word) => !word.startsWith("-")) : program;
  // A program without a folder is looked up on the PATH, not here.
  const isFile = file !== undefined && (file !== program || file.includes("/"));
  return isFile && checkName.test(file) ? [file] : [];
}

function takeFirst(paths: readonly string[], { found, read }: Search): void {
  for (const path of paths) {
    const text = read(path);
    if (text === undefined) continue;
    found.set(path, { path, text });
    return;
  }
}

const folderOption: Record<string, true> = { "-C": true, "--prefix": true, "--cwd": true, "--dir": true };

/** Splits off the folder that an option names: `npm --prefix web test`. */
function withoutFolder(words: readonly string[], folder: string): { words: string[]; folder: string } {
  const at = words.findIndex((word) => folderOption[word]);
  const named = words[at + 1];
  if (at < 0 || named === undefined) return { words: [...words], folder };
  return { words: words.toSpliced(at, 2), folder: resolvePath(folder, named) };
}

function followScript(
  manager: string,
  given: readonly string[],
  from: string,
  search: Search,
  depth: number,
): void {
  const { words, folder } = withoutFolder(given, from);
  const [verb, ...rest] = words.filter((word) => !word.startsWith("-"));
  const name = scriptName(manager, verb, rest[0]);
  const path = resolvePath(folder, "package.json");
  const scripts = scriptsOf(search.read(path));
  if (name === undefined) return;
  for (const script of [`pre${name}`, name, `post${name}`]) {
    const text = scripts[script];
    const key = `${path} script ${script}`;
    // A hook that does not exist yet must not appear either.
    if (typeof text !== "string") search.found.set(key, { path, text: "" });
    else if (!search.found.has(key)) {
      search.found.set(key, { path, text });
      follow(text, folder, search, depth + 1);
    }
  }
}

function scriptName(manager: string, verb: string | undefined, next: string | undefined): string | undefined {
  if (verb === "t" || verb === "tst" || verb === "test") return "test";
  if (verb === "run" || verb === "run-script") return next;
  if (verb === "start") return verb;
  return manager === "npm" || /^(?:install|i|ci|add|exec|x|dlx)$/.test(verb ?? "install") ? undefined : verb;
}

function scriptsOf(text: string | undefined): Record<string, unknown> {
  try {
    const { scripts } = JSON.parse(text ?? "{}") as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null ? (scripts as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function followMake(given: readonly string[], from: string, search: Search, depth: number): void {
  const { words, folder } = withoutFolder(given, from);
  const fileAt = words.findIndex((word) => word === "-f" || word === "--file");
  const names = fileAt < 0 ? makefiles : [words[fileAt + 1] ?? ""];
  const path = names
    .map((name) => resolvePath(folder, name))
    .find((candidate) => search.read(candidate) !== undefined);
  if (path === undefined) return;
  const text = (search.read(path) ?? "").replaceAll("\\\n", " ");
  const named = words.filter(
    (word, index) => !/^-|=/.test(word) && index !== fileAt + 1 * Number(fileAt >= 0),
  );
  const targets = named.length > 0 ? named : [/^([\w.-]+)\s*:(?!=)/m.exec(text)?.[1] ?? "all"];
  for (const target of targets) {
    // Without the file's name: a GNUmakefile added before the Makefile changes the same definition.
    const key = `${folder} make ${target}`;
    if (search.found.has(key)) continue;
    const part = targetPart(text, target);
    search.found.set(key, { path, text: part.text });
    for (const line of part.recipe) follow(line.replace(/^[@+-]+/, ""), folder, search, depth + 1);
  }
}

type TargetPart = { text: string; recipe: string[] };

/** Returns the rules of a target, of its prerequisites that also check, and the settings that change how they run. */
function targetPart(text: string, target: string, seen = new Set<string>()): TargetPart {
  seen.add(target);
  const lines = text.split("\n");
  const heads = lines.flatMap((line, index) => (headOf(line, target) === undefined ? [] : [index]));
  const rules = heads.map((at) => {
    const end = lines.findIndex((line, index) => index > at && line !== "" && !/^\t|^#/.test(line));
    return {
      head: lines[at] ?? "",
      body: lines.slice(at + 1, end < 0 ? undefined : end).filter((line) => line.startsWith("\t")),
    };
  });
  const recipe = rules.flatMap(({ body }) => body.map((line) => line.trim()));
  const needed = rules.flatMap(({ head }) => (headOf(head, target) ?? "").split(/\s+/).filter(Boolean));
  const followed = needed.filter((name) => !seen.has(name) && (recipe.length === 0 || checkName.test(name)));
  const below = followed.map((name) => targetPart(text, name, seen));
  const own = [
    ...rules.flatMap(({ head, body }) => [head, ...body]),
    ...settingsFor(lines, recipe.join("\n")),
  ];
  return {
    text: [...own, ...below.map((part) => part.text)].join("\n"),
    recipe: [...recipe, ...below.flatMap((part) => part.recipe)],
  };
}

/** Returns the text after the colon when the line is a rule (or a variable) of the target. */
function headOf(line: string, target: string): string | undefined {
  const match = /^([^\s#:=][^:=#]*?)\s*::?(?!=)(.*)$/.exec(line);
  return match?.[1]?.split(/\s+/).includes(target) ? match[2] : undefined;
}

const settings =
  /^(?:override\s+|export\s+)*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS)\s*[:+?!]{0,3}=|^\.(?:IGNORE|ONESHELL|DEFAULT)\b/;

/** Returns lines that set how recipes run, and those that set a variable which the recipe uses. */
function settingsFor(lines: readonly string[], recipe: string): string[] {
  const used = [...recipe.matchAll(/\$[({](\w+)[)}]/g)].map((match) => match[1] ?? "");
  const sets = (line: string): boolean =>
    used.some((name) => new RegExp(`^(?:override\\s+|export\\s+)*${name}\\s*[:+?!]{0,3}=`).test(line));
  return lines.filter((line) => settings.test(line) || sets(line));
}
