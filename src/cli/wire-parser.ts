/** The grammar of bash, loaded when the first command is to be judged: about 35 ms and 10 MB that no start pays for. */

import type { ParseShell } from "../core/shell-tree.ts";
import { packagePath } from "./package-files.ts";

/** Undefined where it does not load, which is told once: commands are then asked for unless they are plain words. */
export function shellParser(warn: (text: string) => void): () => Promise<ParseShell | undefined> {
  let loading: Promise<ParseShell | undefined> | undefined;
  const load = async (): Promise<ParseShell | undefined> => {
    try {
      const { loadShellParser } = await import("../tools/shell/parser.ts");
      return await loadShellParser(packagePath("dist"));
    } catch (error) {
      warn(
        `the grammar of bash cannot be loaded (${(error as Error).message}): commands are asked for one by one`,
      );
      return undefined;
    }
  };
  return () => {
    loading ??= load();
    return loading;
  };
}
