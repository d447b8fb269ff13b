/**
 * The programs that only read, each with the options for which that holds. An option that is not listed may write, run
 * something, or read the names of other files from a file. Letters that take a value on one system and none on another
 * are left out. Pure.
 */

import { plain } from "../../paths.ts";
import { gitReading } from "./git.ts";
import { awk, grep, jq, printf, type Read, reader, rg, sed, test, tree, xxd } from "./kinds.ts";
import type { OptionList } from "./options.ts";
import { nothing, type Reading } from "./reading.ts";

const findTests = new Map(
  Object.entries({
    value:
      "-name -iname -path -ipath -wholename -iwholename -regex -iregex -type -xtype -size -mtime -ctime -atime -mmin -cmin " +
      "-amin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -regextype -printf -used -fstype",
    alone:
      "-empty -o -or -a -and -not ! ( ) , -prune -print -print0 -ls -quit -depth -d -mount -xdev -readable -writable " +
      "-executable -true -false -nouser -nogroup -daystart -noleaf -warn -nowarn",
    file: "-newer -anewer -cnewer -samefile",
  }).flatMap(([kind, names]) => names.split(" ").map((name): [string, string] => [name, kind])),
);

/** Reads `find`. `-exec` runs a command over the files found, which may be one that only reads. */
const find: Read = (args) => {
  const start = args.findIndex((arg) => /^[-(),!]/.test(plain(arg)) && !/^-[HLP]$/.test(arg));
  const before = start < 0 ? args : args.slice(0, start);
  const roots = before.filter((arg) => !arg.startsWith("-"));
  const found = roots.length > 0 ? roots : ["."];
  const terms = start < 0 ? [] : termsOf(args.slice(start), found);
  if (!terms) return undefined;
  const contents = terms.flatMap((term) => term.contents);
  const follows = before.includes("-L") || terms.some(({ walked }) => walked.length > 0);
  return {
    contents,
    names: [...found, ...terms.flatMap(({ names }) => names)],
    walked: follows ? found : [],
    chosen: contents.length > 0 ? terms.flatMap(({ chosen }) => chosen) : [],
  };
};

/** Returns what the terms of a `find` expression read; undefined when one is unknown. */
function termsOf(args: readonly string[], found: readonly string[]): Reading[] | undefined {
  const terms: Reading[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = plain(args[at] ?? "");
    const kind = findTests.get(word);
    const value = args[at + 1] ?? "";
    if (word === "-exec") {
      const run = runByFind(args.slice(at + 1), found);
      if (!run) return undefined;
      terms.push(run.reading);
      at += run.length;
    } else if (kind === undefined) return undefined;
    else if (kind !== "alone") {
      terms.push(kind === "file" ? { ...nothing, names: [value] } : { ...nothing, chosen: [value] });
      at += 1;
    }
  }
  return terms;
}

function runByFind(
  args: readonly string[],
  found: readonly string[],
): { reading: Reading; length: number } | undefined {
  const words = args.map(plain);
  const end = words.findIndex((word, at) => word === ";" || (word === "+" && words[at - 1] === "{}"));
  const reading = end > 0 ? readingOver(args.slice(0, end), found, words[end] === "+") : undefined;
  return reading && { reading, length: end + 1 };
}

/** Stands for the files that are passed on; it is neither a program nor an option. */
const handed = "\ue0fe";

/** Reads a command that is given the files below `folders`, in place of `{}` or after its words. */
export function readingOver(
  words: readonly string[],
  folders: readonly string[],
  isBehind: boolean,
): Reading | undefined {
  const hasPlace = words.some((word) => plain(word).includes("{}"));
  const given = hasPlace ? words.map((word) => (plain(word) === "{}" ? handed : word)) : [...words, handed];
  // With more than one a command such as `uniq` writes the second.
  const reading = readingOf(isBehind ? [...given, handed] : given);
  if (!reading || given.some((word) => plain(word).includes("{}"))) return undefined;
  if (given[0] === handed || reading.wordsOnly) return reading.wordsOnly ? reading : undefined;
  const own = (paths: readonly string[]): string[] => paths.filter((path) => path !== handed);
  return {
    ...reading,
    contents: [...own(reading.contents), ...folders],
    names: own(reading.names),
    walked: [...own(reading.walked), ...folders],
  };
}

const wordsOf = (list: OptionList = ""): Read => reader(list, { operands: "words" });
const anyWords: Read = () => ({ ...nothing, wordsOnly: true });
const sums = reader("b t z --binary --text --tag --zero");
const lines = "n: c: q v z # --lines: --bytes: --quiet --silent --verbose --zero-terminated";

const readers: Record<string, Read> = {
  cat: reader(
    "A b e E n s t T u v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
  ),
  head: reader(lines),
  tail: reader(`r ${lines}`),
  wc: reader("c m l w L --bytes --chars --lines --words --max-line-length --total:"),
  ls: reader(
    "a A b B c C d f F g G h H i k l L m n N o p q Q r R s S t u U v x X Z 1 --all --almost-all --author --escape " +
      "--block-size: --ignore-backups --color* --directory --classify* --file-type --format: --full-time " +
      "--group-directories-first --no-group --human-readable --si --dereference-command-line --hide: --hyperlink* " +
      "--indicator-style: --inode --ignore: --kibibytes --dereference --numeric-uid-gid --literal --quote-name " +
      "--quoting-style: --reverse --recursive --size --sort: --time: --time-style: --width: --zero",
    { operands: "names", follows: ["L", "dereference"] },
  ),
  pwd: reader("L P --logical --physical", { operands: "none" }),
  echo: anyWords,
  printf,
  true: anyWords,
  false: anyWords,
  test,
  "[": test,
  // The folder of `cd -` is unknown, and `cd` without a folder goes home.
  cd: reader("L P e", {
    operands: "names",
    most: 1,
    check: ({ operands: [to = "-"] }) => to !== "-" && to !== "",
  }),
  sleep: reader("", {
    operands: "words",
    check: ({ operands }) => operands.every((operand) => /^[\d.]+[smhd]?$/.test(operand)),
  }),
  which: wordsOf("a s --all"),
  type: wordsOf("a f p P t"),
  command: (args) => (/^-[vV]$/.test(args[0] ?? "") ? wordsOf("v V")(args) : undefined),
  stat: reader("L f t c: --format: --printf: --terse --dereference --file-system", { operands: "names" }),
  du: reader(
    "a b c d: h H k l L m s S x 0 # --all --apparent-size --total --max-depth: --human-readable --summarize --exclude: " +
      "--threshold: --si --bytes --one-file-system --separate-dirs --dereference --time*",
    { operands: "names", follows: ["L", "dereference"] },
  ),
  df: reader(
    "a h H i k l m P T --all --human-readable --si --total --inodes --output* --local --portability --print-type",
    {
      operands: "names",
    },
  ),
  nl: reader("b: d: f: h: i: l: n: p s: v: w:"),
  cut: reader(
    "b: c: d: f: n s z --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter: " +
      "--zero-terminated",
  ),
  tr: wordsOf("c C d s t u --complement --delete --squeeze-repeats --truncate-set1"),
  comm: reader("1 2 3 i z --check-order --nocheck-order --output-delimiter: --total --zero-terminated"),
  diff: (args) => {
    const reading = reader(
      "a b B c C: d e E F: i I: L: n N p q r s S: t T u U: w W: x: X@ y Z # --brief --color* --context* --exclude: " +
        "--exclude-from@ --from-file@ --to-file@ --expand-tabs --initial-tab --ignore-all-space --ignore-blank-lines " +
        "--ignore-case --ignore-matching-lines: --ignore-space-change --ignore-tab-expansion --ignore-trailing-space " +
        "--label: --left-column --minimal --new-file --no-dereference --normal --recursive --report-identical-files " +
        "--show-c-function --side-by-side --speed-large-files --strip-trailing-cr --suppress-common-lines --text " +
        "--unified* --unidirectional-new-file --width:",
    )(args);
    return reading && { ...reading, walked: reading.contents };
  },
  cmp: reader("b i: l n: s --verbose --silent --quiet --bytes: --ignore-initial: --print-bytes"),
  ...Object.fromEntries(
    "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum"
      .split(" ")
      .map((name) => [name, sums]),
  ),
  basename: wordsOf("a s: z --multiple --suffix: --zero"),
  dirname: wordsOf("z --zero"),
  realpath: reader(
    "e m L P s q z --relative-to@ --relative-base@ --canonicalize-existing --canonicalize-missing --no-symlinks --quiet",
    { operands: "names" },
  ),
  readlink: reader(
    "f e m n q s v z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline",
    {
      operands: "names",
    },
  ),
  uname: reader("a s n r v m p i o --all --kernel-name --kernel-release --machine --operating-system", {
    operands: "none",
  }),
  whoami: reader("", { operands: "none" }),
  id: wordsOf("a g G n r u z --user --group --groups --name --real"),
  groups: wordsOf(),
  nproc: reader("--all --ignore:", { operands: "none" }),
  arch: reader("", { operands: "none" }),
  column: reader("t x s: c: --table --separator:"),
  date: reader("u R I* d: r@ --date: --utc --universal --rfc-email --rfc-3339: --iso-8601* --reference@", {
    operands: "words",
    check: ({ operands }) => operands.every((operand) => operand.startsWith("+")),
  }),
  file: reader(
    "b i k L h N r s 0 --brief --mime --mime-type --mime-encoding --keep-going --dereference --no-dereference",
  ),
  git: (args) => gitReading(args.map(plain)),
  ...{ grep, egrep: grep, fgrep: grep, rg, sed, awk, gawk: awk, mawk: awk, nawk: awk, jq, find, tree, xxd },
  sort: reader(
    "b c C d f g h i k: M m n r R s S: t: u V z --ignore-leading-blanks --dictionary-order --ignore-case " +
      "--general-numeric-sort --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --sort: " +
      "--version-sort --check* --key: --merge --stable --buffer-size: --field-separator: --parallel: --unique " +
      "--zero-terminated",
  ),
  uniq: reader(
    "c d D u i f: s: w: z # --count --repeated --all-repeated* --unique --ignore-case --skip-fields: --skip-chars: " +
      "--check-chars: --zero-terminated",
    { most: 1 },
  ),
  od: reader(
    "A: j: N: t: w* v a b c d f i l o s x S: --address-radix: --skip-bytes: --read-bytes: --format: --output-duplicates",
  ),
  hexdump: reader("b c C d n: o s: v x"),
  strings: reader("a f n: t: e: o w # --all --bytes: --radix: --encoding:", {
    check: ({ operands }) => !operands.some((operand) => operand.startsWith("@")),
  }),
};

/** Programs that only print their version. Those that a repository's own settings replace are left out. */
const versioned = new Set(
  "node npm npx bun deno python python3 pip pip3 ruby perl php java javac gcc g++ clang cc make cmake git docker podman bash jq rg uv psql".split(
    " ",
  ),
);

/**
 * Returns everything that a command reads when it does nothing else; undefined when it may do more. Quoted specials are
 * masked.
 */
export function readingOf(words: readonly string[]): Reading | undefined {
  const [name = "", ...args] = words;
  const only = args.length === 1 ? args[0] : undefined;
  if (versioned.has(name) && (only === "--version" || (only === "-v" && /^(?:node|npm)$/.test(name))))
    return { ...nothing, wordsOnly: true };
  return Object.hasOwn(readers, name) ? readers[name]?.(args) : undefined;
}

/** Returns true when the program's arguments are not commands. */
export function isReader(name: string): boolean {
  return Object.hasOwn(readers, name) && !/^(?:[gmn]?awk|jq|command)$/.test(name);
}

/** Returns true when the program writes nothing, whatever its options. */
export function neverWrites(name: string): boolean {
  return (
    Object.hasOwn(readers, name) &&
    !/^(?:sort|uniq|tree|xxd|find|sed|[gmn]?awk|date|file|rg|diff|command)$/.test(name)
  );
}
