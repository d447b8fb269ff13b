import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolContext } from "../../../src/core/ports.ts";
import { knownTasks } from "../../../src/core/task-list.ts";
import { readTaskList, todoTool } from "../../../src/tools/session/todo.ts";
import { call, memoryLog, reply, started, user } from "../../support/logs.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-todo-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A session that calls the tool and logs what it answers. */
function session() {
  const file = join(folder, "todo.md");
  const tool = todoTool({ description: "", file });
  const log = memoryLog([started(), user("go")]);
  let calls = 0;
  const write = async (...items: [text: string, status: string][]) => {
    const id = `t${++calls}`;
    const input = { items: items.map(([text, status]) => ({ text, status })) };
    log.append(reply(call(id, "todo", input)));
    const output = await tool.run(input, { events: log.events() } as unknown as ToolContext);
    const { content, isError = false, tasks } = output;
    const kept = tasks ? { tasks } : {};
    log.append({ type: "tool_result", toolUseId: id, toolName: "todo", content, isError, ...kept });
    return output;
  };
  return { file, log, write };
}

describe("the task list", () => {
  test("is written to the file and recited in the result", async () => {
    const { file, log, write } = session();
    const output = await write(["find it", "done"], ["fix\n it", "active"], ["test it", "open"]);
    const list = "- [x] find it\n- [>] fix it\n- [ ] test it";
    expect(output.content).toBe(`${list}\n(1 of 3 done)`);
    expect(readFileSync(file, "utf8")).toBe(`${list}\n`);
    expect(knownTasks(log.events())).toBe(list);
  });

  test("can be emptied", async () => {
    const { log, write } = session();
    await write(["one", "open"]);
    expect((await write()).content).toBe("The list is empty.");
    expect(knownTasks(log.events())).toBe("");
  });

  test("refuses an item without text, and stays as it was", async () => {
    const { file, write } = session();
    await write(["one", "open"]);
    expect(await write(["one", "done"], [" \n", "open"])).toMatchObject({ isError: true });
    expect(readFileSync(file, "utf8")).toBe("- [ ] one\n");
  });
});

describe("a list that the person edited meanwhile", () => {
  test("is not overwritten until the model was told of it", async () => {
    const { file, log, write } = session();
    await write(["one", "open"]);
    writeFileSync(file, "- [ ] one\n- [ ] two, please\n");
    const refused = await write(["one", "done"]);
    expect(refused).toMatchObject({ isError: true });
    expect(readFileSync(file, "utf8")).toContain("two, please");
    const todo = readTaskList(file) ?? "";
    log.append({ type: "reminder", channel: "logged", text: "told", about: ["todo_changed"], todo });
    expect(await write(["one", "done"], ["two, please", "open"])).not.toMatchObject({ isError: true });
  });

  test("counts as edited only when it says something else: not when an editor saved it its own way", async () => {
    const { file, write } = session();
    await write(["one", "open"], ["two", "open"]);
    writeFileSync(file, "- [ ] one  \r\n- [ ] two");
    expect(await write(["one", "done"])).not.toMatchObject({ isError: true });
  });

  test("is not missed when it is gone: the next list makes it anew", async () => {
    const { file, write } = session();
    await write(["one", "open"]);
    rmSync(file);
    expect(readTaskList(file)).toBeUndefined();
    await write(["one", "done"]);
    expect(readTaskList(file)).toBe("- [x] one\n");
  });

  test("is not compared where a secret was taken out of the log", async () => {
    const { file, log, write } = session();
    writeFileSync(file, "- [ ] use hunter22222\n");
    const todo = "- [ ] use [redacted:PASSWORD]";
    log.append({ type: "reminder", channel: "logged", text: "told", about: ["todo_changed"], todo });
    expect(await write(["done with it", "done"])).not.toMatchObject({ isError: true });
  });
});
