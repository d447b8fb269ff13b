/** Small repositories for `sawtooth fix`, made anew for each test. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { bash, type Served, serve } from "../../support/served.ts";

const examples = fileURLToPath(new URL("../../../examples", import.meta.url));

/** Runs git in a folder and returns what it prints. */
export function git(cwd: string, ...words: string[]): string {
  const who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...who, ...words], {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A fresh copy of `examples/<name>`, committed; its script plays the model. */
export function exampleWorkspace(name: string): Workspace & { model: string } {
  const workspace = makeWorkspace();
  cpSync(join(examples, name), workspace.cwd, { recursive: true });
  begin(workspace.cwd);
  return { ...workspace, model: `scripted/${join(examples, `${name}.script.yaml`)}` };
}

/** A workspace with these files, committed unless `plain`. `url`: where the strict server listens. */
export function filesWorkspace(
  files: Record<string, string>,
  options: { url?: string; plain?: boolean } = {},
): Workspace {
  const workspace = makeWorkspace(options.url);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace.cwd, path)), { recursive: true });
    writeFileSync(join(workspace.cwd, path), text);
  }
  if (!options.plain) begin(workspace.cwd);
  return workspace;
}

function begin(cwd: string): void {
  git(cwd, "init", "--quiet");
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "-m", "start");
}

/** A project whose check is a shell script that wants `good` in value.txt. */
export const small = {
  "value.txt": "bad\n",
  "test/value.sh":
    '# the value\n[ "$(cat value.txt)" = good ] || { echo "value is $(cat value.txt)"; exit 1; }\n',
};
export const smallCheck = "sh test/value.sh";

export type FixResult = {
  subtype: string;
  is_error: boolean;
  errors: string[];
  num_turns: number;
  session_id: string | null;
  fix: {
    state: string;
    checks: { command: string; flaky: boolean; before: unknown[]; after: unknown[] }[];
    attempts: {
      number: number;
      passed: boolean;
      changed: string[];
      refused: { rule: string; path?: string }[];
    }[];
    changed: string[];
    patch: string | null;
    commit: string | null;
    branch: string | null;
    best_attempt: { file: string; attempt: number } | null;
  };
};

/** Runs `fix` with the result as JSON. */
export async function fix(workspace: Workspace, words: string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await sawtooth(workspace, ["fix", ...words, "--output-format", "json"], {
    env,
  });
  if (stdout === "") throw new Error(`no result; exit ${code}: ${stderr}`);
  return { code, stderr, result: JSON.parse(stdout) as FixResult };
}

export function read(workspace: Workspace, path: string): string {
  return readFileSync(join(workspace.cwd, path), "utf8");
}

/** The turns that repair the small project. */
export const repairing: ScriptedReply[] = [
  { calls: [bash("echo good > value.txt")] },
  { text: "I wrote good into value.txt." },
];

/** A small project under the strict server, whose model says `turns`; gone after the test. */
export function setUp(
  turns: ScriptedReply[],
  options: { files?: Record<string, string>; plain?: boolean } = {},
): Promise<Served> {
  const { files = small, plain = false } = options;
  return serve(turns, {}, (url) => filesWorkspace(files, { url, plain }));
}
