/** Parses the command line into one plain value by the table of options. Pure. */

import { parseArgs } from "node:util";
import { UsageError } from "../../core/errors.ts";
import { refuseIneffective } from "./combinations.ts";
import {
  accepts,
  type CommandName,
  commandNames,
  type NamedCommand,
  readingCommands,
  takes,
} from "./option.ts";
import { allOptions, type FlagsOf, type NamedOption } from "./options.ts";

type Named = { [C in NamedCommand]: { name: C; operands: string[]; flags: FlagsOf<C> } };

export type Command =
  | { name: "help" | "version" }
  | { name: "run"; prompt?: string; flags: FlagsOf<"run"> }
  | Named[NamedCommand];

/** The options in the form of `parseArgs`: one entry a name, each repeatable. */
const parsed = Object.fromEntries(
  allOptions.map(({ name, kind, short }) => [
    name,
    { type: kind === "flag" ? "boolean" : "string", multiple: true, ...(short ? { short } : {}) } as const,
  ]),
);

/** The texts given for each option, by its name. */
type Written = ReadonlyMap<string, readonly string[]>;

/** Parses the words after the program's name. Throws `UsageError`. */
export function parseCommand(line: readonly string[]): Command {
  const { written, positionals } = parse(withBareValues(line));
  if (written.has("help")) return { name: "help" };
  if (written.has("version")) return { name: "version" };
  const [first, ...rest] = positionals;
  const name = written.has("print") ? undefined : commandNames.find((command) => command === first);
  refuseStray(written, name ?? "run");
  refuseIneffective(name ?? "run", { written, operands: name ? rest : [] });
  if (name) return namedCommand(name, rest, written);
  if (rest.length > 0) throw new UsageError("more than one prompt: quote the prompt (see sawtooth --help)");
  return { name: "run", flags: flagsFor("run", written), ...(first === undefined ? {} : { prompt: first }) };
}

function namedCommand<C extends NamedCommand>(name: C, operands: string[], written: Written): Command {
  const command = { name, operands, flags: flagsFor(name, written) } as Named[NamedCommand];
  if (command.name === "fix") checkFix(command.flags, operands);
  if (command.name === "batch") checkBatch(command.flags, operands, written);
  return command;
}

/** Reads the values of all options of the command. Throws `ValueError`. */
function flagsFor<C extends CommandName>(command: C, written: Written): FlagsOf<C> {
  const fields = allOptions.flatMap((option) => {
    if (!takes(option, command)) return [];
    const value = option.read(written.get(option.name) ?? [], `--${option.name}`);
    return value === undefined ? [] : [[option.field, value]];
  });
  // The table determines both the fields and their types.
  return Object.fromEntries(fields) as FlagsOf<C>;
}

/** Throws `UsageError` for an option of another command, which it names. */
function refuseStray(written: Written, command: CommandName): void {
  for (const name of written.keys()) {
    const options = allOptions.filter((option) => option.name === name);
    if (options.some((option) => accepts(option, command))) continue;
    const owners = options.flatMap(({ commands = [] }) => commands);
    if (owners.length === 0)
      throw new UsageError(`--${name} has no effect on ${command}: ${takenBy(command)}`);
    throw new UsageError(`--${name} belongs to sawtooth ${owners.join(" and ")} (see sawtooth --help)`);
  }
}

function takenBy(command: CommandName): string {
  if (!readingCommands.includes(command)) return "see sawtooth --help";
  const names = allOptions.filter((option) => accepts(option, command)).map(({ name }) => `--${name}`);
  return names.length === 0 ? "it takes no options" : `it takes ${names.join(", ")}`;
}

/** Gives an empty value to an option that may stand without one, which `parseArgs` does not support. */
function withBareValues(line: readonly string[]): string[] {
  const end = line.indexOf("--");
  return line.flatMap((word, index) => {
    if (end !== -1 && index > end) return [word];
    const option = allOptions.find(({ bare, name, short }) => bare && isWritten(word, name, short));
    if (!option) return [word];
    return line[index + 1]?.startsWith("-") === false ? [word] : [`--${option.name}=`];
  });
}

function isWritten(word: string, name: string, short: string | undefined): boolean {
  return word === `--${name}` || (short !== undefined && word === `-${short}`);
}

function parse(args: string[]): { written: Written; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options: parsed, allowPositionals: true });
    const lists = Object.entries(values).map(([name, list]) => [name, [list].flat().map(String)] as const);
    return { written: new Map(lists), positionals };
  } catch (error) {
    const text = error instanceof Error ? (error.message.split(/\.\s|\n/)[0] ?? "") : String(error);
    throw new UsageError(`${text.charAt(0).toLowerCase()}${text.slice(1)} (see sawtooth --help)`);
  }
}

function checkFix({ checks, commit, branch, reports }: FlagsOf<"fix">, [operand]: readonly string[]): void {
  if (operand !== undefined)
    throw new UsageError(`fix does not take ${operand}: quote commands and globs, each after its option`);
  if (checks.length === 0 || checks.some((check) => check.trim() === ""))
    throw new UsageError('fix needs a check: sawtooth fix --check "npm test"');
  if (commit && branch !== undefined) throw new UsageError("--commit and --branch cannot be combined");
  const odd = reports.find((file) => !/\.(xml|sarif|md)$/.test(file));
  if (odd !== undefined)
    throw new UsageError(`--report ${odd}: the name must end in .xml (JUnit), .sarif, or .md`);
}

/** More agents than this on one machine only wait for each other. */
const mostJobs = 64;

/** Checks a batch. `operands`: the file of tasks, or with --summary the folders. */
function checkBatch(
  { summary, jobs, out, outputFormat }: FlagsOf<"batch">,
  operands: readonly string[],
  written: Written,
): void {
  const given = allOptions.filter(({ name }) => written.has(name));
  const single = given.find(({ oneSession }) => oneSession);
  if (single)
    throw new UsageError(`--${single.name} is for a single session, and a batch runs one for each task`);
  if (outputFormat === "stream-json")
    throw new UsageError(
      "batch supports --output-format text and json; for a stream, read results.jsonl in --out",
    );
  if (jobs !== undefined && jobs > mostJobs)
    throw new UsageError(
      `--jobs ${jobs}: at most ${mostJobs} on one machine; use --shard to spread a batch over several`,
    );
  if (isCompare({ out }, operands)) {
    const stray = given.find((option) => isOwn(option, "batch"));
    if (stray) throw new UsageError(`batch compare only reads results: remove --${stray.name}`);
  } else if (summary) {
    const stray = given.find((option) => isOwn(option, "batch") && option.field !== "summary");
    if (stray) throw new UsageError(`--summary only reads results: remove --${stray.name}`);
    if (operands.length === 0)
      throw new UsageError("--summary needs the folders with the results: sawtooth batch --summary out");
  } else if (operands.length !== 1)
    throw new UsageError("batch needs a task file: sawtooth batch tasks.jsonl --out results");
  else if (!out) throw new UsageError("batch needs a folder for its results: --out results");
}

/** `batch compare a b`; with --out it is a file of tasks by that name. */
export function isCompare({ out }: { out?: string | undefined }, operands: readonly string[]): boolean {
  return operands[0] === "compare" && out === undefined;
}

/** Returns true when no other command takes the option. */
export function isOwn({ commands = [] }: NamedOption, command: CommandName): boolean {
  return commands.length === 1 && commands[0] === command;
}
