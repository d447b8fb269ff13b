/** Runs a call of the editor. Loaded for the first one. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Access, ToolContext, ToolOutput } from "../../core/ports.ts";
import { PathMoved } from "../../disk/pinned-folder.ts";
import { realTarget } from "../../disk/real-path.ts";
import type { Call, EditorInput } from "./call.ts";
import { asRefusal, clipped, Refusal } from "./refusal.ts";
import { failuresOf, type Memory } from "./seen.ts";
import { view } from "./view-command.ts";
import { create, insert, strReplace } from "./write.ts";

const maxErrorBytes = 2000;

type Place = {
  /** Absolute real path that relative paths start from. */
  workspace: string;
  onMachine(path: string): string;
  /** Returns true for the real path of a file whose text stays in the context. */
  isInstruction(path: string): boolean;
  /** Files that the session has seen. */
  memory: Memory;
};

/** Performs the call; what the model can mend is a result with `isError`. */
export async function runEdit(
  raw: Record<string, unknown>,
  context: ToolContext,
  { workspace, onMachine, isInstruction, memory }: Place,
): Promise<ToolOutput> {
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
