/** Files that somebody else changed since the model saw them (T26). */

import { renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ContextEdit } from "../../../src/core/events.ts";
import { type Editor, editorHere, editorIn } from "../../support/editor.ts";
import { call, memoryLog, reply, result, started } from "../../support/logs.ts";

const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1} of the file`);
const original = `${lines.join("\n")}\n`;
const edit = { command: "str_replace", path: "f", old_str: "line 20 of the file", new_str: "LINE 20" };

/** An editor that has viewed the file `f`. */
async function viewed(): Promise<Editor> {
  const editor = editorHere();
  editor.write("f", original);
  await editor.run({ command: "view", path: "f" });
  return editor;
}

describe("an edit goes through without a word when the content is what was seen", () => {
  test.each<[string, (editor: Editor) => void]>([
    ["a touch", ({ folder }) => utimesSync(join(folder, "f"), new Date(), new Date())],
    ["the same bytes written again", (editor) => editor.write("f", original)],
    ["a clock set back", ({ folder }) => utimesSync(join(folder, "f"), 1, 1)],
    [
      "a replacement by rename",
      (editor) => renameSync(editor.write("other", original), join(editor.folder, "f")),
    ],
  ])("after %s", async (_what, happen) => {
    const editor = await viewed();
    happen(editor);
    const said = await editor.say(edit);
    expect(said).toContain("LINE 20");
    expect(said).not.toContain("changed");
  });

  test("two edits in a row, and one after a partial view", async () => {
    const editor = editorHere();
    editor.write("f", original);
    await editor.run({ command: "view", path: "f", view_range: [1, 5] });
    for (const old_str of ["line 20 of the file", "line 30 of the file"]) {
      expect(await editor.say({ ...edit, old_str })).not.toContain("changed");
    }
  });
});

test("an edit of a file whose time alone stands still is judged by its content", async () => {
  const editor = await viewed();
  utimesSync(join(editor.folder, "f"), 1000, 1000);
  editor.write("f", original.replace("line 20 of", "line 20 in"));
  utimesSync(join(editor.folder, "f"), 1000, 1000);
  expect(await editor.run(edit)).toMatchObject({ isError: true });
});

test("a change elsewhere lets the edit through, is kept, and is told", async () => {
  const editor = await viewed();
  const changed = original.replace("line 3 of", "line three of").replace("line 38 of the file\n", "");
  editor.write("f", changed);
  const said = await editor.say(edit);
  expect(said).toContain("changed on disk since you last saw it; that change is elsewhere");
  expect(editor.read("f").toString()).toBe(changed.replace("line 20 of the file", "LINE 20"));
  expect(await editor.say({ ...edit, old_str: "line 21", new_str: "LINE 21" })).not.toContain("changed");
});

test("a change in the region is refused once, with the fresh lines", async () => {
  const editor = await viewed();
  // The old text is still there, but inside a line that is another now.
  const changed = original.replace("line 20 of the file", "not line 20 of the file at all");
  editor.write("f", changed);
  const output = await editor.run(edit);
  expect(output).toMatchObject({ isError: true, content: expect.stringContaining("    20\tnot line 20") });
  expect(editor.read("f").toString()).toBe(changed);
  expect((await editor.run(edit)).isError).toBeUndefined();
});

test("a change of the text itself is refused with the fresh lines, and is not told twice", async () => {
  const editor = await viewed();
  editor.write("f", original.replace("line 20 of", "line twenty of"));
  const first = await editor.say(edit);
  expect(first).toContain("has changed on disk");
  expect(first).toContain("    20\tline twenty of the file");
  expect(await editor.say(edit)).not.toContain("has changed");
});

test("the same text at another place is not taken for the place that was seen", async () => {
  const editor = await viewed();
  editor.write("f", original.replace("line 20 of the file\n", "").replace("line 40", "line 20"));
  expect(await editor.run(edit)).toMatchObject({
    isError: true,
    content: expect.stringContaining("    19\tline 19 of the file\n    20\tline 21"),
  });
});

test("lines that another tool showed since are not stale", async () => {
  const editor = await viewed();
  editor.write("f", original.replace("line 20 of the file", "line 20 of the file, by sed"));
  editor.log.append(reply(call("b", "bash", { command: "sed -n 20p f" })));
  editor.log.append(result("b", "line 20 of the file, by sed"));
  expect((await editor.run(edit)).isError).toBeUndefined();
});

test("an insertion by line number is refused once when the lines there are others now", async () => {
  const editor = await viewed();
  const insert = { command: "insert", path: "f", insert_line: 20, insert_text: "between" };
  editor.write("f", `new first line\n${original}`);
  expect(await editor.run(insert)).toMatchObject({
    isError: true,
    content: expect.stringContaining("line 19"),
  });
  expect((await editor.run(insert)).isError).toBeUndefined();
  editor.write("f", `${editor.read("f")}appended\n`);
  expect(await editor.say({ ...insert, insert_line: 2 })).toContain("elsewhere");
});

describe("writing a whole file over", () => {
  const create = { command: "create", path: "f", file_text: "new\n" };

  test("is refused once when it was never viewed, saying how to view it", async () => {
    const editor = editorHere();
    editor.write("f", original);
    const output = await editor.run(create);
    expect(output).toMatchObject({ isError: true, content: expect.stringContaining('"command": "view"') });
    expect(editor.read("f").toString()).toBe(original);
    expect((await editor.run(create)).isError).toBeUndefined();
  });

  test("is refused once when it has changed since, with the change", async () => {
    const editor = await viewed();
    editor.write("f", original.replace("line 3 of", "line three of"));
    expect(await editor.run(create)).toMatchObject({
      isError: true,
      content: expect.stringContaining("+line three of the file"),
    });
    expect((await editor.run(create)).isError).toBeUndefined();
  });

  test("goes through after a view, and after an earlier create", async () => {
    const editor = await viewed();
    expect((await editor.run(create)).isError).toBeUndefined();
    expect((await editor.run({ ...create, file_text: "newer\n" })).isError).toBeUndefined();
    expect(await editor.say({ ...create, file_text: "newer\n" })).toContain("already");
  });

  test("an edit alone is no view", async () => {
    const editor = editorHere();
    editor.write("f", original);
    await editor.run(edit);
    expect(await editor.run(create)).toMatchObject({ isError: true });
  });
});

describe("a second view of an unchanged file", () => {
  const view = { command: "view", path: "f" };

  test("says so instead of repeating it", async () => {
    const editor = await viewed();
    const said = await editor.say(view);
    expect(said).toContain("unchanged");
    expect(said).not.toContain("line 20");
    expect(await editor.say(view)).toContain("unchanged");
  });

  test("shows another range, a changed file, and what did not fit the first time", async () => {
    const editor = await viewed();
    expect(await editor.say({ ...view, view_range: [20, 20] })).toBe("    20\tline 20 of the file");
    editor.write("f", original.replace("line 20", "line twenty"));
    expect(await editor.say(view)).toContain("line twenty");
    const small = editorHere();
    small.write("f", original.repeat(10));
    const [first, second] = [await small.say(view, 500), await small.say(view, 500)];
    expect(first).toContain("left out");
    expect(second).toBe(first);
  });

  const forgetting: [string, (seq: number) => ContextEdit, boolean][] = [
    ["masked", (seq) => ({ type: "replace", seq, block: 0, text: "" }), true],
    ["folded", (seq) => ({ type: "collapse", from: seq - 1, to: seq, text: "" }), true],
    ["not touched", (seq) => ({ type: "replace", seq: seq - 1, block: 0, text: "" }), false],
    ["left out of a fold", (seq) => ({ type: "collapse", from: 0, to: seq - 1, text: "" }), false],
    ["kept but its thinking", (seq) => ({ type: "drop_thinking", to: seq }), false],
  ];
  test.each(forgetting)("when the first was %s", async (_what, edit, forgotten) => {
    const editor = await viewed();
    const seq = editor.log.events().length - 1;
    const edited = { policy: "test", reason: "", edits: [edit(seq)], economics: {} };
    editor.log.append({ type: "context_edited", ...edited });
    expect((await editor.say(view)).includes("line 20")).toBe(forgotten);
    expect(await editor.say(view)).toContain("unchanged");
  });

  test("shows it whole to a session that has no such result in its log", async () => {
    const { folder } = await viewed();
    const resumed = editorIn(folder, memoryLog([started()]));
    expect(await resumed.say(view)).toContain("line 20");
  });
});
