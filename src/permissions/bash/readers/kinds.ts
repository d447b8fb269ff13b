/** Readers shared by many programs, and readers for arguments of a special kind: patterns, scripts, operators. Pure. */

import { hasGlob, plain } from "../../paths.ts";
import { type OptionList, type Options, readOptions } from "./options.ts";
import { nothing, type Reading } from "./reading.ts";
import { awkOnlyReads, jqOnlyReads, sedOnlyReads } from "./scripts.ts";

/** Returns what a command with these arguments reads; undefined when it may do more. */
export type Read = (args: readonly string[]) => Reading | undefined;
type Details = {
  operands?: "contents" | "names" | "words" | "none";
  most?: number;
  /** Options (letters and names) under which links are followed. */
  follows?: readonly string[];
  /** Options whose values choose files. */
  choosing?: readonly string[];
  /** An additional check of the options and operands. */
  check?(options: Options): boolean;
};

export function reader(list: OptionList, details: Details = {}): Read {
  return (args) => {
    const options = readOptions(list, args);
    return options && readingBy(options, options.operands, details);
  };
}

function readingBy(options: Options, operands: readonly string[], details: Details): Reading | undefined {
  const kind = details.operands ?? "contents";
  if (operands.length > (kind === "none" ? 0 : (details.most ?? Number.POSITIVE_INFINITY))) return undefined;
  if (details.check?.(options) === false) return undefined;
  if (kind === "words" || kind === "none") return { ...nothing, contents: options.paths, wordsOnly: true };
  const follows = details.follows?.some((option) => options.given.has(option)) ?? false;
  const paths = operands.filter((path) => path !== "-");
  return {
    contents: [...options.paths, ...(kind === "contents" ? paths : [])],
    names: kind === "names" ? paths : [],
    walked: follows ? (paths.length > 0 ? paths : ["."]) : [],
    chosen: options.values
      .filter(({ option }) => details.choosing?.includes(option))
      .map(({ value }) => value),
  };
}

/** Treats the first operand as a pattern or a program, unless an option gives it. */
function withFirst(
  list: OptionList,
  given: readonly string[],
  details: Details,
  check: (texts: readonly string[]) => boolean = () => true,
): Read {
  return (args) => {
    const options = readOptions(list, args);
    if (!options) return undefined;
    const isGiven = given.some((option) => options.given.has(option));
    const texts = isGiven
      ? options.values.filter(({ option }) => given.includes(option)).map(({ value }) => value)
      : options.operands.slice(0, 1);
    if (!check(texts)) return undefined;
    return readingBy(options, isGiven ? options.operands : options.operands.slice(1), details);
  };
}

/** Accepts a program's text only when it is quoted, because an unquoted glob could become anything. */
function isScript(texts: readonly string[], onlyReads: (text: string) => boolean): boolean {
  return texts.length > 0 && !texts.some(hasGlob) && onlyReads(texts.map(plain).join("\n"));
}

export const grep = withFirst(
  "a A: b B: c C: d: D: e: E f@ F G h H i I l L m: n o P q r R s T u U v w x y z Z # --after-context: --before-context: " +
    "--context: --basic-regexp --extended-regexp --fixed-strings --perl-regexp --regexp: --file@ --ignore-case " +
    "--no-ignore-case --invert-match --word-regexp --line-regexp --count --color* --colour* --files-with-matches " +
    "--files-without-match --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename " +
    "--no-filename --label: --line-number --initial-tab --null --text --binary-files: --directories: --exclude: " +
    "--exclude-from@ --exclude-dir: --include: --recursive --dereference-recursive --line-buffered --binary --null-data",
  ["e", "f", "regexp", "file"],
  { follows: ["R", "dereference-recursive"], choosing: ["include"] },
);

const rgOptions =
  "a A: B: c C: d: e: E: f@ F g: H i I j: l L m: M: n N o p P q r: s S t: T: u U v V w x . 0 --after-context: --auto-hybrid-regex " +
  "--before-context: --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --no-column " +
  "--context: --context-separator: --count --count-matches --crlf --encoding: --engine: --field-context-separator: " +
  "--field-match-separator: --file@ --files --files-with-matches --files-without-match --fixed-strings --follow " +
  "--no-follow --glob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden --iglob: --ignore-case " +
  "--ignore-file@ --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp " +
  "--max-columns: --max-columns-preview --max-count: --max-depth: --max-filesize: --mmap --no-mmap --multiline " +
  "--multiline-dotall --no-config --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files " +
  "--no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git " +
  "--no-unicode --null --null-data --one-file-system --only-matching --passthru --pcre2 --pretty --quiet --regexp: " +
  "--replace: --smart-case --sort: --sortr: --stats --text --threads: --trim --type: --type-add: --type-list " +
  "--type-not: --unrestricted --vimgrep --with-filename --no-filename --word-regexp --version";

export const rg = withFirst(rgOptions, ["e", "f", "regexp", "file", "files", "type-list"], {
  follows: ["L", "follow"],
  choosing: ["g", "glob", "iglob"],
});

export const sed = withFirst(
  "n E r s z u e: --quiet --silent --regexp-extended --expression: --null-data --separate --unbuffered --posix",
  ["e", "expression"],
  {},
  (texts) => isScript(texts, sedOnlyReads),
);

const awkList = "F: v: --field-separator: --assign:";
/** Reads awk. Options stand before the program; a word after it that looks like one is a file. */
export const awk: Read = (args) => {
  let first = 0;
  while (args[first]?.startsWith("-") && args[first] !== "--")
    first += /^(?:-[Fv]|--field-separator|--assign)$/.test(args[first] ?? "") ? 2 : 1;
  const options = readOptions(awkList, args.slice(0, first));
  if (args[first] === "--") first += 1;
  const [program = "", ...files] = args.slice(first);
  if (!options || options.operands.length > 0 || !isScript([program], awkOnlyReads)) return undefined;
  if (files.some((file) => file.startsWith("-") && file !== "-")) return undefined;
  // `x=1` sets a variable; a name with `=` in it may as well be a file.
  const paths = files.filter((file) => !/^[A-Za-z_]\w*=[^/]*$/.test(file) && file !== "-");
  return { ...nothing, contents: paths };
};

const jqList =
  "r c e n s S M C a j R --raw-output --compact-output --exit-status --null-input --slurp --sort-keys --monochrome-output " +
  "--color-output --ascii-output --join-output --raw-input --tab --indent: --stream --seq --unbuffered";
export const jq: Read = (args) => {
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    if (/^--arg(?:json)?$/.test(args[at] ?? "")) at += 2;
    else rest.push(args[at] ?? "");
  }
  const options = readOptions(jqList, rest);
  const [filter = "", ...files] = options?.operands ?? [];
  if (!options || !isScript([filter], jqOnlyReads)) return undefined;
  return { ...nothing, contents: [...options.paths, ...files] };
};

/** Reads printf. `%n` and `-v` assign to variables, so neither is accepted. */
export const printf: Read = (args) => {
  const [format = ""] = args[0] === "--" ? args.slice(1) : args;
  const isFixed = !format.startsWith("-") && !args.some(hasGlob);
  const assigns = /%[^A-Za-z%(]*[hlLjzt]*n/.test(plain(format).replaceAll("%%", ""));
  return isFixed && !assigns ? { ...nothing, wordsOnly: true } : undefined;
};

const testOperators = /^(?:-[abcdefghkLnNoOprsStuwxzG]|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)|[^-][\s\S]*|-\d+|-?)$/;
/** Reads test. `-v` and `-R` evaluate text in brackets in their operand, and a file's name could become one. */
export const test: Read = (args) =>
  args.every((arg) => testOperators.test(arg) && !hasGlob(arg === "]" ? "" : arg))
    ? { ...nothing, names: args.filter((arg) => /[/.~]/.test(arg) && !arg.startsWith("-")) }
    : undefined;

/** Reads xxd, whose long options begin with one dash, so that letters cannot be clustered. */
export const xxd: Read = (args) => {
  const operands = args.filter((arg, at) => !arg.startsWith("-") && !/^-[cgls]$/.test(args[at - 1] ?? ""));
  const known = args.every((arg) => !arg.startsWith("-") || /^-(?:[abeipu]|ps|[cgls]\d*)?$/.test(arg));
  const counts = args.every((arg, at) => !/^-[cgls]$/.test(arg) || /^\d+$/.test(args[at + 1] ?? ""));
  return known && counts && operands.length <= 1 ? { ...nothing, contents: operands } : undefined;
};

/** Reads tree. A letter takes the next argument as its value even when other letters follow it. */
export const tree: Read = (args) =>
  args.some((arg) => /^-\w*[LPI]\w/.test(arg))
    ? undefined
    : reader(
        "a d f i l L: P: I: s h u g p D F r t U v x q N Q C n J X --dirsfirst --filesfirst --noreport --gitignore --prune " +
          "--du --si --inodes --ignore-case --matchdirs",
        { operands: "names", follows: ["l"] },
      )(args);
