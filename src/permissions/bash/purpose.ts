/**
 * Tells what a command line is for, from its programs: its output is a file that was read, a search, the verdict of a
 * test, an edit's, or something else. A guess for statistics, never for permissions. Pure.
 */

import type { CommandPurpose } from "../../core/events.ts";
import { hasGlob, nameOf, plain, resolvePath } from "../paths.ts";
import { readCommandLine } from "./command-line.ts";
import { shells } from "./programs.ts";
import { readingOf } from "./readers/table.ts";
import type { SimpleCommand } from "./scanner.ts";
import { runsTest, scriptIsTest } from "./test-runs.ts";
import { isUnknown } from "./words.ts";

/** `test`: linters and type checkers are among them. */
type Purpose = CommandPurpose["kind"];

const deepest = 4;
/** Longer ones are data with a command around it. */
const longest = 4_000;

/** Reads a command line that starts in the folder `cwd`. Accepts any text. */
export function commandPurpose(command: string, cwd: string, depth = 0): CommandPurpose {
  const line = readCommandLine(beginning(command), { home: "/", folders: [resolvePath("/", cwd)] });
  const parts = pipelines(line.commands).flatMap((stages) => purposesOf(stages, cwd, depth));
  const kinds = new Set(parts.map(({ kind }) => kind));
  // The output of a line is mostly that of what prints most; an edit prints little.
  const kind = (["test", "read", "other", "search", "edit"] as const).find((each) => kinds.has(each));
  return {
    kind: kind ?? "other",
    read: [...new Set(parts.flatMap(({ read }) => read))],
    wrote: [...new Set(parts.flatMap(({ wrote }) => wrote))],
  };
}

/** The line up to the limit; the bodies of heredocs, which are data, are left out first. */
function beginning(command: string): string {
  if (command.length <= longest) return command;
  const kept: string[] = [];
  let delimiter: string | undefined;
  for (const text of command.split("\n")) {
    if (delimiter !== undefined && text.trim() !== delimiter) continue;
    kept.push(text.slice(0, longest));
    delimiter = delimiter === undefined ? /<<-?\s*['"]?(\w+)/.exec(text.slice(0, longest))?.[1] : undefined;
  }
  return kept.join("\n").slice(0, longest);
}

/** Groups the commands by the pipes between them. */
function pipelines(commands: readonly SimpleCommand[]): SimpleCommand[][] {
  const groups: SimpleCommand[][] = [];
  let open = false;
  for (const command of commands) {
    if (open) groups.at(-1)?.push(command);
    else groups.push([command]);
    open = /^\|&?$/.test(command.after);
  }
  return groups;
}

/** A pipe passes on what its first stage prints; a pattern makes a search of a file. */
function purposesOf(stages: readonly SimpleCommand[], cwd: string, depth: number): CommandPurpose[] {
  const each = stages.flatMap((stage) => purposeOf(stage, cwd, depth) ?? []);
  const [first] = each;
  if (!first) return [];
  const wrote = each.flatMap((part) => part.wrote);
  const written = stages.some((stage) => writesOutput(stage));
  const quiet = first.kind === "read" || first.kind === "search";
  const searched =
    first.kind === "read" && stages.slice(1).some(({ words }) => picks.test(plain(words[0] ?? "")));
  const handed = stages.findLast(({ words }) => words[0] === "xargs");
  const passed =
    (handed && purposeOf(handed, cwd, depth)) ??
    each.find(({ kind }) => kind === "test" || kind === "edit") ??
    first;
  const kind = quiet && written ? "edit" : searched && passed === first ? "search" : passed.kind;
  return [{ kind, read: each.flatMap((part) => part.read), wrote }];
}

const picks = /^(?:[ef]?grep|rg|ag|ack)$/;

function writesOutput({ redirects, words }: SimpleCommand): boolean {
  return words[0] === "tee" || writtenBy(redirects).length > 0;
}

function writtenBy(redirects: SimpleCommand["redirects"]): string[] {
  return redirects
    .filter(
      ({ operator, target }) =>
        /^(?:&>>?|>>|>\||>|<>)$/.test(operator) && !/^(?:\/dev\/|&|\d+$)/.test(target),
    )
    .map(({ target }) => target);
}

/** One command; undefined for one that prints nothing to speak of. */
function purposeOf(command: SimpleCommand, cwd: string, depth: number): CommandPurpose | undefined {
  const words = unwrapped(command.words);
  const [program = "", ...args] = words.map(plain);
  const name = nameOf(program);
  if (shells.has(name)) return shellPurpose(args, command.folders[0] ?? cwd, depth);
  const paths = (found: readonly string[]) =>
    found
      .filter((path) => path !== "" && !isUnknown(path) && !hasGlob(path))
      .map((path) => resolvePath(command.folders[0] ?? "/", plain(path)));
  const kind = kindOf(name, words);
  const redirected = writtenBy(command.redirects);
  if (kind === "edit") return { kind, read: [], wrote: paths([...redirected, ...editedBy(name, words)]) };
  if (kind === "silent") {
    return redirected.length > 0 ? { kind: "edit", read: [], wrote: paths(redirected) } : undefined;
  }
  const read = kind === "read" ? paths(readingOf([name, ...words.slice(1)])?.contents ?? []) : [];
  return { kind, read, wrote: paths(redirected) };
}

/** A shell that runs a text or a script. */
function shellPurpose(args: readonly string[], cwd: string, depth: number): CommandPurpose {
  const given = args.findIndex((arg) => /^-\w*c$/.test(arg));
  const text = args[given + 1];
  if (given >= 0 && text !== undefined && depth < deepest) return commandPurpose(text, cwd, depth + 1);
  const script = args.find((arg) => !arg.startsWith("-")) ?? "";
  return { kind: scriptIsTest(script) ? "test" : "other", read: [], wrote: [] };
}

const before =
  /^(?:if|then|elif|else|while|until|do|!|\{|time|nohup|command|exec|sudo|doas|builtin|npx|bunx|pnpx|setsid|unbuffer)$/;
const runners = /^(?:uv|poetry|pdm|hatch|pipenv|rye)$/;
const packagers = /^(?:npm|pnpm|yarn|bun|bundle|mise)$/;

/** The words of the program itself, behind keywords and programs that run another. */
function unwrapped(given: readonly string[]): readonly string[] {
  let words = given;
  for (let turn = 0; turn < 8; turn++) {
    const [first = "", second = ""] = words.map((word) => nameOf(plain(word)));
    if (before.test(first)) words = withoutOptions(words.slice(1));
    else if (first === "env") words = words.slice(1).filter((word, at, all) => !isSetting(word, at, all));
    else if (/^(?:timeout|nice|ionice|stdbuf|chrt|flock)$/.test(first))
      words = withoutOptions(words.slice(1), /^[\d.]+[smhd]?$/);
    else if (first === "xargs") words = withoutOptions(words.slice(1), /^(?:\d+|\{\}|%)$/);
    else if (runners.test(first) && second === "run") words = withoutOptions(words.slice(2));
    else if (packagers.test(first) && /^(?:exec|x|dlx)$/.test(second)) words = withoutOptions(words.slice(2));
    else break;
  }
  return words;
}

/** `NAME=value` and options before the program that `env` runs. */
function isSetting(word: string, at: number, all: readonly string[]): boolean {
  return all.slice(0, at + 1).every((each) => /^-|^\w+=/.test(each)) && /^-|^\w+=/.test(word);
}

function withoutOptions(words: readonly string[], value?: RegExp): readonly string[] {
  const start = words.findIndex((word) => !word.startsWith("-") && !value?.test(plain(word)));
  return start < 0 ? [] : words.slice(start);
}

const searches = new Set(
  "grep egrep fgrep rg ag ack find fd fdfind ls tree locate which whereis type wc du stat file eza exa".split(
    " ",
  ),
);
const readers = new Set(
  "cat head tail nl less more bat batcat tac awk gawk mawk cut jq yq xxd od hexdump strings sort uniq column fold paste".split(
    " ",
  ),
);
const silent = new Set(
  "cd pushd popd export set unset source . echo printf true false : sleep wait exit return local declare readonly trap ulimit alias shopt read test [ [[ done fi esac for case in pwd kill chmod }".split(
    " ",
  ),
);
const edits = new Set(
  "tee patch cp mv rm mkdir rmdir touch ln install truncate dd ed ex rsync unzip tar apply_patch".split(" "),
);

function kindOf(name: string, words: readonly string[]): Purpose | "silent" {
  const args = words.slice(1).map(plain);
  if (name === "" || silent.has(name)) return "silent";
  if (name === "git") return gitKind(args);
  if (runsTest(name, args)) return "test";
  if (name === "sed" || name === "perl" || name === "ruby") return streamKind(name, words);
  if (name === "find" && args.includes("-exec")) return foundKind(args);
  if (searches.has(name)) return "search";
  if (readers.has(name)) return "read";
  return edits.has(name) ? "edit" : "other";
}

/** Editors of streams change files with `-i`. */
function streamKind(name: string, words: readonly string[]): Purpose {
  if (words.slice(1).some((word) => /^-\w*i|^--in-place/.test(word))) return "edit";
  return name === "sed" ? "read" : "other";
}

/** `find` is what it runs on the files that it finds. */
function foundKind(args: readonly string[]): Purpose {
  const run = args.slice(args.indexOf("-exec") + 1);
  const kind = kindOf(nameOf(run[0] ?? ""), run);
  return kind === "silent" ? "search" : kind;
}

function gitKind(args: readonly string[]): Purpose {
  const at = args.findIndex((arg, index) => !arg.startsWith("-") && !/^-[Cc]$/.test(args[index - 1] ?? ""));
  const rest = args.slice(at + 1);
  switch (args[at]) {
    case "grep":
    case "ls-files":
    case "ls-tree":
      return "search";
    case "blame":
    case "cat-file":
      return "read";
    case "show":
      return rest.some((arg) => /^[^-].*:./.test(arg)) ? "read" : "other";
    case "apply":
    case "restore":
    case "mv":
    case "rm":
      return "edit";
    case "checkout":
      return rest.includes("--") ? "edit" : "other";
    default:
      return "other";
  }
}

/** Operands that such a command writes; for a stream editor all but its script. */
function editedBy(name: string, words: readonly string[]): readonly string[] {
  const operands = words.slice(1).filter((word) => !word.startsWith("-"));
  if (name === "sed") return operands.slice(1);
  if (name === "cp" || name === "mv" || name === "ln" || name === "install") return operands.slice(-1);
  return name === "tee" || name === "touch" || name === "truncate" || name === "rm" ? operands : [];
}
