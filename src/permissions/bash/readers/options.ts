/**
 * Reads a command's arguments by a list of the options it may have; an unlisted option makes the command unknown. Pure.
 */

/**
 * Options as words: `n` a letter, `n:` one with a value, `f@` one whose value is a path, `i*` one whose value must be
 * attached to it, `--name`, `--name:`, `--name@`, `--name*` the same for long ones, and `#` a number after one dash.
 */
export type OptionList = string;

export type Options = {
  /** Letters and long names that are given, without dashes. */
  given: ReadonlySet<string>;
  /** Values by letter or long name, in the order of the arguments. */
  values: readonly { option: string; value: string }[];
  /** Values that are paths. */
  paths: readonly string[];
  operands: readonly string[];
};

type Kind = "flag" | ":" | "@" | "*";
type Reading = {
  known: ReadonlyMap<string, Kind>;
  given: Set<string>;
  values: { option: string; value: string }[];
  paths: string[];
  operands: string[];
};

/**
 * Parses the arguments; undefined when an option is not in the list. Options may follow operands, as in GNU programs.
 */
export function readOptions(list: OptionList, args: readonly string[]): Options | undefined {
  const reading: Reading = {
    known: kindsOf(list),
    given: new Set(),
    values: [],
    paths: [],
    operands: [],
  };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") {
      reading.operands.push(...args.slice(at + 1));
      break;
    }
    const next = args[at + 1];
    const taken = arg.startsWith("--")
      ? longOption(reading, arg, next)
      : /^-./s.test(arg)
        ? shortOptions(reading, arg, next)
        : operand(reading, arg);
    if (taken === undefined) return undefined;
    at += taken;
  }
  return reading;
}

function kindsOf(list: OptionList): Map<string, Kind> {
  return new Map(
    list
      .split(" ")
      .filter(Boolean)
      .map((word): [string, Kind] => {
        const [, name = "", sign] = /^(?:--)?(.+?)([:@*])?$/.exec(word) ?? [];
        return [name, (sign as Kind | undefined) ?? "flag"];
      }),
  );
}

function operand({ operands }: Reading, arg: string): number {
  operands.push(arg);
  return 0;
}

/** Returns the number of additional arguments taken; undefined when the option is unknown. */
function longOption(reading: Reading, arg: string, next: string | undefined): number | undefined {
  const [, name = "", value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg) ?? [];
  const kind = name.length > 1 ? reading.known.get(name) : undefined;
  if (kind === undefined || (kind === "flag" && value !== undefined)) return undefined;
  if (kind === "flag" || kind === "*") {
    note(reading, name, kind, value);
    return 0;
  }
  note(reading, name, kind, value ?? next ?? "");
  return value === undefined ? 1 : 0;
}

function shortOptions(reading: Reading, arg: string, next: string | undefined): number | undefined {
  if (/^-\d+$/.test(arg) && reading.known.has("#")) return 0;
  for (let at = 1; at < arg.length; at++) {
    const letter = arg.charAt(at);
    const kind = reading.known.get(letter);
    if (kind === undefined) return undefined;
    const rest = arg.slice(at + 1);
    if (kind === "flag") note(reading, letter, kind, undefined);
    else if (kind === "*" || rest !== "") {
      note(reading, letter, kind, rest);
      return 0;
    } else {
      note(reading, letter, kind, next ?? "");
      return 1;
    }
  }
  return 0;
}

function note(reading: Reading, option: string, kind: Kind, value: string | undefined): void {
  reading.given.add(option);
  if (value === undefined || value === "") return;
  reading.values.push({ option, value });
  // Programs that accept no options after operands (the BSD ones) take the value for an operand too.
  if ((kind === "@" || reading.operands.length > 0) && value !== "-") reading.paths.push(value);
}
