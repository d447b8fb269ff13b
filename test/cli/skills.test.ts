/** The person's skills: listed in the first message, viewed without a question, kept word for word. */

import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSkills } from "../../src/config/skills.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { sawtooth, type Workspace } from "../support/sawtooth.ts";
import { serve, tempWorkspace } from "../support/served.ts";

function put({ home }: Workspace, name: string, text: string): string {
  const folder = join(home, ".agents/skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), text);
  return join(folder, "SKILL.md");
}

const skill = (name: string, more = "", body = "BODY-1: sign every file.") =>
  `---\nname: ${name}\ndescription: Signs files. Use it for signatures.\n${more}---\n\n${body}\n`;

test("a skill is one line of the first message; its file is viewed without a question and stays", async () => {
  const replies: ScriptedReply[] = [];
  const { server, workspace } = await serve((_, index) => replies[index] ?? { text: "done" });
  const run = async (...more: string[]) => {
    const ended = await sawtooth(workspace, ["-p", "go", ...more]);
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stderr;
  };
  await run();
  const before = server.rawBodies[0] ?? "";
  expect(before.includes("<skills>")).toBe(false);
  const path = put(workspace, "signing", skill("signing", "allowed-tools: Bash\nmetadata:\n  a: b\n"));
  put(workspace, "manual", skill("manual", "disable-model-invocation: true\n"));
  put(workspace, "Broken", "no frontmatter");
  await run("--bare");
  expect(server.rawBodies[1]?.includes("<skills>")).toBe(false);
  replies[2] = { calls: [{ str_replace_editor: { command: "view", path } }] };
  expect(await run()).toContain("Broken is not taken: its SKILL.md does not begin with a frontmatter");
  const first = JSON.parse(server.rawBodies[2] ?? "").messages[0].content;
  const text = first
    .map((block: { text: string }) => block.text)
    .find((each: string) => each.startsWith("<skills>"));
  expect(text.split("\n").slice(2, -1)).toEqual([`- signing: Signs files. Use it for signatures. (${path})`]);
  expect(server.rawBodies[3]?.includes("BODY-1")).toBe(true);
  const logs = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  const events = logs
    .flatMap((file) => readFileSync(join(workspace.home, file), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as LogEvent);
  expect(allOf(events, "tool_result").map(({ instructions }) => instructions)).toEqual([[path]]);
});

test("the list takes 2 % of the soft window, the rest is there by name", async () => {
  const { server, workspace } = await serve([{ text: "done" }]);
  const long = "Long words. ".repeat(80);
  for (let index = 10; index < 60; index++)
    put(workspace, `s${index}`, `---\nname: s${index}\ndescription: ${long}\n---\nBody.\n`);
  await sawtooth(workspace, ["-p", "go"]);
  const body = server.rawBodies[0] ?? "";
  const lines = body.split("\\n").filter((line) => /^- s\d\d/.test(line));
  const whole = lines.filter((line) => line.includes("Long words."));
  expect(lines).toHaveLength(50);
  expect(whole.length).toBeGreaterThan(2);
  expect(whole.join("").length / 4).toBeLessThan(0.02 * 1_000_000);
  expect(whole.length).toBeLessThan(50);
});

test("what is not a skill is left out with a line that says why, and the others stay", () => {
  const workspace = tempWorkspace();
  put(workspace, "good", skill("good"));
  put(workspace, "folded", "---\nname: folded\ndescription: >\n  One line\n  and another.\n---\nBody.\n");
  put(workspace, "other", skill("another"));
  put(workspace, "yaml", "---\nname: yaml\n}{ what\n---\nBody.\n");
  put(workspace, "twice", "---\nname: twice\nname: twice\ndescription: a\n---\n");
  put(workspace, "nodescription", "---\nname: nodescription\n---\n");
  put(workspace, "huge", `---\nname: huge\ndescription: ${"x".repeat(10_000_000)}\n---\n`);
  put(workspace, "binary", "---\nname: binary\ndescription: a\n---\n\0");
  writeFileSync(join(workspace.home, "secret"), skill("leads-out"));
  mkdirSync(join(workspace.home, ".agents/skills/leads-out"));
  symlinkSync(join(workspace.home, "secret"), join(workspace.home, ".agents/skills/leads-out/SKILL.md"));
  const mine = join(workspace.home, "mine");
  mkdirSync(join(mine, "good"), { recursive: true });
  writeFileSync(join(mine, "good/SKILL.md"), skill("good", "", "Mine."));
  const { skills, notes } = readSkills([mine, join(workspace.home, ".agents/skills"), "/no/such/folder"]);
  expect(skills.map(({ name, description, text }) => [name, description, text])).toEqual([
    ["good", "Signs files. Use it for signatures.", "Mine."],
    ["folded", "One line and another.", "Body."],
  ]);
  const why = Object.fromEntries(
    notes.map((note) => note.replace(/^.*\/([^/]+) is not taken: /, "$1: ").split(": ", 2)),
  );
  expect(why).toEqual({
    "leads-out": "its SKILL.md is a link out of its folder",
    binary: "its SKILL.md is not text",
    good: "there is a skill good already",
    huge: "its SKILL.md is larger than 64 KiB",
    nodescription: "its description must have 1 to 1,024 characters",
    other: "its name is another, but its folder has another name",
    twice: "its frontmatter has name twice",
    yaml: "a line of its frontmatter is not YAML",
  });
});
