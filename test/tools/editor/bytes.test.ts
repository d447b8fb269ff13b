/** Bytes are sacred: encodings, line endings and what no encoding fits (T12). */

import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { editorHere } from "../../support/editor.ts";
import { seededRandom } from "../../support/random.ts";

const bom = (text: string) => `\uFEFF${text}`;
/** The name, the text around the word that is edited, and how it is encoded. */
const files: [name: string, text: string, encode: (text: string) => Buffer][] = [
  ["UTF-8", "naïve WORD\nzwölf 日本 🙂\nend\n", (text) => Buffer.from(text)],
  ["UTF-8 with BOM", "naïve WORD\nzwölf 日本 🙂\nend\n", (text) => Buffer.from(bom(text))],
  ["UTF-16LE with BOM", "naïve WORD\nzwölf 日本 🙂\nend\n", (text) => Buffer.from(bom(text), "utf16le")],
  [
    "UTF-16BE with BOM",
    "naïve WORD\nzwölf 日本 🙂\nend\n",
    (text) => Buffer.from(bom(text), "utf16le").swap16(),
  ],
  ["UTF-16LE without BOM", "key = WORD\nother = 1\nend\n", (text) => Buffer.from(text, "utf16le")],
  ["Latin-1", "caf\xe9 WORD\nna\xefvet\xe9, cr\xe9\xe9e\nend\n", (text) => Buffer.from(text, "latin1")],
  ["windows-1252", "“WORD” costs 5 €\nit’s caf\xe9\nend\n", (text) => iconv.encode(text, "windows-1252")],
  ["GBK", "中文注释 WORD\n变量 = 1 // 初始化\nend\n", (text) => iconv.encode(text, "gbk")],
  [
    "Shift_JIS",
    "設定ファイル WORD\n表示 = ソート # これは\nend\n",
    (text) => iconv.encode(text, "shift_jis"),
  ],
  [
    "EUC-KR",
    "# 설정 파일: 데이터베이스 연결을 위한 값 WORD\nname = 서울 # 사용자 이름을 반환한다\nend\n",
    (text) => iconv.encode(text, "euc-kr"),
  ],
  [
    "Big5",
    "# 設定檔：資料庫連線 WORD\nname = 臺北市 # 這個函式傳回兩個數字的總和\nend\n",
    (text) => iconv.encode(text, "big5"),
  ],
  [
    "EUC-JP",
    "# 設定ファイル：データベース接続 WORD\nname = 東京 # ユーザー名を返す\nend\n",
    (text) => iconv.encode(text, "euc-jp"),
  ],
  ["no known encoding", "WORD\x81\xff\xfe\nx\x8d\x90y\nend\n", (text) => Buffer.from(text, "latin1")],
  ["CRLF", "a WORD\r\nb\r\nend\r\n", (text) => Buffer.from(text)],
  ["lone CR", "a WORD\rb\rend\r", (text) => Buffer.from(text)],
  ["LF with a lone CR inside", "a WORD\nb\rc\nend\n", (text) => Buffer.from(text)],
  ["mixed CRLF and LF", "a WORD\r\nb\nc\r\nend\n", (text) => Buffer.from(text)],
  ["no final line break", "a\tWORD\n\tb\nend", (text) => Buffer.from(text)],
  ["NUL inside", "a WORD\0\nb\0\nend\n", (text) => Buffer.from(text)],
];

describe.each(files)("in a file with %s", (_name, text, encode) => {
  const broken = text.includes("\r\n") ? "\r\n" : text.includes("\n") ? "\n" : "\r";

  test("one word is replaced and every other byte stays", async () => {
    const editor = editorHere();
    editor.write("f", encode(text));
    const input = { command: "str_replace", path: "f", old_str: "WORD", new_str: "Thing" };
    expect((await editor.run(input)).isError).toBeUndefined();
    expect(editor.read("f")).toEqual(encode(text.replace("WORD", "Thing")));
  });

  test("every occurrence is replaced and every other byte stays", async () => {
    const editor = editorHere();
    editor.write("f", encode(text + text));
    await editor.run({ command: "str_replace", path: "f", old_str: "WORD", new_str: "X", replace_all: true });
    expect(editor.read("f")).toEqual(encode((text + text).replaceAll("WORD", "X")));
  });

  test("several edits at once touch only what they name", async () => {
    const editor = editorHere();
    editor.write("f", encode(text));
    const edits = [
      { old_str: "WORD", new_str: "W" },
      { old_str: "end", new_str: "END" },
    ];
    await editor.run({ command: "str_replace", path: "f", edits });
    expect(editor.read("f")).toEqual(encode(text.replace("WORD", "W").replace("end", "END")));
  });

  test("an inserted line gets the ending of its neighbour", async () => {
    const editor = editorHere();
    editor.write("f", encode(text));
    await editor.run({ command: "insert", path: "f", insert_line: 1, insert_text: "new\n" });
    const at = text.indexOf(broken) + broken.length;
    expect(editor.read("f")).toEqual(encode(`${text.slice(0, at)}new${broken}${text.slice(at)}`));
  });

  test("writing the whole file over keeps encoding, mark and line endings", async () => {
    if (/no known/.test(_name)) return;
    const editor = editorHere();
    editor.write("f", encode(text));
    const changed = text.replace("WORD", "Word");
    await editor.run({ command: "view", path: "f" });
    const file_text = changed.replaceAll(/\r\n/g, "\n");
    await editor.run({
      command: "create",
      path: "f",
      file_text: broken === "\r" ? file_text.replaceAll("\r", "\n") : file_text,
    });
    expect(editor.read("f")).toEqual(encode(changed));
  });
});

test("a text of several lines given with LF is found across CRLF, and what replaces it gets CRLF", async () => {
  const editor = editorHere();
  editor.write("f", "one\r\ntwo\r\nthree\r\nfour\r\n");
  await editor.run({ command: "str_replace", path: "f", old_str: "one\ntwo\nthree", new_str: "1\n2\n2b\n3" });
  expect(editor.read("f").toString()).toBe("1\r\n2\r\n2b\r\n3\r\nfour\r\n");
});

test("in a mixed file lines that stay keep their own ending", async () => {
  const editor = editorHere();
  editor.write("f", "one\r\ntwo\nthree\r\nfour\nfive\r\n");
  const input = {
    command: "str_replace",
    path: "f",
    old_str: "one\ntwo\nthree\nfour",
    new_str: "one\nTWO\nthree\nnew\nfour",
  };
  await editor.run(input);
  expect(editor.read("f").toString()).toBe("one\r\nTWO\nthree\r\nnew\r\nfour\nfive\r\n");
});

test("line endings themselves can be changed", async () => {
  const editor = editorHere();
  editor.write("f", "one\ntwo\n");
  const { content } = await editor.run({
    command: "str_replace",
    path: "f",
    old_str: "one\n",
    new_str: "one\r\n",
  });
  expect(editor.read("f").toString()).toBe("one\r\ntwo\n");
  expect(content).toContain("Only line endings differ");
});

test.each([
  ["GBK", "中文注释 WORD 初始化", "gbk", "🙂"],
  ["windows-1252", "caf\xe9 WORD", "latin1", "日"],
  ["Shift_JIS", "これは WORD です", "shift_jis", "é"],
])(
  "a character that %s does not have is refused by name and nothing is written",
  async (name, text, encoding, foreign) => {
    const editor = editorHere();
    const bytes = iconv.encode(text, encoding);
    editor.write("f", bytes);
    const output = await editor.run({ command: "str_replace", path: "f", old_str: "WORD", new_str: foreign });
    expect(output).toMatchObject({ isError: true, content: expect.stringContaining(name) });
    expect(output.content).toContain(foreign);
    expect(editor.read("f")).toEqual(bytes);
  },
);

test("a file of no known encoding takes ASCII only", async () => {
  const editor = editorHere();
  const bytes = Buffer.from("WORD\x81\xff\n", "latin1");
  editor.write("f", bytes);
  const said = await editor.say({ command: "str_replace", path: "f", old_str: "WORD", new_str: "Wörd" });
  expect(said).toContain("no encoding known");
  expect(editor.read("f")).toEqual(bytes);
});

test("a lost character is never written", async () => {
  const editor = editorHere();
  editor.write("f", "WORD\n");
  for (const new_str of ["a\uFFFDb", "a\uD800b"])
    expect(await editor.run({ command: "str_replace", path: "f", old_str: "WORD", new_str })).toMatchObject({
      isError: true,
    });
  expect(await editor.run({ command: "create", path: "g", file_text: "\uDC00" })).toMatchObject({
    isError: true,
  });
  expect(editor.read("f").toString()).toBe("WORD\n");
  expect(editor.names()).toEqual(["f"]);
});

test("in UTF-8 with a damaged line the other lines are edited as text, and its bytes stay", async () => {
  const editor = editorHere();
  const file = (before: string, word: string, after: string) =>
    Buffer.concat([
      Buffer.from(`${before}\nk`),
      Buffer.from([0xe4, 0xfc]),
      Buffer.from(`${word}\n${after}\n`),
    ]);
  editor.write("f", file("日本 🙂", "WORD", "zwölf\r"));
  const edits = [
    { old_str: "日本 🙂", new_str: "中国 é" },
    { old_str: "WORD\nzwölf", new_str: "Word\nelf 🙂" },
  ];
  expect((await editor.run({ command: "str_replace", path: "f", edits })).isError).toBeUndefined();
  expect(editor.read("f")).toEqual(file("中国 é", "Word", "elf 🙂\r"));
  expect(await editor.say({ command: "view", path: "f" })).toContain("UTF-8 with damaged lines");
  const said = await editor.say({ command: "str_replace", path: "f", old_str: "Word", new_str: "Wört" });
  expect(said).toContain("takes no character U+00F6");
});

test.each([
  ["windows-1252", "caf\xe9 noir, tr\xe8s bon", "café", "thé à la crème"],
  ["gbk", "中文注释 = 初始化", "注释", "说明（新）"],
  ["windows-1252", "une cr\xe9\xe9e", "créée", "fée"],
  ["shift_jis", "設定ファイル これは", "ファイル", "表示"],
  ["shift_jis", "アイウ = オ", "アイ", "表示"],
])("in %s what is beyond ASCII is edited like any text", async (encoding, text, old_str, new_str) => {
  const editor = editorHere();
  editor.write("f", iconv.encode(text, encoding));
  await editor.run({ command: "str_replace", path: "f", old_str, new_str });
  expect(editor.read("f")).toEqual(iconv.encode(text.replace(old_str, new_str), encoding));
});

test("a byte that only looks like the text, the second half of a character, is no match", async () => {
  const editor = editorHere();
  // The second byte of 表 and ソ is a backslash.
  const text = "表示ソート\\n これはです\n";
  editor.write("f", iconv.encode(text, "shift_jis"));
  await editor.run({ command: "str_replace", path: "f", old_str: "\\", new_str: "/" });
  expect(editor.read("f")).toEqual(iconv.encode(text.replace("\\", "/"), "shift_jis"));
});

test("text is added after a last line without line break", async () => {
  const editor = editorHere();
  editor.write("f", "one\r\ntwo");
  await editor.run({ command: "insert", path: "f", insert_line: 2, insert_text: "three" });
  expect(editor.read("f").toString()).toBe("one\r\ntwo\r\nthree");
});

test("whatever the bytes, an edit changes those between two places and no others", async () => {
  const random = seededRandom(7);
  const pieces = ["a", "b ", "\n", "\r\n", "\t", "é", "中", "\u200d", "“", "-", "\0", "\r", "e\u0301"];
  const some = (count: number) =>
    Array.from({ length: count }, () => pieces[Math.floor(random() * pieces.length)]).join("");
  const editor = editorHere();
  for (let round = 0; round < 300; round++) {
    const [head, middle, tail] = [some(12), `<<${some(3)}>>`, some(12)];
    const path = `f${round}`;
    editor.write(path, head + middle + tail);
    const input = {
      command: "str_replace",
      path,
      old_str: middle,
      new_str: "[made]",
    };
    const output = await editor.run(input);
    expect(output, JSON.stringify(head + middle + tail)).not.toHaveProperty("isError");
    expect(editor.read(path).toString()).toBe(`${head}[made]${tail}`);
  }
});
