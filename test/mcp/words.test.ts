/** The words of the program `mcp`: what they ask for, and arguments typed by the schema. */

import { expect, test } from "vitest";
import { readArguments, readWords } from "../../src/mcp/shell/words.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    ratio: { type: ["number", "null"] },
    open: { type: "boolean" },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    labels: { type: "array", items: { type: "string" } },
    ids: { type: "array", items: { $ref: "#/$defs/id" } },
    filter: { type: "object" },
    state: { enum: ["open", "closed"] },
    level: { enum: [1, 2] },
    id: { $ref: "#/$defs/id" },
  },
  $defs: { id: { type: "integer" } },
};
const read = (...words: string[]) => readArguments(words, '{"text": "given", "count": 1}', schema);

test.each([
  [["text=12"], { text: "12" }],
  [["text="], { text: "" }],
  [["text=a=b:=c"], { text: "a=b:=c" }],
  [["count=12", "ratio=-0.5", "open=true"], { count: 12, ratio: -0.5, open: true }],
  [["ratio=null"], { ratio: null }],
  [["count=twelve"], { count: "twelve" }],
  [["either=12"], { either: "12" }],
  [["labels=bug"], { labels: ["bug"] }],
  [["labels=bug", "labels=ui"], { labels: ["bug", "ui"] }],
  [['labels=["a","b"]'], { labels: ["a", "b"] }],
  [["ids=1", "ids=2"], { ids: [1, 2] }],
  [['filter={"a":1}'], { filter: { a: 1 } }],
  [["state=open", "level=2"], { state: "open", level: 2 }],
  [["id=7"], { id: 7 }],
  [["unknown=12"], { unknown: "12" }],
  [["unknown:=12", "text:=null"], { unknown: 12, text: null }],
  [["--json", '{"count": 3}', "count=4"], { count: 4 }],
  [["count=4", '--json={"count": 3}'], { count: 3 }],
  [["-", "count=2"], { text: "given", count: 2 }],
  [["__proto__=1"], Object.fromEntries([["__proto__", "1"]])],
])("%j are read", (words, values) => {
  expect(read(...words)).toEqual({ values });
});

test.each([
  [["open"], '"open" is no argument'],
  [["--state", "open"], '"--state" is no argument'],
  [["count:=[1"], "the value of count is no JSON"],
  [["--json", "[1]"], "what follows --json is no JSON object"],
  [["--json"], "what follows --json is no JSON object"],
])("%j are refused", (words, wrong) => {
  expect(read(...words)).toEqual({ wrong });
});

test("without a server, a tool or arguments they ask for lists and schemas", () => {
  expect(readWords([])).toEqual({ kind: "servers" });
  expect(readWords(["--help"])).toEqual({ kind: "servers" });
  expect(readWords(["a"])).toEqual({ kind: "tools", server: "a" });
  expect(readWords(["a", "b", "--help"])).toEqual({ kind: "help", server: "a", tool: "b" });
  expect(readWords(["a", "b", "c=--help"])).toEqual({
    kind: "call",
    server: "a",
    tool: "b",
    words: ["c=--help"],
  });
});
