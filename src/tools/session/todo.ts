/** The `todo` tool: rewrites the checklist in todo.md; its result recites it. The user may edit the file too. */

import { readFileSync } from "node:fs";
import type { LogEvent } from "../../core/events.ts";
import type { Tool, ToolOutput } from "../../core/ports.ts";
import {
  checklist,
  isSameList,
  knownTasks,
  maxListLength,
  recital,
  type Task,
} from "../../core/task-list.ts";
import { todoCalls, toolNames } from "../../core/tool-calls.ts";
import { replaceFile } from "../../disk/replace-file.ts";

/** Creates the tool. `file`: absolute path of the session's todo.md. */
export function todoTool(options: { description: string; file: string }): Tool {
  return {
    ...todoCalls,
    name: toolNames.todo,
    description: options.description,
    inputSchema: {
      type: "object",
      properties: {
        items: {
          type: "array",
          description: "The whole list, in order.",
          items: {
            type: "object",
            properties: {
              text: { type: "string" },
              status: { type: "string", enum: ["open", "active", "done"] },
            },
            required: ["text", "status"],
            additionalProperties: false,
          },
        },
      },
      required: ["items"],
      additionalProperties: false,
    },
    access: () => ({ kind: "session" }),
    run: async (input, { events }) => rewrite(options.file, input.items as Task[], events),
  };
}

/** Reads todo.md; undefined when it cannot be read: there is none yet, or the user removed it. */
export function readTaskList(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").slice(0, maxListLength).toWellFormed();
  } catch {
    return undefined;
  }
}

function rewrite(file: string, tasks: Task[], events: readonly LogEvent[]): ToolOutput {
  const blank = tasks.findIndex((task) => task.text.trim() === "");
  if (blank >= 0) return refusal(`Item ${blank + 1} has no text. The list was not changed.`);
  if (wasEdited(file, events)) {
    return refusal(
      "The person changed the list a moment ago, so yours was not written. Their version follows: send the whole list again with their changes in it.",
    );
  }
  replaceFile(file, `${checklist(tasks)}\n`);
  return { content: recital(tasks), tasks };
}

/** Returns true when the file differs from what the model knows. A redacted list cannot be compared. */
function wasEdited(file: string, events: readonly LogEvent[]): boolean {
  const present = readTaskList(file);
  const known = knownTasks(events) ?? "";
  if (present === undefined || known.includes("[redacted:")) return false;
  return !isSameList(present, known);
}

function refusal(text: string): ToolOutput {
  return { content: text, isError: true };
}
