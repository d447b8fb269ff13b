import { Session } from "node:inspector";
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { inParentheses } from "../../scripts/compile-early.ts";

const code = `// src/first.ts
var table = shape({ rows: 3 }), lines = [1, 2].map((line) => line * 2);
function shape({ rows }) {
  return { rows, inner: inner() };
  function inner() {
    return "hoisted";
  }
}
function unused() {
  return "never";
}
// src/second.ts
class Counted extends Error {
  kind = "counted";
  told = () => this.kind;
  get twice() {
    return 2 * this.count;
  }
  constructor(count) {
    super();
    this.count = count;
  }
}
async function* numbers() {
  yield* lines;
}
var curried = (a) => (b) => a + b, counted = new Counted(curried(2)(3));
numbers();
result = JSON.stringify([table, lines, counted.told(), counted.twice, counted.kind, numbers.name, curried.name, { add(a) { return a; }, of: async (a) => a }.add(7)]);
`;

/** Runs the code; its result, and the places of the functions that it called. */
function ran(text: string) {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const scope = { result: "" };
  new Script(text, { filename: "/early.js" }).runInNewContext(scope);
  let called: { start: number; end: number }[] = [];
  session.post("Profiler.takePreciseCoverage", (_, { result }) => {
    const functions = result.find(({ url }) => url.endsWith("/early.js"))?.functions ?? [];
    called = functions.flatMap(({ ranges: [whole] }) =>
      whole && whole.count > 0 ? [{ start: whole.startOffset, end: whole.endOffset }] : [],
    );
  });
  session.disconnect();
  return { result: scope.result, called };
}

test("functions in parentheses do what they did, those called before their line included", () => {
  const { result, called } = ran(code);
  const changed = inParentheses(code, called);
  expect(result).toContain("hoisted");
  expect(ran(changed).result).toBe(result);
});

test("what was called stands in parentheses, declarations at the beginning of their source; the rest stays", () => {
  const lines = inParentheses(code, ran(code).called).split("\n");
  expect(lines.slice(0, 2)).toEqual(["// src/first.ts", "var shape = (function shape({ rows }) {"]);
  expect(lines).toContain("var table = shape({ rows: 3 }), lines = [1, 2].map(((line) => line * 2));");
  expect(lines[lines.indexOf("// src/second.ts") + 1]).toBe("var numbers = (async function* numbers() {");
  expect(lines).toContain("var curried = ((a) => ((b) => a + b)), counted = new Counted(curried(2)(3));");
  for (const kept of [
    "function unused() {",
    "  function inner() {",
    "  get twice() {",
    "  constructor(count) {",
  ])
    expect(lines).toContain(kept);
});
