/** The person's skills: listed in the first message, viewed without a question, kept word for word. */

import { execFileSync } from "node:child_process";
import { appendFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentsOf } from "../../src/config/skills/content-hash.ts";
import { rememberTrust } from "../../src/config/trust.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { sawtooth, type Workspace } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

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
  const lines = body.split("\\n").filter((line) => /^- (s\d\d|more)/.test(line));
  const whole = lines.filter((line) => line.includes("Long words."));
  expect(whole.length).toBeGreaterThan(2);
  expect(whole.length).toBeLessThan(50);
  expect(whole.join("").length / 4).toBeLessThan(0.02 * 1_000_000);
  expect(lines).toHaveLength(whole.length + 1);
  const named = /more, each a folder with a SKILL.md, in \S+: (.*)/.exec(lines.at(-1) ?? "")?.[1];
  expect(named?.split(", ")).toHaveLength(50 - whole.length);
});

test("a run without a person takes skills of the project only as a person has trusted them, to the byte", async () => {
  const { server, workspace } = await serve((_, index) =>
    index === 1 ? { calls: [{ str_replace_editor: { command: "view", path } }] } : { text: "done" },
  );
  execFileSync("git", ["init", "-q"], { cwd: workspace.cwd });
  const folder = join(workspace.cwd, ".claude/skills/signing");
  const path = join(folder, "SKILL.md");
  mkdirSync(join(folder, "scripts"), { recursive: true });
  writeFileSync(path, skill("signing"));
  writeFileSync(join(folder, "scripts/sign.sh"), "echo signed\n");
  put(workspace, "signing", skill("signing", "", "Mine."));
  const run = async () => {
    const ended = await sawtooth(workspace, ["-p", "go"]);
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stderr;
  };
  const listed = () => server.rawBodies.at(-1)?.includes(`(${path})`);
  expect(await run()).toContain("skills of the project are not taken: signing; /trust in the screen");
  expect([listed(), server.rawBodies[0]?.includes(".agents/skills/signing")]).toEqual([false, true]);
  const contents = contentsOf(folder);
  if (typeof contents === "string") throw new Error(contents);
  const state = join(workspace.home, "sawtooth/state");
  rememberTrust(join(state, "trusted.jsonl"), { hash: contents.hash, folder: path });
  expect(await run()).toContain("is not used: .claude/skills/signing has its name, and comes first");
  expect(listed()).toBe(true);
  const instructed = globSync("sessions/*/*/events.jsonl", { cwd: state })
    .flatMap((file) => readFileSync(join(state, file), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as LogEvent);
  expect(allOf(instructed, "tool_result").map(({ instructions }) => instructions)).toEqual([[path]]);
  appendFileSync(join(folder, "scripts/sign.sh"), " ");
  expect(await run()).toContain("skills of the project are not taken: signing");
  expect(listed()).toBe(false);
});
