/** Calls of other agents' tools as calls of ours, so that policies which know our tools understand them. Pure. */

import type { CommandPurpose, EventBody, ToolStats } from "../../core/events.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { commandPurpose } from "../../permissions/bash/purpose.ts";
import { type Fields, fieldsOf, listOf, parsed, textOf } from "./json.ts";

export type Call = { name: string; input: unknown };

const shells = /^(bash|shell|exec_command|local_shell|shell_command|execute_bash|run_terminal_cmd)$/i;

/** Reading, writing, replacing and shell calls are renamed; every other call stays as it is. */
export function ownCall(name: string, given: unknown): Call {
  const input = fieldsOf(typeof given === "string" ? (parsed(given) ?? { input: given }) : given);
  if (shells.test(name)) return { name: toolNames.bash, input: { command: commandOf(input) } };
  const path = textOf(input.file_path ?? input.path ?? input.filename);
  if (path === "") return { name, input };
  switch (name.toLowerCase()) {
    case "read":
      return { name: toolNames.editor, input: { command: "view", path, ...rangeOf(input) } };
    case "write":
      return { name: toolNames.editor, input: { command: "create", path, file_text: textOf(input.content) } };
    case "edit": {
      const old_str = textOf(input.old_string ?? input.oldText);
      const new_str = textOf(input.new_string ?? input.newText);
      return { name: toolNames.editor, input: { command: "str_replace", path, old_str, new_str } };
    }
    default:
      return { name, input };
  }
}

/** A command as text, or as words of which the last is the script of a shell. */
function commandOf(input: Fields): string {
  const command = input.command ?? input.cmd;
  const words = listOf(command).map(textOf);
  if (words.length === 0) return textOf(command);
  return /(^|\/)(ba|z|da)?sh$/.test(words[0] ?? "") ? (words.at(-1) ?? "") : words.join(" ");
}

function rangeOf({ offset, limit }: Fields): { view_range?: [number, number] } {
  if (typeof offset !== "number" && typeof limit !== "number") return {};
  const first = Math.max(1, Number(offset ?? 1));
  return { view_range: [first, limit === undefined ? -1 : first + Number(limit) - 1] };
}

/** A result, with the facts that policies ask for: lines, exit status, the file that was read or written. */
export function resultOf(
  id: string,
  call: Call | undefined,
  output: { text: string; isError: boolean; exitCode?: number | undefined },
): EventBody {
  const { text, isError, exitCode } = output;
  const stats: ToolStats = {
    lines: text.split("\n").length,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(isError ? {} : touched(call)),
    ...(call?.name === toolNames.bash ? { purpose: purposeOf(call) } : {}),
  };
  return {
    type: "tool_result",
    toolUseId: id,
    toolName: call?.name ?? "tool",
    content: text,
    isError,
    stats,
  };
}

/** Relative paths are taken from the root: the folder that the command ran in is not recorded everywhere. */
function purposeOf({ input }: Call): CommandPurpose {
  return commandPurpose(textOf(fieldsOf(input).command), "/");
}

function touched(call: Call | undefined): Pick<ToolStats, "read" | "wrote"> {
  const { command, path } = fieldsOf(call?.input);
  if (call?.name !== toolNames.editor || typeof path !== "string") return {};
  return command === "view" ? { read: [path] } : { wrote: [path] };
}
