/**
 * The model sees hidden characters spelled out and can edit the lines that hold them; bytes it does not mean stay
 * (S52).
 */

import { expect, test } from "vitest";
import { editorHere } from "../support/editor.ts";

const trojan = 'if (level !== "user\u202e \u2066// only admins\u2069 \u2066") {\n  go();\n}\n';

async function edited(text: string, old_str: string, new_str: string, more: object = {}) {
  const editor = editorHere();
  editor.write("f.js", text);
  const said = await editor.say({ command: "str_replace", path: "f.js", old_str, new_str, ...more });
  return { said, text: editor.read("f.js").toString() };
}

test("a view spells them out and says how to write them; the file keeps its bytes", async () => {
  const editor = editorHere();
  editor.write("f.js", trojan);
  const said = await editor.say({ command: "view", path: "f.js" });
  expect(said).toContain('if (level !== "user\\u{202e} \\u{2066}// only admins\\u{2069} \\u{2066}") {');
  expect(said).toContain("shown as \\u{…}; written like that in old_str and new_str");
  expect(editor.read("f.js").toString()).toBe(trojan);
});

test("a line is edited as the view shows it, and what is kept of it keeps its characters", async () => {
  const { text, said } = await edited(
    trojan,
    '"user\\u{202e} \\u{2066}// only admins',
    '"root\\u{202e} \\u{2066}// only admins',
  );
  expect(said).toContain("1 replacement");
  expect(text).toBe(trojan.replace("user", "root"));
});

test("the characters themselves can be removed", async () => {
  expect((await edited("a\u{e0072}\u{e006d}b\n", "a\\u{e0072}\\u{e006d}b", "ab")).text).toBe("ab\n");
});

test("an edit beside them leaves them alone", async () => {
  expect((await edited(trojan, "  go();", "  stop();")).text).toBe(trojan.replace("go", "stop"));
});

test("an escape that the file spells itself is found as it is, and stays an escape", async () => {
  const source = 'const mark = "\\u{202e}";\n';
  expect((await edited(source, 'mark = "\\u{202e}"', 'other = "\\u{202e}"')).text).toBe(
    'const other = "\\u{202e}";\n',
  );
});

test("a file with the escape and the character asks which one is meant, and replace_all takes neither", async () => {
  const both = 'a "\\u{202e}"\nb "\u202e"\n';
  for (const more of [{}, { replace_all: true }]) {
    const { said, text } = await edited(both, '"\\u{202e}"', '""', more);
    expect(said).toContain("occurs 2 times in f.js, in lines 1, 2");
    expect(text).toBe(both);
  }
});

test("text for a new file or a new line is taken literally", async () => {
  const editor = editorHere();
  await editor.run({ command: "create", path: "n.js", file_text: '"\\u{202e}"\n' });
  await editor.run({ command: "insert", path: "n.js", insert_line: 1, insert_text: '"\\u{200b}"' });
  expect(editor.read("n.js").toString()).toBe('"\\u{202e}"\n"\\u{200b}"\n');
});
