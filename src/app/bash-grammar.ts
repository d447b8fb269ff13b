/** The grammar of bash, loaded for the first command that is more than plain words. */

import type { Access } from "../core/ports.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import { isPlainWords } from "../permissions/bash/cross-check.ts";

/** Returns the parser that an access has to be judged with; undefined where nothing is to be parsed. */
export async function parserFor(access: Access): Promise<ParseShell | undefined> {
  if (access.kind !== "execute" || isPlain(access)) return undefined;
  return (await import("../tools/bash/grammar.ts")).parseShell;
}

function isPlain({ command, input = "" }: Extract<Access, { kind: "execute" }>): boolean {
  return [command, input].every((text) => text === "" || isPlainWords(text));
}
