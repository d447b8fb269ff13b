import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { sawtooth } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

const auto = ["--permission-mode", "auto"];
const work: ScriptedReply[] = [
  { thinking: "look", calls: [{ bash: { command: "ls" } }] },
  { calls: [{ str_replace_editor: { command: "create", path: "sub/new.txt", file_text: "one\n" } }] },
  { thinking: "go", calls: [{ bash: { command: "cd sub && pwd && date" } }, { bash: { command: "pwd" } }] },
  { calls: [{ todo: { items: [{ text: "go on", status: "active" }] } }] },
  { text: "rested" },
  { thinking: "again", calls: [{ bash: { command: "pwd" } }] },
  { text: "rested again" },
  { thinking: "plan", calls: [{ bash: { command: "cat sub/new.txt" } }, { todo: { items: [] } }] },
  { thinking: "more", calls: [{ bash: { command: "ls sub" } }] },
  { thinking: "enough", text: "rested for good" },
  { text: "the other repository" },
];

/** The hashed parts: tools, system and messages without the cache markers. */
function hashed(body: string): { head: string; messages: string[] } {
  const { tools, system, messages } = JSON.parse(body, (key, value) =>
    key === "cache_control" ? undefined : value,
  );
  return {
    head: JSON.stringify([tools, system]),
    messages: messages.map((message: unknown) => JSON.stringify(message)),
  };
}

function markers(body: string): number {
  return body.split('"cache_control"').length - 1;
}

describe("the cached prefix", () => {
  test.each([
    ["claude-sonnet-5-5", "prefix_bound"],
    ["claude-sonnet-4-6", "free"],
  ])(
    "on %s (%s) stays byte for byte over a run, a folder change, midnight, two changes of mode, resumes and another repository",
    async (model) => {
      const on = ["--model", `anthropic/${model}`];
      const day = (number: number) => ({
        env: { SOURCE_DATE_EPOCH: String(1_795_000_000 + number * 86_400) },
      });
      const { server, workspace } = await serve(work);
      writeFileSync(join(workspace.cwd, "AGENTS.md"), "RULE-17: use tabs.\n");
      execFileSync("git", ["init", "-q"], { cwd: workspace.cwd });
      mkdirSync(join(workspace.cwd, "sub"));
      const run = (words: string, mode: string, date: number, ...more: string[]) =>
        sawtooth(workspace, ["-p", words, ...on, "--permission-mode", mode, ...more], day(date));
      expect((await run("first", "auto", 0)).code).toBe(0);
      expect((await run("second", "accept-edits", 1, "-c")).code).toBe(0);
      expect((await run("third", "plan", 2, "-c")).code).toBe(0);
      const bodies = server.rawBodies.map(hashed);
      expect(bodies).toHaveLength(10);
      expect(bodies.some(({ messages }) => messages.join().includes('"thinking":"go"'))).toBe(true);
      for (const [index, later] of bodies.slice(1).entries()) {
        const earlier = bodies[index];
        expect(later.head).toBe(earlier?.head);
        expect(later.messages.slice(0, earlier?.messages.length)).toEqual(earlier?.messages);
      }
      for (const body of server.rawBodies) {
        expect(markers(body)).toBeLessThanOrEqual(4);
        expect(JSON.parse(body).messages.at(-1).content.at(-1).cache_control).toBeDefined();
      }
      const other = join(workspace.home, "other");
      mkdirSync(other);
      await sawtooth({ ...workspace, cwd: other }, ["-p", "first", ...on, ...auto], day(3));
      expect(hashed(server.rawBodies[10] ?? "").head).toBe(bodies[0]?.head);
      expect(server.exchanges.every((exchange) => exchange.status === 200)).toBe(true);
    },
  );

  test("the fixed part is under 12 KB and holds no date, folder or id; those stand in the first message", async () => {
    const { server, workspace } = await serve([{ text: "ok" }]);
    writeFileSync(join(workspace.cwd, "AGENTS.md"), "RULE-17: use tabs.\n");
    await sawtooth(workspace, ["-p", "hi"]);
    const body = server.rawBodies[0] ?? "";
    const { head, messages } = hashed(body);
    expect(Buffer.byteLength(head)).toBeLessThan(12_000);
    expect(head).not.toContain(workspace.cwd);
    expect(head).not.toMatch(/20\d\d-\d\d/);
    for (const fact of [workspace.cwd, "RULE-17", "Date: 20"]) expect(messages[0]).toContain(fact);
  });
});

test("another model in the middle of a session gets a history that it accepts", async () => {
  const { server, workspace } = await serve([
    ...work.slice(0, 5),
    { thinking: "new", text: "me" },
    { text: "back" },
  ]);
  mkdirSync(join(workspace.cwd, "sub"));
  for (const [words, model] of [
    ["first"],
    ["second", "anthropic/claude-opus-5-5"],
    ["third", "anthropic/claude-sonnet-4-6"],
  ])
    await sawtooth(workspace, ["-p", words ?? "", ...auto, ...(model ? ["-c", "--model", model] : [])]);
  expect(server.exchanges.map((exchange) => exchange.error ?? exchange.status)).toEqual([
    200, 200, 200, 200, 200, 200, 200,
  ]);
});
