/** The man page, made from the tables of commands and options. The build writes it to man/sawtooth.1. Pure. */

import { wrap } from "../report/text/columns.ts";
import { aboutKeys, aboutPrompt, commandTable, exitCodes, usages } from "./arguments/command-table.ts";
import type { NamedOption } from "./arguments/options.ts";
import { optionSections, sharedOptions } from "./help.ts";

const about =
  "Sawtooth works on a repository with the model of your choice: it reads, edits and runs commands, and asks before it does what you have not allowed.";

/** Returns the page in the language of man(7). `date`: of the program, as year-month-day. */
export function manPage({ version, date }: { version: string; date: string }): string {
  const commands = Object.values(commandTable).flatMap((command) => command.rows);
  const lines = [
    `.TH SAWTOOTH 1 "${date}" "sawtooth ${escaped(version)}" "User Commands"`,
    ...[".SH NAME", "sawtooth \\- a terminal coding agent"],
    ...[".SH SYNOPSIS", ...usages.flatMap(([typed], index) => [...(index > 0 ? [".br"] : []), bold(typed)])],
    ".SH DESCRIPTION",
    ...prose(about),
    ...usages.flatMap(([typed, help]) => (help === "" ? [] : entry(typed, help))),
    ...[".PP", ...prose(aboutPrompt)],
    ...[".SH COMMANDS", ...commands.flatMap(([typed, help]) => entry(typed, help))],
    ...[".SH OPTIONS", ...sharedOptions().flatMap(optionEntry)],
    ...optionSections().flatMap(({ command, own }) => [
      `.SS Options of ${command}`,
      ...own.flatMap(optionEntry),
    ]),
    ...[".SH ENVIRONMENT", ...prose(aboutKeys)],
    ...[".SH EXIT STATUS", ...exitCodes.flatMap(([code, meaning]) => entry(String(code), meaning))],
    ...[".SH SEE ALSO", ".BR git (1)", ".PP", "The folder docs of the package."],
  ];
  return `${lines.join("\n")}\n`;
}

function optionEntry({ name, short, value, help }: NamedOption): string[] {
  const written = `${short ? `-${short}, ` : ""}--${name}`;
  return entry(value ? `${written} ${value}` : written, help);
}

/** A paragraph with its title before it. */
function entry(title: string, text: string): string[] {
  return [".TP", bold(title), ...prose(text)];
}

/** Short lines, as the checkers of pages want them. */
function prose(text: string): string[] {
  return wrap(text, 64).map((line) => escaped(line).replace(/^\./, "\\&."));
}

function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`;
}

/** Characters that the language reads as something else. */
const special: Record<string, string> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Returns the text so that it stands on the page as it is, in ASCII. */
function escaped(text: string): string {
  return text
    .replace(/[\\'`^~-]/g, (character) => special[character] ?? character)
    .replace(/[^\x20-\x7e]/gu, (character) => `\\[u${hex(character)}]`);
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}
