/** Commands from Markdown files: each sends its text, and can do nothing else. Those of a project need trust. */

import { plural } from "../../context/report/amounts.ts";
import type { OwnCommand, OwnCommands } from "../ports/session-actions.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import type { Command, CommandContext } from "./command.ts";

export function ownCommands(found: readonly OwnCommand[]): Command[] {
  return found.map(({ name, description, text }) => ({
    name,
    summary: safe(description) || "sends the text of its file",
    ...(text.includes(placeholder) ? { argument: "…" } : {}),
    run: (argument, { say }) => say(spoken(text, argument)),
  }));
}

const placeholder = "$ARGUMENTS";

/** Returns the message: the file's text with the user's argument. Without a placeholder the argument is appended. */
function spoken(text: string, argument: string): string {
  const whole = text.includes(placeholder)
    ? text.replaceAll(placeholder, () => argument)
    : [text, argument].filter(Boolean).join("\n\n");
  // Back in the editor it must not become a command, or a line for the shell.
  return /^[!/]/.test(whole) ? ` ${whole}` : whole;
}

/** Limits the notes: a repository decides how many there are, and must not fill the screen with them. */
const shownNotes = 10;
const shownNames = 20;

/** Returns the notes for the user when a session opens. */
export function ownNotes({ notes, untrusted }: OwnCommands): string[] {
  const more = notes.length - shownNotes;
  const summary = [
    ...notes.slice(0, shownNotes),
    ...(more > 0 ? [`${plural(more, "more file")} that cannot be a command`] : []),
  ];
  if (!untrusted) return summary;
  const { folder, commands, changed } = untrusted;
  const named = commands.slice(0, shownNames).map(({ name }) => name);
  const names = [
    ...named,
    ...(commands.length > shownNames ? [`${commands.length - shownNames} more`] : []),
  ].join(", ");
  const skipped = `not taken from ${folder}: ${names}`;
  return [
    ...summary,
    `${skipped}${changed ? ", changed since you trusted them" : ""}; /trust shows what they say`,
  ];
}

export const trustCommands: readonly Command[] = [
  {
    name: "trust",
    summary: "review and trust the project's own commands",
    run: askForTrust,
  },
];

async function askForTrust(
  _: string,
  { host, columns, confirm, notice, print, changed }: CommandContext,
): Promise<void> {
  const { untrusted } = host.actions.own();
  if (!untrusted) return notice("No commands are waiting for your trust");
  const { folder, commands } = untrusted;
  const title = `Take ${plural(commands.length, "command")} from ${safe(folder)}?`;
  print(commands.flatMap((command) => fileRows(command, columns)));
  const names = commands.map(({ name }) => `${name}.md`).join(", ");
  const meaning =
    "Each becomes a command that sends its text, as shown above, as your message. Nothing in it is run.";
  if (!(await confirm(title, [[{ text: names, tone: "strong" }], [{ text: meaning, tone: "dim" }]])))
    return notice("Not trusted. /trust asks again");
  try {
    host.actions.trust();
  } finally {
    changed();
  }
  notice(
    `trusted: ${commands.map(({ name }) => `/${name}`).join(", ")}; you are asked again when a file changes`,
  );
}

/** Shows a file by name, with the whole text that it would send. */
function fileRows({ name, description, text }: OwnCommand, columns: number): Row[] {
  const head: Row = [
    { text: `  ${name}.md`, tone: "strong" },
    { text: description ? `  ${safe(description)}` : "", tone: "dim" },
  ];
  const lines = text.split("\n").map((line): Row => [{ text: `    ${safe(line)}`, tone: "code" }]);
  return [...wrap(head, columns, "    "), ...lines.flatMap((line) => wrap(line, columns, "    "))];
}
