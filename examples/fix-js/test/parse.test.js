import assert from "node:assert/strict";
import test from "node:test";
import { parseRows } from "../src/parse.js";

test("fields are split at commas", () => {
  assert.deepEqual(parseRows("a,b,,c\n"), [["a", "b", "", "c"]]);
});

test("lines end with LF or CRLF, the last one may lack its end", () => {
  assert.deepEqual(parseRows("a,b\r\nc,d\ne"), [["a", "b"], ["c", "d"], ["e"]]);
});

test("a quoted field may hold commas and line breaks", () => {
  assert.deepEqual(parseRows('"x, y","two\nlines"\n'), [["x, y", "two\nlines"]]);
});

test("a quote inside a quoted field is written twice", () => {
  assert.deepEqual(parseRows('"say ""hello"", please",1\n'), [['say "hello", please', "1"]]);
});
