/** The kind of an observation is the same whichever agent's tool made it. */

import { expect, test } from "vitest";
import { recordedKind } from "../../../src/context/reuse/kind.ts";
import type { CommandPurpose } from "../../../src/core/events.ts";
import type { CallFacts } from "../../../src/core/tool-calls.ts";
import { commandPurpose } from "../../../src/permissions/bash/purpose.ts";

/** The kind of a result; that of a command is recorded as it runs. */
const kind = (name: string, input: Record<string, unknown> = {}, call?: CallFacts) => {
  const purpose: CommandPurpose | undefined =
    name === "bash" ? commandPurpose(String(input.command), "/w") : undefined;
  const stats = purpose && { purpose };
  const event = { ...(call && { call }), ...(stats && { stats }) };
  return recordedKind({ type: "tool_use", id: "1", name, input }, event).kind;
};

test("a file is read by cat, sed, view, Read, open and a server's tool alike", () => {
  const calls: [string, Record<string, unknown>][] = [
    ["bash", { command: "cat a.ts" }],
    ["bash", { command: "sed -n 1,5p a.ts" }],
    ["str_replace_editor", { command: "view", path: "a.ts" }],
    ["Read", { file_path: "a.ts" }],
    ["open", { path: "a.ts" }],
    ["mcp", { server: "files", tool: "read_text_file" }],
    ["mcp__files__readTextFile", {}],
    ["fetch", { url: "https://example.com" }],
  ];
  expect(calls.map(([name, input]) => kind(name, input))).toEqual(calls.map(() => "read"));
});

test.each([
  ["search", ["Grep", "Glob", "find_file", "search_dir", "list_directory", "codebaseSearch"]],
  ["edit", ["MultiEdit", "write_file", "create", "apply_patch", "NotebookEdit"]],
  ["test", ["run_tests", "getDiagnostics", "lint"]],
  [
    "other",
    ["TodoWrite", "TaskCreate", "update_plan", "submit", "weather", "delegate", "todo", "start_focus"],
  ],
] as const)("%s is told by a word in the tool's name", (expected, names) => {
  expect(names.map((name) => kind(name))).toEqual(names.map(() => expected));
});

test("facts recorded with a result win over the name", () => {
  const facts: CallFacts = { kind: "writes", paths: ["/w/a"], verb: "put", subject: "a" };
  expect(kind("read_file", {}, facts)).toBe("edit");
  expect(kind("lookup", {}, { ...facts, kind: "reads" })).toBe("read");
});
