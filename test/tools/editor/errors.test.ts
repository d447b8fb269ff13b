/** Errors that help: not found, several found, several edits, the same call again (T27). */

import { describe, expect, test } from "vitest";
import { editorHere } from "../../support/editor.ts";
import { sized } from "../../support/size.ts";

const code = `import { a } from "a";

export function add(left: number, right: number): number {
	const total = left + right;
	return total;
}

export function subtract(left: number, right: number): number {
	const total = left - right;
	return total;
}
`;

/** The error of a str_replace on `text`; the file must stay as it is. */
async function refusal(text: string, input: object): Promise<string> {
  const editor = editorHere();
  editor.write("f", text);
  const output = await editor.run({ command: "str_replace", path: "f", ...input });
  expect(output.isError).toBe(true);
  expect(editor.read("f").toString()).toBe(text);
  expect(Buffer.byteLength(output.content as string)).toBeLessThanOrEqual(2048);
  return output.content as string;
}

test("one wrong word: the nearest block is shown as a diff with its line numbers", async () => {
  const old_str =
    "export function add(left: number, right: number): number {\n\tconst sum = left + right;\n\treturn total;";
  const said = await refusal(code, { old_str, new_str: "x" });
  expect(said).toContain("lines 3-5");
  expect(said).toContain("-\tconst sum = left + right;\n+\tconst total = left + right;");
});

test("wrong indentation: the white space is made visible", async () => {
  const said = await refusal(code, { old_str: "    const total = left - right;", new_str: "x" });
  expect(said).toContain("line 9");
  expect(said).toContain("-····const·total·=·left·-·right;\n+→const·total·=·left·-·right;");
});

test("lines without a single word are found by the lines that are right", async () => {
  const lines = Array.from({ length: 90 }, (_, index) => `x = ${index};`);
  const said = await refusal(`${lines.join("\n")}\n`, {
    old_str: "x = 70;\nx = 0;\nx = 72;",
    new_str: "x",
  });
  expect(said).toContain("lines 71-73");
  expect(said).toContain(" x = 70;\n-x = 0;\n+x = 71;\n x = 72;");
});

test("several matches: all their lines are listed", async () => {
  const said = await refusal(code, { old_str: "return total;", new_str: "x" });
  expect(said).toContain("occurs 2 times in f, in lines 5, 10");
  expect(said).toContain("replace_all");
});

test("matches that overlap are several", async () => {
  expect(await refusal("}\n}\n}\n", { old_str: "}\n}\n", new_str: "x" })).toContain("2 times");
});

test.each([
  ["an empty old_str", { old_str: "", new_str: "x" }, "old_str is empty"],
  ["equal texts", { old_str: "total", new_str: "total" }, "are the same"],
  ["no old_str", {}, "needs old_str"],
  [
    "line numbers copied from a view",
    { old_str: "     5\t\treturn total;\n     6\t}", new_str: "x" },
    "line numbers",
  ],
  ["nothing alike", { old_str: "%%%%", new_str: "x" }, "Nothing in it is like it"],
])("%s is refused in words of its own", async (_what, input, words) => {
  expect(await refusal(code, input)).toContain(words);
});

test("a last line break that the file does not have is named", async () => {
  expect(await refusal("one\ntwo", { old_str: "two\n", new_str: "x" })).toContain("the file does not");
});

test("of five edits the fourth fails, and none is written", async () => {
  const edits = ["add", "subtract", "import", "nowhere", "from"].map((old_str) => ({
    old_str,
    new_str: "x",
  }));
  expect(await refusal(code, { edits })).toContain("Edit 4 of 5, so nothing was written");
});

test("each edit sees what those before it made", async () => {
  const editor = editorHere();
  editor.write("f", "one\n");
  const edits = [
    { old_str: "one", new_str: "two" },
    { old_str: "two", new_str: "three" },
  ];
  await editor.run({ command: "str_replace", path: "f", edits });
  expect(editor.read("f").toString()).toBe("three\n");
});

test("the same failing call is told something else the third time and again the fourth", async () => {
  const editor = editorHere();
  editor.write("f", code);
  const input = { command: "str_replace", path: "f", old_str: "const totals = left + right;", new_str: "x" };
  const said: string[] = [];
  for (let time = 0; time < 4; time++) said.push(await editor.say(input));
  expect(said[1]).toBe(said[0]);
  expect(said[2]).toContain("failed 3 times");
  expect(said[2]).toContain("view_range [4, 4]");
  expect(said[3]).toContain("failed 4 times");
  expect(said[3]).toContain("bash");
  expect(await editor.say({ ...input, new_str: "y" })).toBe(said[0]);
  for (const text of said) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
});

describe("in large files", () => {
  const lines = sized(100_000, 240_000);
  const middle = lines / 2;
  const large = Array.from({ length: lines }, (_, n) => `const value${n} = compute(${n}, "${n * 7}");`).join(
    "\n",
  );

  /** Each is a fraction of a second; a cost that grew with the square of the size would meet the test's time limit. */
  function replaced(text: string, input: object): Promise<string> {
    const editor = editorHere();
    editor.write("f", text);
    return editor.say({ command: "str_replace", path: "f", ...input });
  }

  test.each([
    ["an edit", large, { old_str: `const value${middle} = `, new_str: "let x = " }, "Edited"],
    [
      "an edit of CRLF",
      large.replaceAll("\n", "\r\n"),
      { old_str: `value${middle} = `, new_str: "x = " },
      "Edited",
    ],
    [
      "an edit everywhere",
      large,
      { old_str: "const ", new_str: "let ", replace_all: true },
      `${lines} replacements`,
    ],
    [
      "a near miss",
      large,
      { old_str: `const value${middle} = computed(${middle}`, new_str: "" },
      `${middle + 1}`,
    ],
    [
      "a near miss beyond ASCII",
      `“${large}”`,
      { old_str: `const value${middle} = computed(${middle}`, new_str: "" },
      `${middle + 1}`,
    ],
    ["far too many matches", large, { old_str: "compute", new_str: "" }, `${lines} times`],
    [
      "one line of 2 MB",
      large.slice(0, 2e6).replaceAll("\n", " "),
      { old_str: "value9000 = ", new_str: "x" },
      "Edited",
    ],
    [
      "a miss in one line",
      large.slice(0, 2e6).replaceAll("\n", " "),
      { old_str: "value9000 == ", new_str: "x" },
      "value9000",
    ],
  ])("%s is answered in few words", async (_what, text, input, words) => {
    const said = await replaced(text, input);
    expect(said).toContain(words);
    expect(Buffer.byteLength(said)).toBeLessThan(6000);
  });
});

test("in a very long line the model is shown the place that changed", async () => {
  const editor = editorHere();
  editor.write("f", `${"x".repeat(500_000)} here ${"y".repeat(500_000)}\n`);
  const said = await editor.say({ command: "str_replace", path: "f", old_str: "here", new_str: "THERE" });
  expect(said).toMatch(/xxx THERE yyy/);
  expect(Buffer.byteLength(said)).toBeLessThan(2000);
});

test("a command without what it needs says what it needs", async () => {
  const editor = editorHere();
  editor.write("f", "one\n");
  expect(await editor.say({ command: "create", path: "f" })).toContain("file_text");
  expect(await editor.say({ command: "insert", path: "f" })).toContain("insert_line");
  expect(await editor.say({ command: "insert", path: "f", insert_line: 5, insert_text: "x" })).toContain(
    "0 to 1",
  );
});
