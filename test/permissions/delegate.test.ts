/** Sub-agents: which rules offer them, let them write, and count for them. */

import { expect, test } from "vitest";
import { delegatesWrite, inheritedRules, offersDelegates } from "../../src/permissions/delegate.ts";
import { parseRule } from "../../src/permissions/parse-rule.ts";
import { decide } from "./bash/cases.ts";

test.each<[string[], string[], boolean, boolean]>([
  [[], [], false, false],
  [["bash"], [], false, false],
  [["delegate"], [], true, false],
  [["delegate(write)"], [], true, true],
  [["delegate(write)"], ["delegate(write)"], true, false],
  [["delegate(write)"], ["delegate"], false, false],
])("allowed %j, denied %j", (allow, deny, offered, writes) => {
  expect(offersDelegates(allow, deny)).toBe(offered);
  expect(delegatesWrite(allow, deny)).toBe(writes);
});

test("one that reads inherits the rules for reading alone, one that writes all but those that reach out", () => {
  const rules = ["read(/srv/**)", "edit", "bash(npm test:*)", "host(docs.rs)", "fetch", "mcp", "port(3000)"];
  expect(inheritedRules(rules, false)).toEqual(["read(/srv/**)"]);
  expect(inheritedRules(rules, true)).toEqual(["read(/srv/**)", "edit", "bash(npm test:*)"]);
});

test("to start one needs no question in any mode, and a deny rule beats that", () => {
  const start = (writes: boolean, deny: string[] = []) =>
    decide({ kind: "delegate", writes }, { mode: "ask", deny }).decision;
  expect(start(false)).toBe("allow");
  expect(start(true)).toBe("allow");
  expect(start(false, ["delegate"])).toBe("deny");
  expect(start(false, ["delegate(write)"])).toBe("allow");
  expect(start(true, ["delegate(write)"])).toBe("deny");
});

test("another pattern is refused, with the rules there are", () => {
  expect(() => parseRule("delegate(read)")).toThrow("write delegate or delegate(write)");
});
