/** Commands from files, and skills: each sends its text, and can do nothing else. Those of a project need trust. */

import { plural } from "../../context/report/amounts.ts";
import type { UserBlock } from "../../core/blocks.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import type { OwnCommand, OwnCommands, UntrustedCommand } from "../ports/session-actions.ts";
import { cutRow, type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";
import { reviewServers } from "./servers.ts";

export function ownCommands(found: readonly OwnCommand[]): Command[] {
  return found.map(({ name, description, text, hint, isRole }) => ({
    name,
    summary: safe(description) || "sends the text of its file",
    ...(hint || isRole || text.includes(placeholder) ? { argument: safe(hint ?? "") || "…" } : {}),
    run: (argument, context) =>
      isRole ? startRole(name, argument, context) : context.say(spoken(text, argument)),
  }));
}

/** Runs a role as a sub-agent; its report is the next message. Interrupted, it is only told. */
async function startRole(
  name: string,
  argument: string,
  { host, busy, notice, work, send }: CommandContext,
): Promise<void> {
  if (busy) return notice(busyNotice);
  let [content, stopped]: [UserBlock[], boolean] = [[], false];
  await work(`Sub-agent ${name}`, async (signal) => {
    content = await host.actions.delegate(name, argument, signal);
    stopped = signal.aborted;
  });
  if (stopped) host.say(content);
  else send(content);
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
    ...(more > 0 ? [`${plural(more, "more file")} that cannot be used`] : []),
  ];
  const places = [...new Set(untrusted.map(({ place }) => place))];
  return [...summary, ...places.map((place) => waiting(place, untrusted))];
}

function waiting(place: string, all: readonly UntrustedCommand[]): string {
  const here = all.filter((each) => each.place === place);
  const names = here
    .slice(0, shownNames)
    .map(({ name, changed }) => `${name}${changed ? " (changed since you trusted it)" : ""}`);
  const rest = here.length - shownNames;
  const list = [...names, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return `not taken from ${place}: ${list}; /trust shows what they say`;
}

export const skillCommands: readonly Command[] = [
  {
    name: "skills",
    summary: "skills and commands in use: whose they are, and what they cost",
    run: (_, { host, columns, print }) => print(skillRows(host.actions.own(), columns)),
  },
  {
    name: "trust",
    summary: "review and trust the project's own skills, commands and servers",
    argument: "[name]",
    run: askForTrust,
  },
];

function skillRows({ skills, untrusted, notes }: OwnCommands, columns: number): Row[] {
  if (skills.length + untrusted.length + notes.length === 0)
    return [[{ text: "  No skills and no commands of your own", tone: "dim" }]];
  const rows = skills.flatMap(({ name, isSkill, isRole, origin, called, tokens, line }): Row[] => {
    const kind = `${isRole ? "role" : isSkill ? "skill" : "command"} of the ${origin === "plugin" ? "plug-in" : origin}`;
    const size = `${formatInteger(tokens)} tokens when read${line > 0 ? `, ${line} in the list` : ", started by you alone"}`;
    return [
      cutRow([{ text: `  ${name}`, tone: "strong" }, { text: `  ${kind}, ${size}` }], columns),
      cutRow([{ text: `      ${safe(called)}`, tone: "dim" }], columns),
    ];
  });
  const asking = skills.filter(({ asksForTools }) => asksForTools).map(({ name }) => name);
  const said = [
    ...(asking.length > 0 ? [`allowed-tools of ${asking.join(", ")}: ${noRights}`] : []),
    ...ownNotes({ commands: [], skills, untrusted, notes }),
  ];
  return [
    ...rows,
    ...said.flatMap((text) => wrap([{ text: `  ${safe(text)}`, tone: "dim" }], columns, "    ")),
  ];
}

const noRights = "it has no effect, your rules and answers alone permit calls";

async function askForTrust(name: string, context: CommandContext): Promise<void> {
  const { host, columns, confirm, notice, print, changed } = context;
  const waits = host.actions.own().untrusted;
  if (name === "" && waits.length === 0 && (await host.mcp.waiting()).length > 0)
    return reviewServers(context);
  const these = name === "" ? waits : waits.filter((each) => each.name === name);
  if (these.length === 0)
    return notice(
      name === ""
        ? "Nothing of the project is waiting for your trust"
        : `No ${name} is waiting for your trust`,
    );
  print(these.flatMap((each) => reviewRows(each, columns)));
  if (!(await confirm(titleOf(these), meaningOf(these)))) return notice("Not trusted. /trust asks again");
  try {
    host.actions.trust(these);
  } finally {
    changed();
  }
  notice(
    `trusted: ${these.map((each) => `/${each.name}`).join(", ")}; you are asked again when a file changes`,
  );
}

function titleOf(these: readonly UntrustedCommand[]): string {
  const skills = these.filter(({ files }) => files).length;
  const counts = [
    ...(skills > 0 ? [plural(skills, "skill")] : []),
    ...(skills < these.length ? [plural(these.length - skills, "command")] : []),
  ];
  return `Take ${counts.join(" and ")} of this project?`;
}

function meaningOf(these: readonly UntrustedCommand[]): Row[] {
  const names = these.map(({ called }) => safe(called)).join(", ");
  const skills = these.filter(({ files }) => files);
  const meanings = [
    ...(skills.length < these.length
      ? ["A command sends its text, as shown above, as your message. Nothing in it is run."]
      : []),
    ...(skills.length > 0
      ? [
          "The model is told of a skill, and may follow its text, which then stays. Nothing in it is run by that, and each of its commands needs the permission that any other does.",
        ]
      : []),
    ...(these.some(({ isRole }) => isRole)
      ? ["A role instructs a sub-agent: a session of its own that may do no more than yours."]
      : []),
    ...(these.some(({ asksForTools }) => asksForTools) ? [`allowed-tools: ${noRights}.`] : []),
  ];
  return [[{ text: names, tone: "strong" }], ...meanings.map((text): Row => [{ text, tone: "dim" }])];
}

/** Shows one by where it lies, with the whole text that it would send, and its other files by name. */
function reviewRows({ called, description, text, files }: UntrustedCommand, columns: number): Row[] {
  const head: Row = [
    { text: `  ${safe(called)}`, tone: "strong" },
    { text: description ? `  ${safe(description)}` : "", tone: "dim" },
  ];
  const lines = text.split("\n").map((line): Row => [{ text: `    ${safe(line)}`, tone: "code" }]);
  const others = (files ?? []).filter((file) => file.toLowerCase() !== "skill.md");
  const rest = others.length - shownNames;
  const listed = [...others.slice(0, shownNames), ...(rest > 0 ? [`${rest} more`] : [])];
  const beside: Row[] =
    listed.length > 0 ? [[{ text: `    with the files ${safe(listed.join(", "))}`, tone: "dim" }]] : [];
  return [head, ...lines, ...beside].flatMap((row) => wrap(row, columns, "    "));
}
