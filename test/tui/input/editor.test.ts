import { describe, expect, test } from "vitest";
import {
  type Editor,
  edit,
  editorWith,
  emptyEditor,
  layOut,
  wholeText,
} from "../../../src/tui/input/editor.ts";
import { graphemes, width } from "../../../src/tui/rows/rows.ts";
import { seededRandom } from "../../support/random.ts";

const columns = 20;

/** The editor after these keys; text in quotes is typed. */
function press(editor: Editor, ...keys: string[]): Editor {
  return keys.reduce((state, name) => {
    const typed = /^'([\s\S]*)'$/.exec(name)?.[1];
    const next = edit(
      state,
      typed === undefined ? { type: "key", key: name } : { type: "text", text: typed },
      columns,
    );
    return next ?? state;
  }, editor);
}

/** The text with a bar where the cursor is. */
function shown({ text, cursor }: Editor): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

test.each<[string, string[], string]>([
  ["one two", ["ctrl-w"], "one |"],
  ["one two", ["alt-b", "alt-b"], "|one two"],
  ["one two", ["home", "alt-f"], "one| two"],
  ["one two", ["ctrl-u", "'x'", "ctrl-y"], "xone two|"],
  ["one", ["alt-enter", "'two'", "home", "ctrl-k"], "one\n|"],
  ["one\ntwo", ["up", "home", "ctrl-k"], "|\ntwo"],
  ["one\ntwo", ["up", "end", "ctrl-k"], "one|two"],
  ["one\ntwo", ["up", "delete", "delete"], "one|wo"],
])("%j and %j make %j", (text, keys, result) => {
  expect(shown(press(editorWith(text), ...keys))).toBe(result);
});

test.each([["한글"], ["é́"], ["👨‍👩‍👧‍👦"], ["🇩🇪"], ["مرحبا"], ["ก็"]])(
  "one Backspace takes one character of %s",
  (text) => {
    const pieces = graphemes(text);
    let editor = editorWith(text);
    for (const piece of pieces.toReversed()) {
      const before = editor.text.length;
      editor = press(editor, "backspace");
      expect(before - editor.text.length).toBe(piece.length);
    }
    expect(editor.text).toBe("");
  },
);

test("the cursor never stands inside a character, and its column is the width before it", () => {
  const random = seededRandom(11);
  const parts = ["a", "日", "e\u0301", "👩‍💻", "\n", " ", "ש", "\u0301", "🇫"];
  const names = ["left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl-w", "alt-f"];
  let editor = emptyEditor;
  for (let round = 0; round < 800; round++) {
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
    editor = random() < 0.6 ? press(editor, `'${pick(parts)}'`) : press(editor, pick(names));
    const line = editor.text.slice(0, editor.cursor).split("\n").at(-1) ?? "";
    const whole = editor.text.split("\n")[editor.text.slice(0, editor.cursor).split("\n").length - 1] ?? "";
    let end = 0;
    for (const one of graphemes(whole)) if (end < line.length) end += one.length;
    expect(end).toBe(line.length);
    const { rows, caret } = layOut(editor, columns);
    const row = rows[caret.row];
    expect(width(editor.text.slice(row?.start, editor.cursor))).toBe(caret.column);
    expect(Math.max(...rows.map((each) => width(each.text)))).toBeLessThan(columns);
    if (editor.text.length > 120) editor = emptyEditor;
  }
});

test("up and down keep to the column they came from", () => {
  const editor = editorWith("a long line\nno\nanother line");
  expect(shown(press(editor, "up"))).toBe("a long line\nno|\nanother line");
  expect(shown(press(editor, "up", "up"))).toBe("a long line|\nno\nanother line");
  expect(shown(press(editor, "up", "down"))).toBe("a long line\nno\nanother line|");
});

describe("a long paste", () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join("\n");
  const pasted = edit(editorWith("see "), { type: "paste", text: lines }, columns) ?? emptyEditor;

  test("is shown as a mark and sent whole", () => {
    expect(pasted.text).toBe("see [pasted 10,000 lines]");
    expect(wholeText(press(pasted, "' ok'"))).toBe(`see ${lines} ok`);
  });

  test("goes with one Backspace, and the cursor steps over it at once", () => {
    expect(press(pasted, "backspace").text).toBe("see ");
    expect(shown(press(pasted, "left"))).toBe("see |[pasted 10,000 lines]");
  });

  test("twice the same has two marks", () => {
    const twice = edit(pasted, { type: "paste", text: lines }, columns) ?? emptyEditor;
    expect(twice.text).toBe("see [pasted 10,000 lines][pasted 10,000 lines, 2]");
    expect(wholeText(twice)).toBe(`see ${lines}${lines}`);
  });

  test("of one very long line counts characters", () => {
    const long = edit(emptyEditor, { type: "paste", text: "x".repeat(5000) }, columns);
    expect(long?.text).toBe("[pasted 5,000 characters]");
  });
});
