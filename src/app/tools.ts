/** The registry of tools: a tool is made in one file of src/tools, listed here, and described in prompts/tools. */

import { join } from "node:path";
import type { Settings } from "../config/settings.ts";
import type { Tool } from "../core/ports.ts";
import { toolNames } from "../core/tool-calls.ts";
import type { SessionServers } from "../mcp/servers.ts";
import { mcpTool } from "../mcp/tool.ts";
import type { CommandSandbox } from "../tools/bash/call.ts";
import type { Shell } from "../tools/bash/shell/shell.ts";
import { bashTool } from "../tools/bash/tool.ts";
import { editorTool } from "../tools/editor/tool.ts";
import type { FetchParts } from "../tools/fetch/parts.ts";
import { fetchTool } from "../tools/fetch/tool.ts";
import { delegateTool, reportBackTool } from "../tools/session/delegate.ts";
import { completeFocusTool, startFocusTool } from "../tools/session/focus.ts";
import { todoTool } from "../tools/session/todo.ts";
import type { Delegation } from "./delegate/delegation.ts";
import type { DelegateOptions } from "./delegate/options.ts";
import { readPrompt } from "./prompts.ts";

/** Parts of a session that tools use. `folder`: the session's own; `workspace`: where relative paths start. */
export type ToolParts = {
  folder: string;
  workspace: string;
  shell: Shell;
  settings: Settings;
  /** Returns true for a file whose text, once the editor showed it, stays in the context. */
  isInstruction(path: string): boolean;
  /** Returns where a path of the commands lies on the machine. */
  onMachine(path: string): string;
  /** Returns the tool that runs commands, with their connections watched. */
  watched(tool: Tool): Tool;
  /** The sandbox of the commands; absent where the person wants none. */
  commands: CommandSandbox | undefined;
  /** Absent in a session that may not fetch pages. */
  fetching: FetchParts | undefined;
  /** The person's servers; absent where none is configured. */
  servers: SessionServers | undefined;
  /** Absent in a sub-agent. */
  delegation: Delegation | undefined;
  /** Present in a sub-agent. */
  delegated: DelegateOptions | undefined;
};

/** The tools by which a session ends an exploration: it folds it, or as a sub-agent reports. */
function closingTools(
  { folder, delegated }: Pick<ToolParts, "folder" | "delegated">,
  description: (name: string) => string,
): Tool[] {
  if (!delegated)
    return [
      startFocusTool({ description: description(toolNames.startFocus) }),
      completeFocusTool({
        description: description(toolNames.completeFocus),
        file: join(folder, "knowledge.md"),
      }),
    ];
  const refused = { mayWrite: () => false, run: async () => ({ content: "", isError: true }) };
  return [
    reportBackTool({ description: description(toolNames.reportBack), take: delegated.report }),
    delegateTool({ ...refused, description: description(toolNames.delegate) }),
  ];
}

/** Every tool of a session, in the order in which they are declared to the model. */
export function sessionTools(parts: ToolParts): Tool[] {
  const { folder, workspace, shell, settings, onMachine, watched, commands, fetching, servers } = parts;
  const { isInstruction, delegation } = parts;
  const description = (name: string) => readPrompt(`tools/${name}`);
  const ofSandbox = commands ? `\n${description("bash-sandbox")}` : "";
  return [
    watched(
      bashTool({
        description: description(toolNames.bash) + ofSandbox,
        shell,
        sandbox: commands,
        timeoutSeconds: settings.shellTimeoutSeconds,
      }),
    ),
    editorTool({ description: description(toolNames.editor), workspace, onMachine, isInstruction }),
    todoTool({ description: description(toolNames.todo), file: join(folder, "todo.md") }),
    ...closingTools(parts, description),
    ...(fetching ? [fetchTool({ ...fetching, description: description(toolNames.fetch) })] : []),
    ...(servers ? [mcpTool(description(toolNames.mcp), servers)] : []),
    ...(delegation?.isOffered
      ? [delegateTool({ ...delegation, description: description(toolNames.delegate) })]
      : []),
  ];
}
