/** An agent for tests that has the session's own tools, over real files. */

import { join } from "node:path";
import { completeFocusTool, startFocusTool } from "../../src/tools/session/focus.ts";
import { readTaskList, todoTool } from "../../src/tools/session/todo.ts";
import { type TestAgent, testAgent } from "./agents.ts";

/** With `todo`, `start_focus` and `complete_focus`; `todoFile` is the list that the person may edit. */
export function withOwnTools(options: Parameters<typeof testAgent>[0]): TestAgent & { todoFile: string } {
  const made = testAgent({ context: "economist", ...options });
  const { folder } = made.agent.artifacts;
  const todoFile = join(folder, "todo.md");
  made.agent.tools.push(
    todoTool({ description: "", file: todoFile }),
    startFocusTool({ description: "" }),
    completeFocusTool({ description: "", file: join(folder, "knowledge.md") }),
  );
  made.agent.readTasks = () => readTaskList(todoFile);
  return { ...made, todoFile };
}
