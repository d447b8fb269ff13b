import assert from "node:assert/strict";
import test from "node:test";
import { parseRows } from "../src/parse.js";
import { formatRows, parseTable } from "../src/table.js";

test("rows become objects with the names of the first row", () => {
  assert.deepEqual(parseTable("name,age\nAda,36\nAlan\n"), [
    { name: "Ada", age: "36" },
    { name: "Alan", age: "" },
  ]);
});

test("fields are quoted only where they must be", () => {
  assert.equal(formatRows([["plain", "a,b", 3]]), 'plain,"a,b",3\n');
});

test("what is written is read back", () => {
  const rows = [['12" record', "two\nlines"], ["", "end"]];
  assert.deepEqual(parseRows(formatRows(rows)), rows);
});
