/** The words of `/server:prompt name=value`: how a prompt is named, and how its arguments are written and read. Pure. */

import type { RemotePrompt } from "./catalogue.ts";
import { shownLine } from "./shown.ts";

/** Returns the word that starts a prompt, without its slash: a sign that no command can have becomes `_`. */
export function commandWord(server: string, { name }: Pick<RemotePrompt, "name">): string {
  return `${server}:${name.replace(/[^\w./-]/g, "_").slice(0, 100)}`;
}

/** Returns how the arguments of a prompt are written: `city=… [tone=…]`. */
export function argumentHint({ arguments: wanted }: RemotePrompt): string {
  return wanted
    .map(({ name, required }) => {
      const word = `${shownLine(name, 100)}=…`;
      return required ? word : `[${word}]`;
    })
    .join(" ");
}

/**
 * Reads `name=value` pairs. A value ends before the next name that the prompt has, and may stand in quotes. The only
 * argument needs no name.
 */
export function readPromptArguments(
  text: string,
  prompt: RemotePrompt,
): { values: Record<string, string> } | { wrong: string } {
  const { arguments: wanted } = prompt;
  const names = wanted.map(({ name }) => name);
  const starts = [...text.matchAll(/(?<=^|\s)([^\s=]+)=/g)].filter(([, name]) => names.includes(name ?? ""));
  const before = text.slice(0, starts[0]?.index ?? text.length).trim();
  const [only, another] = names;
  const values = new Map<string, string>();
  if (before !== "" && only !== undefined && another === undefined && starts.length === 0)
    values.set(only, unquoted(before));
  else if (before !== "") return { wrong: `does not take ${shownLine(before, 100)}` };
  for (const [at, { 0: head, 1: name = "", index }] of starts.entries()) {
    if (values.has(name)) return { wrong: `was given ${name} twice` };
    values.set(name, unquoted(text.slice(index + head.length, starts[at + 1]?.index).trim()));
  }
  const missing = wanted.filter(({ name, required }) => required && !values.get(name));
  if (missing.length === 0) return { values: Object.fromEntries(values) };
  const said = missing.map(({ name, description }) =>
    description ? `${shownLine(name, 100)} (${shownLine(description, 200)})` : shownLine(name, 100),
  );
  return { wrong: `needs ${said.join(" and ")}` };
}

function unquoted(value: string): string {
  return /^(["'])([\s\S]*)\1$/.exec(value)?.[2] ?? value;
}

/** A prompt as it was typed: `name` is what follows the colon. */
export type TypedPrompt = { server: string; name: string; argument: string };

/** Returns what a line starts where its server is one of these; undefined for any other text. */
export function typedPrompt(line: string, servers: readonly string[]): TypedPrompt | undefined {
  const [, server = "", name = "", argument = ""] =
    /^\s*\/([\w.-]+):([\w./-]+)(?:\s+([\s\S]*))?$/.exec(line) ?? [];
  return servers.includes(server) ? { server, name, argument: argument.trim() } : undefined;
}
