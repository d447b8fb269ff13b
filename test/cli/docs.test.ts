/**
 * Every command that the README and docs/ show in a block of `sh` runs here, or stands below with the reason why not.
 */

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseCommand } from "../../src/cli/arguments/arguments.ts";
import { claudeCode } from "../lab/recordings/recordings.ts";
import { entry } from "../support/entry.ts";
import { driveProgram } from "../support/pty-drive.ts";
import { sawtooth, type Workspace } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { git } from "./fix/fix-workspace.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)]
  .filter((path) => path.endsWith(".md"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Why a line is not run here, by how it begins. */
const notRun: [beginning: string, why: string][] = [
  ["npm install", ".ci/run runs both commands of the README from a clean clone"],
  ["npm link", "it changes the machine that the tests run on"],
  ["sawtooth demo", "it takes twenty seconds: .ci/run runs it"],
  ["OPENAI_BASE_URL=http://localhost:11434", "there is no server on that port here"],
  ["sawtooth login", "test/cli/login.test.ts and chatgpt-plan.test.ts store keys and sign in"],
  ["sawtooth report --serve", "it ends with a session: test/cli/report-serve.test.ts runs it with one"],
  ["sawtooth update", "it asks a registry: test/cli/update.test.ts runs it with one of its own"],
  ["sawtooth logout", "test/cli/login.test.ts removes keys and signs out"],
  ["pass show", "pass holds secrets of the person at this machine"],
  ["sawtooth --model chatgpt/", "test/cli/chatgpt-plan.test.ts plays the issuer and the API of a plan"],
  ["export ", "the line that follows it is run, or says why not"],
  ['sawtooth -p "$(cat prompts/triage.md)"', "test/cli/fix/docs.test.ts records and plays a run"],
  ['echo "the text of an issue"', "test/cli/structured.test.ts runs it with an answer that fits"],
  ["sawtooth batch --summary", "test/cli/batch/examples.test.ts adds results up"],
  ["sawtooth batch tasks.jsonl --context", "test/cli/compare/compare.test.ts runs two contexts"],
  ["sawtooth batch compare", "test/cli/compare/compare.test.ts compares them"],
  ['cp -r "$(npm root', "npm run test:cluster runs it on a Slurm: it needs a global install"],
  ["sbatch slurm.sh", "npm run test:cluster submits it to a real Slurm"],
  ["squeue", "npm run test:cluster looks at a real Slurm"],
  ["gh ", "it needs an account at GitHub"],
  [
    "git add .github",
    "it pushes to GitHub: test/cli/batch/examples.test.ts runs the commands of the workflow",
  ],
  ["npm pack sawtooth", "it asks a registry"],
  ["docker build", "there is no engine of containers here"],
  ["kubectl", "there is no cluster here: test/cli/batch/examples.test.ts runs the commands of the Job"],
  ["cat results/part-", "test/cli/batch/examples.test.ts puts results together"],
  ["sh examples/batch/harbor", "it packs a Node of 46 MB"],
  ["harbor run", "Harbor needs containers: its adapter is run by test/cli/batch/examples.test.ts"],
];

/** The commands of a page: lines that end in a backslash are one with the next, remarks are left out. */
function commandsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, " ").split("\n"));
  return lines.map((line) => line.replace(/\s+# .*$/, "").trim()).filter(Boolean);
}

/** The words of the last `sawtooth` in a line. */
function wordsOf(line: string): string[] {
  const [, rest = ""] = /(?:^|[|&;]\s*|\s)sawtooth(\s[^|>]*|$)/.exec(line) ?? [];
  return (rest.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^["']|["']$/g, ""));
}

function isInteractive(line: string): boolean {
  if (!/(?:^|\s)sawtooth(?:\s|$)/.test(line)) return false;
  const command = parseCommand(wordsOf(line));
  return command.name === "run" && !command.flags.print && !line.includes("|");
}

/** A repository with a stored session that changed a file, and all else that the pages' commands name. */
async function prepareWorkspace(): Promise<Workspace> {
  const edit = { str_replace_editor: { command: "create", path: "src/new.js", file_text: "1\n" } };
  const { workspace } = await serve((_, index) =>
    index === 0 ? { calls: [edit] } : { text: "It computes the total of a cart." },
  );
  cpSync(join(root, "examples/fix-js"), workspace.cwd, { recursive: true });
  writeFileSync(join(workspace.cwd, "package.json"), JSON.stringify({ scripts: { test: "true" } }));
  writeFileSync(join(workspace.cwd, "src/money.js"), "export const cents = 100;\n");
  const task = { id: "a", prompt: "Explain it." };
  writeFileSync(join(workspace.cwd, "tasks.jsonl"), `${JSON.stringify(task)}\n`);
  const recordings = join(workspace.home, ".claude/projects/app");
  mkdirSync(recordings, { recursive: true });
  writeFileSync(join(recordings, "one.jsonl"), claudeCode());
  const programs = join(workspace.home, "bin");
  mkdirSync(programs);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`;
  writeFileSync(join(programs, "sawtooth"), program, { mode: 0o755 });
  workspace.env.PATH = `${programs}:${workspace.env.PATH}`;
  git(workspace.cwd, "init", "-q");
  git(workspace.cwd, "add", "-A");
  git(workspace.cwd, "commit", "-qm", "The start");
  writeFileSync(join(workspace.cwd, "src/money.js"), "export const cents = 10;\n");
  await sawtooth(workspace, ["-p", "Add a file.", "--permission-mode", "auto"]);
  return workspace;
}

function run(workspace: Workspace, line: string): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-ec", line], {
    cwd: workspace.cwd,
    env: workspace.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}

/** Starts the line in a terminal and waits for its input, its list of sessions, or its first plain row. */
async function open(workspace: Workspace, line: string): Promise<void> {
  const terminal = driveProgram("bash", ["-ec", line], workspace);
  onTestFinished(() => terminal.kill());
  await terminal.until(/^\s*›|type to search|help lists keys|sawtooth:/m);
  expect(terminal.screen().join("\n")).not.toContain("sawtooth:");
  terminal.kill();
  await terminal.ended;
}

describe("the commands of", () => {
  const withCommands = pages.filter(({ text }) => commandsOf(text).length > 0);
  test.for(withCommands)("$path run as they are shown", { timeout: 300_000 }, async ({ text }) => {
    const workspace = await prepareWorkspace();
    for (const line of commandsOf(text)) {
      if (notRun.some(([beginning]) => line.startsWith(beginning))) continue;
      if (isInteractive(line)) await open(workspace, line);
      else expect(await run(workspace, line), line).toMatchObject({ code: 0 });
    }
  });

  test("no page are excused without need", () => {
    const lines = pages.flatMap(({ text }) => commandsOf(text));
    for (const [beginning] of notRun)
      expect(
        lines.some((line) => line.startsWith(beginning)),
        beginning,
      ).toBe(true);
  });
});

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
}

test("every link of the pages leads to a file or a heading that is there", () => {
  for (const { path, text } of pages) {
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? join(root, path) : join(root, path, "..", file);
      expect(statSync(target, { throwIfNoEntry: false }), `${path}: ${link}`).toBeDefined();
      if (anchor) expect(anchorsOf(readFileSync(target, "utf8")), `${path}: ${link}`).toContain(anchor);
    }
  }
});

test("the index of docs/ names every page", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  for (const { path } of pages.filter(({ path }) => /^docs\/(?!README)/.test(path)))
    expect(index, path).toContain(`](${path.slice("docs/".length)})`);
});
