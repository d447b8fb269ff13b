/** An option of the command line as data: its syntax, its help, and the commands that take it. Pure. */

import { amount, choiceOf, duration, wholeNumber } from "../../config/values.ts";
import { ValueError } from "../../core/errors.ts";

/** The commands by name, in the order of the help. `run` is the default. */
export const commandNames = [
  "fix",
  "batch",
  "report",
  "egress",
  "replay",
  "sessions",
  "undo",
  "models",
  "mcp",
  "plugin",
  "doctor",
  "login",
  "logout",
  "schema",
  "demo",
  "acp",
  "completion",
  "update",
] as const;
export type NamedCommand = (typeof commandNames)[number];
export type CommandName = "run" | NamedCommand;

/**
 * The commands that take only those common options that name them: most only read what is stored, where an option of a
 * session would do nothing.
 */
export const readingCommands: readonly CommandName[] = [
  "report",
  "egress",
  "replay",
  "sessions",
  "undo",
  "models",
  "mcp",
  "plugin",
  "doctor",
  "login",
  "logout",
  "schema",
  "acp",
  "completion",
  "update",
];

/** The kind of a value, from which a task of a batch and its JSON Schema follow. */
export type Kind =
  | "flag"
  | "text"
  | "texts"
  | "words"
  | "number"
  | "amount"
  | "duration"
  | "choice"
  | "schema";

/** Where the words come from that a shell offers for a value or an operand. */
export type Source =
  | readonly string[]
  | "files"
  | "folders"
  | "models"
  | "stacks"
  | "providers"
  | "sessions"
  | "servers"
  | "plugins";

type About<C extends CommandName> = {
  /** Its long name, where that is not the field's name in dashes. */
  name?: string;
  /** One letter. */
  short?: string;
  /** The placeholder of its value in the help. */
  value?: string;
  help: string;
  /** The commands that take it; every command when absent. */
  commands?: readonly C[];
  /** Names those of `readingCommands` that take it; without `commands`. */
  readers?: readonly NamedCommand[];
  /** Names the other commands on which it has no effect, and is refused; without `commands`. */
  idle?: readonly NamedCommand[];
  /** True when it may also stand in a line of a file of tasks: `max_turns` for `--max-turns`. */
  task?: true;
  /**
   * Gives each task of a batch its value of another option, by field; the other one then applies to the whole batch.
   */
  eachTask?: string;
  /** True when it concerns one session, so that a batch refuses it. */
  oneSession?: true;
  /** Words that a shell offers for its value, where those are not `choices`. */
  offers?: Source;
};

export type Option<T = unknown, C extends CommandName = CommandName> = About<C> & {
  kind: Kind;
  /** The allowed words, if limited. */
  choices?: readonly string[];
  /** True when it may stand without a value, which is then the empty text. */
  bare?: true;
  /** Converts the texts of the command line to a value. Throws `ValueError`, whose message begins with `name`. */
  read(texts: readonly string[], name: string): T;
};

/** `otherwise`: the default. */
type Otherwise<D> = { otherwise?: D };

/** Reads the last of several values. */
function last<T, D>(read: (text: string, name: string) => T, otherwise: D | undefined) {
  return (texts: readonly string[], name: string): T | D => {
    const text = texts.at(-1);
    return text === undefined ? (otherwise as D) : read(text, name);
  };
}

/** An option without a value: true when given. */
export function flag<const C extends CommandName = CommandName>(about: About<C>): Option<boolean, C> {
  return { ...about, kind: "flag", read: (texts) => texts.length > 0 };
}

export function text<const C extends CommandName = CommandName>(
  about: About<C> & { bare?: true },
): Option<string | undefined, C> {
  return { ...about, kind: "text", read: last((text) => text, undefined) };
}

/** An option that may be repeated. */
export function texts<const C extends CommandName = CommandName>(about: About<C>): Option<string[], C> {
  return { ...about, kind: "texts", read: (all) => [...all] };
}

/** A list separated by commas. */
export function words<const C extends CommandName = CommandName>(
  about: About<C>,
): Option<string[] | undefined, C> {
  const split = (text: string): string[] => text.split(",").filter((word) => word !== "");
  return { ...about, kind: "words", read: last(split, undefined) };
}

/** A whole number above 0, or from `least` on. */
export function number<const C extends CommandName = CommandName, D extends number | undefined = undefined>({
  otherwise,
  least = 1,
  ...about
}: About<C> & Otherwise<D> & { least?: 0 | 1 }): Option<number | D, C> {
  const read = last((text, name) => wholeNumber(name, text, least), otherwise);
  return { ...about, kind: "number", read };
}

/** An amount in dollars. */
export function dollars<const C extends CommandName = CommandName>(
  about: About<C>,
): Option<number | undefined, C> {
  return { ...about, kind: "amount", read: last((text, name) => amount(name, text), undefined) };
}

/** A duration in milliseconds. */
export function time<const C extends CommandName = CommandName>(
  about: About<C>,
): Option<number | undefined, C> {
  return { ...about, kind: "duration", read: last((text, name) => duration(name, text), undefined) };
}

/** One of the words of `choices`. */
export function choice<
  const T extends string,
  const C extends CommandName = CommandName,
  D extends NoInfer<T> | undefined = undefined,
>(choices: readonly T[], { otherwise, ...about }: About<C> & Otherwise<D>): Option<T | D, C> {
  const read = last((text, name) => choiceOf(name, text, choices), otherwise);
  return { ...about, kind: "choice", choices, read };
}

/** A JSON Schema, or the name of a file that holds one. */
export function schema<const C extends CommandName = CommandName>(
  about: About<C>,
): Option<string | undefined, C> {
  return { ...about, kind: "schema", read: last((text) => text, undefined) };
}

/** This part of the whole: `2/4`. */
export function share<const C extends CommandName = CommandName>(
  about: About<C>,
): Option<{ part: number; of: number } | undefined, C> {
  return { ...about, kind: "text", read: last(shareOf, undefined) };
}

function shareOf(text: string, name: string): { part: number; of: number } {
  const [, part, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? [];
  const share = { part: Number(part), of: Number(of) };
  if (share.part >= 1 && share.part <= share.of) return share;
  throw new ValueError(name, `${text}: must be part/parts, from 1/4 to 4/4 for four machines`);
}

/** Returns true when the option has an effect on the command, so that it may be written. */
export function accepts(option: Option, command: CommandName): boolean {
  if (option.idle?.some((idle) => idle === command)) return false;
  if (option.commands || !readingCommands.includes(command)) return takes(option, command);
  return option.readers?.some((reader) => reader === command) ?? false;
}

/** Returns true when the command has a field for the option. */
export function takes({ commands }: Option, command: CommandName): boolean {
  return commands === undefined || commands.includes(command);
}
