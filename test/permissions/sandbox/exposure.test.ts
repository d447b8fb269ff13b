/** Two of three: the things that a session has read, as a function of its log. */

import { expect, test } from "vitest";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { type ExposureOptions, exposureBy, isExposed } from "../../../src/permissions/sandbox/exposure.ts";

const step = { type: "assistant_message", content: [], usage: {} } as unknown as EventBody;
const result = (content: string, read: string[] = []): EventBody => ({
  ...{ type: "tool_result", toolUseId: "t", toolName: "bash", isError: false },
  ...{ content, stats: { read } },
});
const egress = (bytesDown: number, more: object = {}): EventBody => ({
  ...{ type: "egress", host: "ok.example", port: 443, decision: "allow", program: "curl ok.example" },
  ...{ bytesUp: 100, bytesDown, connections: 1, ms: 5, ...more },
});
const seen = (bodies: EventBody[], kind: ExposureOptions["private"] = "secrets") =>
  exposureBy({ private: kind, workspace: ["/w"] })(
    bodies.map((body, seq): LogEvent => ({ seq, at: seq, ...body })),
  );

test("S41 two-of-three: text from outside is what a host sent, unless it is trusted, and files of dependencies", () => {
  expect(seen([step, egress(500)]).outside).toEqual({
    step: 1,
    from: "ok.example:443",
    call: "curl ok.example",
  });
  expect(seen([step, egress(0)])).toEqual({});
  expect(seen([step, egress(500, { decision: "deny" })])).toEqual({});
  expect(seen([step, egress(500, { decision: "cut" })]).outside).toBeDefined();
  expect(seen([step, egress(500, { trusted: true })])).toEqual({});
  expect(seen([step, step, result("x", ["/w/node_modules/a/README.md"])]).outside).toEqual({
    ...{ step: 2, from: "/w/node_modules/a/README.md" },
  });
  const called = (outcome: "ok" | "refused"): EventBody => ({
    ...{ type: "mcp_called", server: "github", tool: "get_issue", outcome, durationMs: 5, bytes: 9 },
  });
  expect(seen([step, called("ok")]).outside).toEqual({ step: 1, from: "an MCP server" });
  expect(seen([step, called("refused")])).toEqual({});
});

test("S41 two-of-three: private data is a secret, a file outside, and the workspace itself unless secrets alone count", () => {
  expect(seen([step, result("[redacted:API_KEY] was there")]).private).toEqual({ step: 1, from: "a secret" });
  expect(seen([step, result("x", ["/w/config/.env"])]).private?.from).toBe("/w/config/.env");
  expect(seen([step, result("x", ["/home/u/notes.txt"])]).private?.from).toBe("/home/u/notes.txt");
  expect(seen([step, result("x", ["/w/src/a.ts"])])).toEqual({});
  expect(seen([step], "workspace")).toEqual({ private: { step: 1, from: "/w" } });
  expect(seen([], "workspace")).toEqual({});
});

test("S41 two-of-three: only both together count, in either order, and forgetting takes nothing away", () => {
  const both = [step, result("[redacted:API_KEY]"), step, egress(500)];
  expect(isExposed(seen(both))).toBe(true);
  expect(isExposed(seen([step, egress(500), step, result("[redacted:API_KEY]")]))).toBe(true);
  expect(isExposed(seen([step, egress(500)]))).toBe(false);
  expect(isExposed(seen([step, result("[redacted:API_KEY]")]))).toBe(false);
  const forgotten = {
    type: "context_edited",
    policy: "p",
    reason: "r",
    edits: [],
    economics: {},
  } as EventBody;
  expect(isExposed(seen([...both, forgotten]))).toBe(true);
});
