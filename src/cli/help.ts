/** The output of `sawtooth --help`, made from the tables of commands and options. Pure. */

import { wrap } from "../report/text/columns.ts";
import { aboutKeys, aboutPrompt, commandTable, exitCodes, usages } from "./arguments/command-table.ts";
import { type CommandName, commandNames, takes } from "./arguments/option.ts";
import { allOptions, type NamedOption } from "./arguments/options.ts";

/** Columns before the text of an option, of a command, of a usage, and of a line. */
const [indent, commandIndent, usageIndent, width] = [31, 35, 45, 120];

/** Returns the whole help in 120 columns. */
export function helpText(): string {
  const sections = optionSections().map(({ command, own }) => {
    const others =
      command === "batch" ? " (those above count for each task whose line does not say otherwise)" : "";
    return section(`Options of ${command}${others}`, own);
  });
  const codes = `Exit codes: ${exitCodes.map(([code, meaning]) => `${code} ${meaning}`).join(", ")}.`;
  return [
    usageText(),
    ...wrap(aboutPrompt, width),
    "",
    commandsText(),
    section("Options", sharedOptions()),
    ...sections,
    ...[...wrap(aboutKeys, width), ...wrap(codes, width), ""],
  ].join("\n");
}

/** Returns the options that most commands take. */
export function sharedOptions(): NamedOption[] {
  return allOptions.filter(({ commands }) => !commands || commands.includes("run"));
}

/** Returns the options of their own of each command that has some. */
export function optionSections(): { command: CommandName; own: NamedOption[] }[] {
  return commandNames.flatMap((command) => {
    const own = allOptions.filter((option) => option.commands && takes(option, command));
    return own.length === 0 ? [] : [{ command, own }];
  });
}

function usageText(): string {
  const rows = usages.map(([typed, help], index) => {
    const head = `${index === 0 ? "Usage:" : "      "} ${typed}`;
    return help ? head.padEnd(usageIndent) + help : head;
  });
  return [...rows, ""].join("\n");
}

function commandsText(): string {
  const rows = Object.values(commandTable).flatMap((command) => command.rows);
  return ["Commands", ...rows.map(([typed, help]) => `  ${typed}  `.padEnd(commandIndent) + help), ""].join(
    "\n",
  );
}

function section(title: string, options: readonly NamedOption[]): string {
  return [title, ...options.flatMap(rows), ""].join("\n");
}

/** Returns the option in one row, with its text on as many more as it takes. */
function rows({ name, short, value, help }: NamedOption): string[] {
  const head = `  ${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
  const [first = "", ...more] = wrap(help, width - indent);
  const begins = head.length < indent ? [head.padEnd(indent) + first] : [head, " ".repeat(indent) + first];
  return [...begins, ...more.map((line) => " ".repeat(indent) + line)];
}
