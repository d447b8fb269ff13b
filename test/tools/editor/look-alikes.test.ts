/** Look-alike characters help to find a text, and never change what is written (T28). */

import { expect, test } from "vitest";
import { editorHere } from "../../support/editor.ts";

/** Returns the file after a str_replace, and the result. */
async function edited(text: string, old_str: string, new_str: string, replace_all = false) {
  const editor = editorHere();
  editor.write("f", text);
  const { content, isError } = await editor.run({
    command: "str_replace",
    path: "f",
    old_str,
    new_str,
    replace_all,
  });
  return { text: editor.read("f").toString(), said: String(content), isError };
}

test.each([
  ["curly single quotes", "say ‘hello’ now", "say 'hello' now"],
  ["curly double quotes", "say “hello” now", 'say "hello" now'],
  ["a space that does not break", "10\u00A0km to go", "10 km to go"],
  ["a narrow space", "10\u202Fkm to go", "10 km to go"],
  ["an em dash as one hyphen", "yes—no", "yes-no"],
  ["an em dash as two hyphens", "yes—no", "yes--no"],
  ["an en dash", "1–9", "1-9"],
  ["a minus sign", "a − b", "a - b"],
  ["a zero-width joiner", "zero\u200Dwidth", "zerowidth"],
  ["a zero-width space before and after", "a \u200Bword\u200B b", "a word b"],
  ["a soft hyphen", "hy\u00ADphen", "hyphen"],
  ["decomposed accents", "cafe\u0301 noir", "café noir"],
  ["composed accents for decomposed", "café noir", "cafe\u0301 noir"],
  ["decomposed Hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"],
  ["full-width forms", "f（x）！", "f(x)!"],
  ["several of them over lines with CRLF", "“a”\r\nb—c", '"a"\nb-c'],
])("%s are found, told, and replaced by exactly what was given", async (_what, inside, old) => {
  const [head, tail] = ["“head” —\u200B", "\u200D‘tail’\n"];
  for (const made of ["new", "“new”", "'n'—\u00A0e\u0301\u200D"]) {
    const { text, said, isError } = await edited(head + inside + tail, old, made);
    expect(text).toBe(head + made + tail);
    expect(said).toContain("look-alike");
    expect(isError).toBeUndefined();
  }
});

test("a change of quotes alone is a real change, both ways", async () => {
  expect((await edited("f('x')", "'x'", "‘x’")).text).toBe("f(‘x’)");
  expect((await edited("f(‘x’)", "‘x’", "'x'")).text).toBe("f('x')");
  expect((await edited("f(‘x’)", "'x'", '"x"')).text).toBe('f("x")');
});

test("code with both kinds of quotes is matched as it is", async () => {
  const { text, said } = await edited(`const quotes = /["']/; // “”`, `/["']/`, `/["'‘]/`);
  expect(text).toBe(`const quotes = /["'‘]/; // “”`);
  expect(said).not.toContain("look-alike");
});

test("an exact match is taken, whatever looks like it elsewhere", async () => {
  const { text, said } = await edited("‘x’ 'x' ‘x’", "'x'", "y");
  expect(text).toBe("‘x’ y ‘x’");
  expect(said).not.toContain("look-alike");
});

test.each([false, true])(
  "two candidates that only look alike are refused (replace_all %s)",
  async (everywhere) => {
    const { text, said, isError } = await edited("‘x’\nb\n“ ‛x’\n", "'x'", "y", everywhere);
    expect(isError).toBe(true);
    expect(said).toContain("2 places, lines 1, 3");
    expect(text).toBe("‘x’\nb\n“ ‛x’\n");
  },
);

test("what reads like new_str already is said so", async () => {
  const { said, isError } = await edited("a ‘x’ b", "'x'", "‘x’");
  expect(isError).toBe(true);
  expect(said).toContain("already");
});

test("text of invisible characters alone matches nothing", async () => {
  expect((await edited("a\u200Bb", "\u200D", "x")).isError).toBe(true);
});

test("white space and letters that differ are never taken as alike", async () => {
  for (const [text, old] of [
    ["“a  b”", "a b"],
    ["“A b”", "a b"],
    ["“\ta”", "    a"],
    ["“а b”", "a b"],
  ])
    expect((await edited(`${text}\n`, `${old}”`, "x")).isError).toBe(true);
});
