/** The `str_replace_editor` tool: looks at files, images and folders, and changes files all or nothing. */

import { resolve } from "node:path";
import type { Access, Tool } from "../../core/ports.ts";
import type { JsonSchema } from "../../core/request.ts";
import { editorCalls, toolNames } from "../../core/tool-calls.ts";
import { realTarget } from "../../disk/real-path.ts";
import type { Memory } from "./seen.ts";

const text: JsonSchema = { type: "string" };
const inputSchema: JsonSchema = {
  type: "object",
  properties: {
    command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
    path: { type: "string", description: "Absolute, or relative to the workspace." },
    view_range: {
      type: "array",
      items: { type: "integer" },
      description: "[first, last]; last -1 is the end.",
    },
    file_text: { type: "string", description: "create: the whole text." },
    old_str: text,
    new_str: text,
    replace_all: { type: "boolean" },
    edits: {
      type: "array",
      description: "str_replace: several at once, in order, all or none.",
      items: {
        type: "object",
        properties: { old_str: text, new_str: text },
        required: ["old_str", "new_str"],
        additionalProperties: false,
      },
    },
    insert_line: { type: "integer", minimum: 0, description: "insert: after this line; 0 is the top." },
    insert_text: text,
  },
  required: ["command", "path"],
  additionalProperties: false,
};

/**
 * Creates the tool. `workspace`: absolute real path that relative paths start from. `onMachine`: where a path of the
 * commands lies on the machine, which differs for the temporary files of a sandbox. `isInstruction`: true for the
 * real path of a file whose text stays in the context once it was viewed.
 */
export function editorTool({
  description,
  workspace,
  onMachine = (path) => path,
  isInstruction = () => false,
}: {
  description: string;
  workspace: string;
  onMachine?: (path: string) => string;
  isInstruction?: (path: string) => boolean;
}): Tool {
  const memory: Memory = new Map();
  return {
    ...editorCalls,
    name: toolNames.editor,
    description,
    inputSchema,
    access: (input) => accessOf(input, { workspace, onMachine }),
    run: async (raw, context) =>
      (await import("./run-edit.ts")).runEdit(raw, context, { workspace, onMachine, isInstruction, memory }),
  };
}

/** Returns what a call touches. Never throws: a path that cannot be resolved stays as it was written. */
function accessOf(
  input: Record<string, unknown>,
  { workspace, onMachine }: { workspace: string; onMachine: (path: string) => string },
): Access {
  const { kind: access, paths } = editorCalls.touches(input);
  const path = onMachine(resolve(workspace, paths[0] ?? "."));
  const kind = access === "reads" ? "read" : "write";
  try {
    return { kind, paths: [realTarget(path)] };
  } catch {
    return { kind, paths: [path] };
  }
}
