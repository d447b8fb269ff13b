/** The `todo` tool: rewrites the checklist in todo.md; its result recites it. */

import { writeFileSync } from "node:fs";
import type { Tool, ToolOutput } from "../core/ports.ts";

type Item = { text: string; status: "open" | "active" | "done" };

const marks: Record<Item["status"], string> = { open: "[ ]", active: "[>]", done: "[x]" };

/** `file`: absolute path of the session's todo.md. */
export function todoTool(options: { description: string; file: string }): Tool {
  return {
    name: "todo",
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
    run: async (input) => rewrite(options.file, input.items as Item[]),
  };
}

function rewrite(file: string, items: Item[]): ToolOutput {
  const list = checklist(items);
  writeFileSync(file, `${list}\n`, { mode: 0o600 });
  const done = items.filter((item) => item.status === "done").length;
  return {
    content: items.length === 0 ? "The list is empty." : `${list}\n(${done} of ${items.length} done)`,
  };
}

/** The list as Markdown, one line an item. */
function checklist(items: readonly Item[]): string {
  return items.map((item) => `- ${marks[item.status]} ${item.text.replaceAll(/\s*\n\s*/g, " ")}`).join("\n");
}
