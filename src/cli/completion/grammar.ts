/** The grammar of what can be typed after `sawtooth`, made from the tables of commands and options, for scripts of shells. Pure. */

import { commandTable } from "../arguments/command-table.ts";
import { accepts, type CommandName, commandNames, type Source } from "../arguments/option.ts";
import { allOptions, type NamedOption } from "../arguments/options.ts";

/** Words that only the program knows at the moment: `sawtooth completion <source>` prints them. */
export const storedSources = ["sessions", "servers", "plugins"] as const;
export type StoredSource = (typeof storedSources)[number];

/** Words, paths, or what a call of the program prints. */
export type Offer =
  | { kind: "words"; words: readonly string[] }
  | { kind: "files" | "folders" }
  | { kind: "stored"; source: StoredSource };

export type Choice = {
  long: string;
  short: string | undefined;
  help: string;
  /** `none`: a flag; `optional`: the next word is its value unless that begins with a dash. */
  value: "none" | "needed" | "optional";
  /** The name of its value for people, such as `provider/id`. */
  placeholder: string;
  repeatable: boolean;
  /** True when its value is a list separated by commas. */
  listed: boolean;
  offer: Offer | undefined;
  /** The commands that take it. */
  commands: readonly CommandName[];
};

export type GrammarCommand = {
  name: CommandName;
  help: string;
  verbs: readonly { name: string; offer: Offer | undefined }[];
  /** Offered for each operand that no verb begins. */
  operands: Offer | undefined;
};

export type Grammar = { version: string; commands: readonly GrammarCommand[]; options: readonly Choice[] };

/** Words that other rooms know. */
export type KnownWords = Record<"models" | "stacks" | "providers", readonly string[]>;

/** Options that stand with any command, of which nothing is then done. */
const winning = ["help", "version"];

/** Returns the whole grammar. The first command is `run`, whose operand is a prompt. */
export function grammarOf(version: string, known: KnownWords): Grammar {
  const run: GrammarCommand = { name: "run", help: "", verbs: [], operands: undefined };
  const named = commandNames.map((name): GrammarCommand => {
    const { rows, verbs = {}, operands } = commandTable[name];
    return {
      name,
      help: rows[0]?.[1] ?? "",
      verbs: Object.entries(verbs).map(([verb, source]) => ({ name: verb, offer: offerOf(source, known) })),
      operands: offerOf(operands, known),
    };
  });
  const commands = [run, ...named];
  return { version, commands, options: allOptions.map((option) => choiceOf(option, known)) };
}

function choiceOf(option: NamedOption, known: KnownWords): Choice {
  const { name, short, help, kind, bare, value = "", choices, offers } = option;
  return {
    ...{ long: name, short, help },
    value: kind === "flag" ? "none" : bare ? "optional" : "needed",
    placeholder: value.replace(/[<>[\]]/g, ""),
    repeatable: kind === "texts",
    listed: kind === "words",
    offer: offerOf(offers ?? choices, known),
    commands: (["run", ...commandNames] as const).filter(
      (command) => accepts(option, command) || winning.includes(name),
    ),
  };
}

function offerOf(source: Source | undefined, known: KnownWords): Offer | undefined {
  if (source === undefined) return undefined;
  if (typeof source !== "string") return { kind: "words", words: source };
  switch (source) {
    case "files":
    case "folders":
      return { kind: source };
    case "sessions":
    case "servers":
    case "plugins":
      return { kind: "stored", source };
    case "models":
    case "stacks":
    case "providers":
      return { kind: "words", words: known[source] };
  }
}

/** Returns the words that mean an option: `-p` and `--print`. */
export function written({ long, short }: Pick<Choice, "long" | "short">): string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${long}`];
}

/** Returns a text as one word of a shell that quotes like sh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
