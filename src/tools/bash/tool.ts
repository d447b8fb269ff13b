/** The `bash` tool: runs one command in the session's shell. What runs it is loaded for the first call. */

import type { Tool } from "../../core/ports.ts";
import type { JsonSchema } from "../../core/request.ts";
import { bashCalls, toolNames } from "../../core/tool-calls.ts";
import type { CommandSandbox, Input } from "./call.ts";
import type { Shell } from "./shell/shell.ts";

export type BashOptions = {
  description: string;
  shell: Shell;
  /** Time limit, in seconds, of a command for which the model requests none; 120 by default. */
  timeoutSeconds?: number | undefined;
  /** The sandbox around the shell; absent where commands run on the machine as they are. */
  sandbox?: CommandSandbox | undefined;
};

/** The highest time limit that the model may request, unless the default is higher. */
const maxTimeoutSeconds = 600;

/** Creates the tool over a shell that others may use too. */
export function bashTool({ description, shell, timeoutSeconds = 120, sandbox }: BashOptions): Tool {
  const maximum = Math.max(maxTimeoutSeconds, timeoutSeconds);
  return {
    ...bashCalls,
    name: toolNames.bash,
    description,
    inputSchema: inputSchema(timeoutSeconds, maximum, sandbox !== undefined),
    access(input) {
      const { command = "", stdin, outside, reason = "" } = input as Input;
      const typed = stdin === undefined ? {} : { input: stdin };
      const execute = { kind: "execute" as const, command, ...typed };
      if (!sandbox?.isOn()) return execute;
      if (command === "" && sandbox.outside.waiting())
        return { ...execute, outside: { reason: "its command waits there", cwd: shell.cwd() } };
      return outside && command !== ""
        ? { ...execute, outside: { reason, cwd: sandbox.outside.folder(shell.cwd()) } }
        : execute;
    },
    async run(input, context) {
      const request = input as Input;
      const seconds = Math.min(request.timeout_s ?? timeoutSeconds, maximum);
      return (await import("./run-command.ts")).runCommand({ request, context, shell, seconds, sandbox });
    },
  };
}

function inputSchema(timeoutSeconds: number, maximum: number, sandboxed: boolean): JsonSchema {
  return {
    type: "object",
    properties: {
      command: { type: "string", description: "what to run; any length, any number of lines" },
      timeout_s: {
        type: "number",
        minimum: 1,
        maximum,
        description: `default ${timeoutSeconds}`,
      },
      stdin: {
        type: "string",
        description: "input of the command; without command: answer to one that waits",
      },
      background: { type: "boolean", description: "return at once with pid and log file" },
      tty: { type: "boolean", description: "run on a terminal" },
      restart: { type: "boolean", description: "start with a fresh shell" },
      want: { type: "string", description: "what you look for in long output, in a few words" },
      ...(sandboxed ? leaving : {}),
    },
    additionalProperties: false,
  };
}

const leaving: Readonly<Record<string, JsonSchema>> = {
  outside: { type: "boolean", description: "run outside of the sandbox; a person is asked" },
  reason: { type: "string", description: "why it has to run outside" },
};
