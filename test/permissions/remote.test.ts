/** Rules and modes for tools of servers. */

import { expect, test } from "vitest";
import { parseRule } from "../../src/permissions/decide.ts";
import { decide, modes } from "./bash/cases.ts";

const call = (options: object = {}, readOnly = false, name = "github/list_issues") => {
  const [server = "", tool = ""] = name.split("/");
  return decide({ kind: "remote", server, tool, readOnly }, { toolName: "mcp", ...options });
};

test("the mode asks, denies or allows, and names the rule that would allow", () => {
  const decisions = modes.map((mode) => call({ mode }).decision);
  expect(decisions).toEqual(["ask", "ask", "deny", "allow"]);
  expect(call().suggestion).toBe("mcp(github/list_issues)");
  expect(call({}, false, "git*/x").suggestion).toBeUndefined();
});

test("a rule covers by glob, a deny rule beats it, and a claim to only read counts where it is trusted", () => {
  expect(call({ allow: ["mcp(github/list_*)"] })).toMatchObject({ decision: "allow", by: "rule" });
  expect(call({ allow: ["mcp(github/get_*)"] }).decision).toBe("ask");
  expect(call({ allow: ["mcp"] }).decision).toBe("allow");
  expect(call({ mode: "auto", allow: ["mcp"], deny: ["mcp(*/list_*)"] }).decision).toBe("deny");
  expect(call({ mode: "plan" }, true).decision).toBe("allow");
  expect(call({ deny: ["mcp"] }, true).decision).toBe("deny");
});

test.each(["mcp(github)", "mcp(github/a b)", "mcp(/x)"])("%s is refused with how to write it", (rule) => {
  expect(() => parseRule(rule)).toThrow("write mcp(server/tool), such as mcp(github/list_*)");
});
