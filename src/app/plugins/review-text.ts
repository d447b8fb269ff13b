/** Words what a plug-in would do, for a person to read before they accept it. */

import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { shown } from "../../config/instructions.ts";
import { textTokens } from "../../context/view/tokens.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import type { Plugin } from "../../plugins/read.ts";
import type { PluginServer } from "../../plugins/servers.ts";
import type { PluginSource } from "../../plugins/store.ts";
import type { Fetched } from "./fetched.ts";

/** Returns everything that it brings: skills with their whole text, servers, and what was left out of it. */
export function reviewText(fetched: Fetched): string {
  const { plugin, source, files, hash } = fetched;
  const { name, version, description, author, skills, servers } = plugin;
  const notes = [...plugin.skillNotes, ...plugin.notes];
  const lines = [
    `Plug-in ${name}${version ? ` ${line(version)}` : ""}${author ? ` by ${line(author)}` : ""}`,
    ...(description ? [`  ${line(description)}`] : []),
    `  from ${sourceText(source)}: ${files.length} files`,
    ...skills.flatMap((skill) => [
      "",
      `Skill ${skill.name}: ${line(skill.description)}`,
      `  ${skill.byModel ? "the model may start it, or you" : "only you start it"}, with /${skill.name}; ${textTokens(skill.text)} tokens`,
      ...(skill.fork ? ["  a role: it instructs a sub-agent, which may do no more than your session"] : []),
      ...skill.text.split("\n").map((each) => `  | ${each}`),
      ...(skill.asksForTools ? ["  allowed-tools has no effect: your rules and answers permit calls"] : []),
    ]),
    ...[...servers].flatMap(([server, entry]) => ["", ...serverLines(server, entry, plugin)]),
    ...(skills.length + servers.size === 0 ? ["", "It has no skill and no server that can be used."] : []),
    ...(notes.length > 0 ? ["", ...notes.map((note) => `Left out: ${line(note)}`)] : []),
    "",
    `Hash of all its files: ${hash}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns where it is from, in words. */
export function sourceText({ kind, from, commit }: PluginSource): string {
  const kinds = { folder: "the folder", git: "the git repository", npm: "the npm package" };
  return `${kinds[kind]} ${line(from)}${commit ? ` at ${commit.slice(0, 12)}` : ""}`;
}

function serverLines(name: string, server: PluginServer, { root, data }: Plugin): string[] {
  const head = `Server ${line(name)}`;
  if (server.type === "streamable-http") {
    const headers = Object.keys(server.headers).join(", ");
    return [
      `${head}: connects to ${line(new URL(server.url).host)} (${line(server.url)})`,
      ...(headers ? [`  sends the headers ${line(headers)}`] : []),
    ];
  }
  const own = (text: string) => JSON.stringify(text.replaceAll(root, "<plug-in>").replaceAll(data, "<data>"));
  const { PLUGIN_ROOT: _, PLUGIN_DATA: __, ...env } = server.env;
  const variables = Object.entries(env).map(([key, value]) => `${line(key)}=${line(own(value))}`);
  return [
    `${head}: runs ${line([server.command, ...server.args].map(own).join(" "))}`,
    `  in ${line(own(server.cwd))}, in the sandbox where there is one, when a tool of it is called`,
    ...(variables.length > 0 ? [`  with the variables ${variables.join(" ")}`] : []),
  ];
}

function line(text: string): string {
  return cleanLine(shown(text));
}

/** Returns how the second differs from the first, as a patch over what is shown of each. */
export function differenceText(before: Fetched, after: Fetched): string {
  const stable = (fetched: Fetched) =>
    reviewText({ ...fetched, hash: "" }).replaceAll(`${fetched.plugin.root}`, "<plug-in>");
  const patch = createTwoFilesPatch("accepted", "new", stable(before), stable(after), "", "", { context: 2 });
  const had = new Set(before.files);
  const has = new Set(after.files);
  const gone = before.files.filter((file) => !has.has(file));
  const added = after.files.filter((file) => !had.has(file));
  const changed = after.files.filter((file) => had.has(file) && !isSame(file, before.place, after.place));
  return [
    patch.slice(patch.indexOf("---")).trimEnd(),
    ...(changed.length > 0 ? [`Changed files: ${some(changed)}`] : []),
    ...(added.length > 0 ? [`New files: ${some(added)}`] : []),
    ...(gone.length > 0 ? [`Removed files: ${some(gone)}`] : []),
    "",
    `Hash of all its files now: ${after.hash}`,
    "",
  ].join("\n");
}

function isSame(file: string, before: string, after: string): boolean {
  const [one, other] = [join(before, file), join(after, file)];
  const [had, has] = [lstatSync(one), lstatSync(other)];
  if (had.mode !== has.mode || had.size !== has.size) return false;
  if (has.isSymbolicLink()) return readlinkSync(one) === readlinkSync(other);
  return readFileSync(one).equals(readFileSync(other));
}

const mostNames = 20;

function some(names: readonly string[]): string {
  const rest = names.length - mostNames;
  return `${names.slice(0, mostNames).map(line).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
