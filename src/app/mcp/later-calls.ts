/** Answers the program `mcp` of the shell by what is loaded with the first command. */

import type { ShellCallParts, ShellCalls } from "./shell-program.ts";

/** Creates the commands. What they need is loaded with the first. */
export function laterShellCalls(parts: ShellCallParts): ShellCalls {
  let calls: ShellCalls | undefined;
  const loaded = async (): Promise<ShellCalls> => {
    const { shellCalls } = await import("./shell-calls.ts");
    calls ??= shellCalls(parts);
    return calls;
  };
  return {
    calling: (tool) => ({
      ...tool,
      run: async (input, context) => (await loaded()).calling(tool).run(input, context),
    }),
    close: () => calls?.close(),
  };
}
