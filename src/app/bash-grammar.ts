/** The grammar of bash, loaded for the first command that is more than plain words: about 35 ms and 10 MB. */

import type { Access } from "../core/ports.ts";
import type { ParseShell } from "../core/shell-tree.ts";
import { isPlainWords } from "../permissions/bash/cross-check.ts";
import { packagePath } from "./prompts.ts";

/**
 * Loads the parser that an access has to be judged with; undefined where nothing is to be parsed, and where the grammar
 * does not load.
 */
export type ParserFor = (access: Access) => Promise<ParseShell | undefined>;

/** Creates the loader. A failure is reported once: commands then need permission unless they are plain words. */
export function shellParser(warn: (text: string) => void): ParserFor {
  let loading: Promise<ParseShell | undefined> | undefined;
  const load = async (): Promise<ParseShell | undefined> => {
    try {
      const { loadShellParser } = await import("../tools/bash/grammar.ts");
      return await loadShellParser(packagePath("dist"));
    } catch (error) {
      warn(
        `the grammar of bash cannot be loaded (${(error as Error).message}): commands are asked for one by one`,
      );
      return undefined;
    }
  };
  return async (access) => {
    if (access.kind !== "execute" || isPlain(access)) return undefined;
    loading ??= load();
    return loading;
  };
}

function isPlain({ command, input = "" }: Extract<Access, { kind: "execute" }>): boolean {
  return [command, input].every((text) => text === "" || isPlainWords(text));
}
