/** A typed line as a slash command: `/name argument`, or `/server:prompt arguments`. Pure. */

/** Reads a line as a command; undefined for any other text. */
export function commandIn(line: string): { name: string; argument: string } | undefined {
  const [, name, argument = ""] = /^\/([\w-]+|[\w.-]+:[\w./-]+)(?:\s+([\s\S]*))?$/.exec(line) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}
