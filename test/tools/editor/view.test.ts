/** Views of files and folders. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { editorHere } from "../../support/editor.ts";

const numberedLines = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("a file", () => {
  test("is shown with line numbers and tabs, as cat -n does", async () => {
    const editor = editorHere();
    const path = editor.write("f", "one\n\n\ttwo\n");
    const shown = execFileSync("cat", ["-n", path], { encoding: "utf8" }).trimEnd();
    expect(await editor.say({ command: "view", path: "f" })).toBe(shown);
  });

  test.each<[string, number[], string]>([
    ["a part", [2, 3], "     2\tline 2\n     3\tline 3"],
    ["to the end", [9, -1], "     9\tline 9\n    10\tline 10"],
    ["past the end", [10, 99], "    10\tline 10"],
  ])("is shown in ranges: %s", async (_what, view_range, expected) => {
    const editor = editorHere();
    editor.write("f", numberedLines(10));
    expect(await editor.say({ command: "view", path: "f", view_range })).toBe(expected);
  });

  test.each([[[0, 5]], [[11, 12]], [[5, 4]], [[5]], [[1, 2, 3]], [[-3, -1]]])(
    "refuses the range %j in words",
    async (view_range) => {
      const editor = editorHere();
      editor.write("f", numberedLines(10));
      const output = await editor.run({ command: "view", path: "f", view_range });
      expect(output).toMatchObject({ isError: true, content: expect.stringContaining("view_range") });
    },
  );

  test("that does not fit says which lines are left out, and the range it names shows them", async () => {
    const editor = editorHere();
    editor.write("f", numberedLines(5000));
    let shown = "";
    for (let range: number[] | undefined = [1, -1]; range; ) {
      const said = await editor.say({ command: "view", path: "f", view_range: range }, 2000);
      expect(Buffer.byteLength(said)).toBeLessThanOrEqual(8000);
      const [text = "", note] = said.split("\n[Lines ");
      shown += `${text}\n`;
      const [, first, last] = /view_range \[(\d+), (\d+)\]/.exec(note ?? "") ?? [];
      range = first && last ? [Number(first), Number(last)] : undefined;
    }
    expect(shown.replaceAll(/^ *\d+\t/gm, "")).toBe(numberedLines(5000));
  });

  test("never takes more than 30 KB, whatever it holds", async () => {
    const editor = editorHere();
    for (const [name, text] of [
      ["lines", numberedLines(100_000)],
      ["one line", "x".repeat(2_000_000)],
      ["wide lines", `${"日本語".repeat(3000)}\n`.repeat(50)],
      ["empty lines", "\n".repeat(100_000)],
    ] as const) {
      editor.write(name, text);
      const said = await editor.say({ command: "view", path: name }, 100_000);
      expect(Buffer.byteLength(said)).toBeLessThanOrEqual(30_000);
      expect(said).toMatch(/left out|cut/);
    }
  });

  test("with a long line says how much of it is cut", async () => {
    const editor = editorHere();
    editor.write("f", `short\n${"x".repeat(5000)}\nafter\n`);
    const said = await editor.say({ command: "view", path: "f" });
    expect(said).toContain("x… [3000 more characters in this line]");
    expect(said).toContain("     3\tafter");
  });

  test("is always well-formed text, also where a line is cut within a character", async () => {
    const editor = editorHere();
    editor.write("f", `x${"🙂".repeat(2000)}\n`);
    editor.write("g", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a\ud800b\n", "utf16le")]));
    for (const path of ["f", "g"])
      expect((await editor.say({ command: "view", path })).isWellFormed()).toBe(true);
  });

  test.each<[string, Buffer | string, string]>([
    ["CRLF", "a\r\nb\r\n", "CRLF line endings"],
    ["mixed endings", "a\r\nb\n", "mixed line endings"],
    ["a byte order mark", "\uFEFFa\n", "UTF-8 with byte order mark"],
    ["GBK", iconv.encode("中文注释 初始化\n", "gbk"), "GBK"],
    ["EUC-KR", iconv.encode("# 설정 파일: 데이터베이스 연결을 위한 값\n", "euc-kr"), "EUC-KR"],
    ["Big5", iconv.encode("# 這個函式傳回兩個數字的總和\n", "big5"), "Big5"],
    ["EUC-JP", iconv.encode("# 設定ファイル：データベース接続\n", "euc-jp"), "EUC-JP"],
    ["no last line break", "a\nb", "no line break at the end"],
    ["escape sequences", "\x1b[31mred\x1b[0m\n", "control characters"],
  ])("with %s says so", async (_what, bytes, words) => {
    const editor = editorHere();
    editor.write("f", bytes);
    const said = await editor.say({ command: "view", path: "f" });
    expect(said).toContain(words);
    expect(said).not.toMatch(/[\x00-\x08\x0b-\x1f\uFEFF]/);
  });

  test("that is empty, or not there, is told so", async () => {
    const editor = editorHere();
    editor.write("f", "");
    expect(await editor.say({ command: "view", path: "f" })).toBe("f is empty.");
    expect(await editor.run({ command: "view", path: "g" })).toMatchObject({ isError: true });
  });

  test.each<[string, Buffer, string]>([
    ["a program", Buffer.concat([Buffer.from("\x7fELF\x02\x01\x01\0"), Buffer.alloc(200)]), "ELF"],
    ["a PDF", Buffer.from("%PDF-1.7\n1 0 obj\n"), "pdftotext"],
    ["unknown data", Buffer.from(Array.from({ length: 400 }, (_, n) => (n * 167) % 256)), "binary"],
  ])("that is %s is named with its size, not shown", async (_what, bytes, words) => {
    const editor = editorHere();
    editor.write("f", bytes);
    const said = await editor.say({ command: "view", path: "f" });
    expect(said).toContain(words);
    expect(said).toContain(`${bytes.length} bytes`);
    expect(said.length).toBeLessThan(400);
  });

  test("that is huge is not read, but pointed to bash", async () => {
    const editor = editorHere();
    execFileSync("truncate", ["-s", "3G", join(editor.folder, "f")]);
    expect(await editor.say({ command: "view", path: "f" })).toContain("too large");
  });
});

describe("a folder", () => {
  function tree(): ReturnType<typeof editorHere> {
    const editor = editorHere();
    for (const folder of ["src/deep/deeper", "node_modules/x", "empty"])
      mkdirSync(join(editor.folder, folder), { recursive: true });
    for (const file of [
      "README.md",
      "src/a.ts",
      "src/deep/b.ts",
      "src/deep/deeper/c.ts",
      "node_modules/x/y.js",
    ])
      editor.write(file, "x".repeat(2048));
    return editor;
  }
  const git = (editor: { folder: string }, ...words: string[]) =>
    execFileSync("git", ["-C", editor.folder, ...words], { stdio: "pipe" });

  test("is listed two levels deep with sizes and counts", async () => {
    const editor = tree();
    symlinkSync("README.md", join(editor.folder, "link"));
    expect((await editor.say({ command: "view", path: "." })).split("\n").slice(1)).toEqual([
      "README.md  2.0 KB",
      "empty/",
      "link  link",
      "src/  3 files",
      "  a.ts  2.0 KB",
      "  deep/  2 files",
    ]);
  });

  test("under git leaves out what git ignores, shows what is new, and not what is gone", async () => {
    const editor = tree();
    git(editor, "init", "-q");
    writeFileSync(join(editor.folder, ".gitignore"), "node_modules\n*.log\nsecret/\n");
    editor.write("gone.txt", "");
    git(editor, "add", "-A");
    execFileSync("rm", [join(editor.folder, "gone.txt")]);
    editor.write("debug.log", "");
    editor.write("new.txt", "12345");
    const said = await editor.say({ command: "view", path: "." });
    expect(said.split("\n").slice(1)).toEqual([
      ".gitignore  27 B",
      "README.md  2.0 KB",
      "new.txt  5 B",
      "src/  3 files",
      "  a.ts  2.0 KB",
      "  deep/  2 files",
    ]);
    expect(await editor.say({ command: "view", path: "src" })).toContain("\n  deeper/  1 file");
    expect(await editor.say({ command: "view", path: "node_modules" })).toContain("y.js");
  });

  test("of a hostile repository runs nothing", async () => {
    const editor = tree();
    git(editor, "init", "-q");
    const mark = join(editor.folder, ".git", "ran");
    writeFileSync(join(editor.folder, "evil.sh"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    for (const name of ["core.fsmonitor", "core.pager", "core.hooksPath"])
      git(editor, "config", name, join(editor.folder, "evil.sh"));
    expect(await editor.say({ command: "view", path: "." })).toContain("README.md");
    expect(existsSync(mark)).toBe(false);
  });

  test("of many files stays in its budget and says how many are not shown", async () => {
    const editor = editorHere();
    for (let index = 0; index < 1000; index++) editor.write(`file-${String(index).padStart(4, "0")}`, "");
    const said = await editor.say({ command: "view", path: "." }, 500);
    expect(Buffer.byteLength(said)).toBeLessThanOrEqual(2000);
    const shown = said.match(/^file-/gm)?.length ?? 0;
    expect(said).toContain(`[${1000 - shown} more entries`);
  });
});
