/** The `str_replace_editor` tool: looks at files, images and folders, and changes files all or nothing. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Access, Tool, ToolOutput } from "../../core/ports.ts";
import type { JsonSchema } from "../../core/request.ts";
import { editorCalls, toolNames } from "../../core/tool-calls.ts";
import { PathMoved } from "../../disk/pinned-folder.ts";
import { realTarget } from "../../disk/real-path.ts";
import type { Call, EditorInput } from "./call.ts";
import { asRefusal, clipped, Refusal } from "./refusal.ts";
import { failuresOf, type Memory } from "./seen.ts";
import { view } from "./view-command.ts";
import { create, insert, strReplace } from "./write.ts";

const maxErrorBytes = 2000;

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
    run: async (raw, context) => {
      const input = raw as EditorInput;
      try {
        if (input.path.includes("\0")) throw new Refusal("A path cannot hold a NUL character.");
        const named = resolve(workspace, input.path);
        const path = realTarget(onMachine(named));
        if (!approves(context.access, path)) throw new PathMoved(path);
        if (input.command !== "create" && !existsSync(path) && existsSync(named)) throw notHere(input.path);
        const output = await perform({ input, path, memory, context });
        const isRead = input.command === "view" && output.stats?.lines !== undefined;
        return isRead && isInstruction(path) ? { ...output, instructions: [path] } : output;
      } catch (error) {
        const before = failuresOf(context.events, raw);
        return refused(input, asRefusal(error, input.path), before + 1);
      }
    },
  };
}

/** Temporary files of the machine are not those of a sandbox. */
function notHere(path: string): Refusal {
  return new Refusal(
    `${path} of this machine is not here: commands and the editor have temporary files of their own. To use it, copy it into the workspace with bash and outside: true, and say why.`,
  );
}

function approves(access: Access, path: string): boolean {
  return (access.kind === "read" || access.kind === "write") && access.paths.includes(path);
}

function perform(call: Call): Promise<ToolOutput> {
  switch (call.input.command) {
    case "view":
      return view(call);
    case "create":
      return create(call);
    case "str_replace":
      return strReplace(call);
    case "insert":
      return insert(call);
  }
}

/** Suggests another way from the third identical failure on. */
function refused(input: EditorInput, { message, lines }: Refusal, times: number): ToolOutput {
  const other = times < 3 ? "" : `\n\n${anotherWay(input, lines, times)}`;
  return { content: clipped(message, maxErrorBytes - Buffer.byteLength(other)) + other, isError: true };
}

function anotherWay(input: EditorInput, lines: Refusal["lines"], times: number): string {
  const said = `This very call has failed ${times} times and will fail again. Do not repeat it.`;
  if (input.command === "view" || input.command === "create")
    return `${said} Look with bash (ls -la, stat, file) at what is there.`;
  const range = lines ? ` with view_range [${lines.first}, ${lines.last}]` : "";
  const look = `First view the file${range}, and copy old_str from what you see, with more lines around it.`;
  return times === 3
    ? `${said} ${look}`
    : `${said} ${look} Or leave this tool and change it with bash (sed, python).`;
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
