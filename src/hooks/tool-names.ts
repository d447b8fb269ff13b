/** Calls in the vocabulary of Claude Code, which published hooks read. Pure. */

import { toolNames } from "../core/tool-calls.ts";

type Input = Readonly<Record<string, unknown>>;

/** A call as a hook reads it. `names`: every name that a matcher may have for it, the first as Claude Code says it. */
export type HookCall = { names: [string, ...string[]]; input: Record<string, unknown> };

/** Translates a call. A tool that Claude Code does not have keeps its name and input. */
export function hookCall(name: string, input: Input): HookCall {
  switch (name) {
    case toolNames.bash:
      return { names: ["Bash", name], input: bashInput(input) };
    case toolNames.editor:
      return editorCall(name, input);
    case toolNames.todo:
      return { names: ["TodoWrite", name], input: { ...input } };
    case toolNames.fetch:
      return { names: ["WebFetch", name], input: { ...input, prompt: input.want ?? "" } };
    case toolNames.mcp:
      return { names: [`mcp__${input.server}__${input.tool}`, name], input: objectOf(input.arguments) };
    default:
      return { names: [name], input: { ...input } };
  }
}

function bashInput({ timeout_s, background, ...rest }: Input): Record<string, unknown> {
  return {
    ...rest,
    ...(typeof timeout_s === "number" ? { timeout: timeout_s * 1000 } : {}),
    ...(background === true ? { run_in_background: true } : {}),
  };
}

function editorCall(name: string, input: Input): HookCall {
  const { command, path, file_text, old_str, new_str, view_range } = input;
  const named = (claude: string, fields: Record<string, unknown>): HookCall => ({
    names: [claude, name, `${name}/${command}`],
    input: { file_path: path, ...fields },
  });
  switch (command) {
    case "view": {
      const [from, to] = Array.isArray(view_range) ? view_range : [];
      const lines = from === undefined ? {} : { offset: from, ...(to > 0 ? { limit: to - from + 1 } : {}) };
      return named("Read", lines);
    }
    case "create":
      return named("Write", { content: file_text });
    case "str_replace":
      return named("Edit", { old_string: old_str, new_string: new_str ?? "" });
    default:
      return named("Edit", { ...input, old_string: "", new_string: input.insert_text ?? new_str ?? "" });
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
