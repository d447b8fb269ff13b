/** The facts before the first user message: the folder, the date, and the project's instructions. */

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { folders } from "../../config/folders.ts";
import { projectInstructions, workspaceRoot } from "../../config/instructions.ts";
import { knowledgeHead } from "../../context/policies/focus.ts";
import { stackNamed } from "../../context/policies/stacks.ts";
import type { TextBlock } from "../../core/blocks.ts";
import { withheldNames } from "../../core/secrets/secrets.ts";
import { enclosed, withInstructionTags } from "../../core/text/tags.ts";
import { readUntrusted } from "../../disk/untrusted-file.ts";
import type { OpenOptions } from "../session.ts";

type Facts = {
  cwd: string;
  workspace: string;
  /** Milliseconds since 1970. */
  now: number;
  instructions: readonly { path: string; text: string }[];
  /** Names of the variables that commands do not get. */
  withheld: readonly string[];
};

/** Above this many names the rest is only counted. */
const mostNames = 40;

/**
 * Returns the facts. They are not part of the system prompt, whose bytes are the same for every folder and every day.
 */
function environmentPreamble({ cwd, workspace, now, instructions, withheld }: Facts): TextBlock[] {
  const branch = gitBranch(workspace);
  const lines = [
    `Working folder: ${cwd}`,
    branch === undefined ? "Not a git repository." : `Git repository: ${workspace} (${branch})`,
    `Platform: ${process.platform}`,
    `Date: ${new Date(now).toISOString().slice(0, 10)}`,
    ...(withheld.length > 0 ? [`Secrets that commands do not get: ${namesOf(withheld)}`] : []),
  ];
  const environment = enclosed("environment", lines.join("\n"));
  const projects = instructions.map(withInstructionTags);
  return [environment, ...projects].map((text) => ({ type: "text", text }));
}

/** Lists the names, so that nobody has to guess why a variable is not set. */
function namesOf(names: readonly string[]): string {
  const rest = names.length - mostNames;
  const shown = names.slice(0, mostNames).map((name) => name.replace(/[^\w.-]/g, "?"));
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/**
 * Returns the branch that `HEAD` in the repository's data names, without git: a repository's configuration could run
 * programs. In a linked worktree, `.git` is a file that names the folder of the data.
 */
export function gitBranch(workspace: string): string | undefined {
  const git = join(workspace, ".git");
  const named = /^gitdir: (.+?)\s*$/.exec(readUntrusted(git) ?? "")?.[1] ?? git;
  const head = readUntrusted(join(resolve(workspace, named), "HEAD"))?.trim();
  if (head === undefined) return undefined;
  // Git allows no blank and no control character in a name; a command can write any.
  const name = /^ref: refs\/heads\/([^\s\p{C}]{1,250})$/u.exec(head)?.[1];
  return name === undefined ? "detached HEAD" : `branch ${name}`;
}

/** Returns the date. Milliseconds since 1970; SOURCE_DATE_EPOCH (seconds) replaces the clock for reproducible runs. */
function today({ SOURCE_DATE_EPOCH: seconds }: Record<string, string | undefined>): number {
  return seconds && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : Date.now();
}

/**
 * Returns the facts before the first user message; `knowledge` as in the event. `servers`: a line for each that is
 * configured. `skills`: their list.
 */
export function preambleOf(
  cwd: string,
  { flags, env, warn }: OpenOptions,
  context: string,
  { servers, skills }: { servers: readonly string[] | undefined; skills: string | undefined },
): { preamble: TextBlock[]; knowledge?: number } {
  const workspace = workspaceRoot(cwd);
  const home = env.HOME ?? homedir();
  const found = flags.bare
    ? { files: [], warnings: [] }
    : projectInstructions({ cwd, workspace, home, configFolder: folders(env).config });
  for (const warning of found.warnings) warn(warning);
  const instructions = found.files;
  const withheld = withheldNames(env);
  const facts = environmentPreamble({ cwd, workspace, now: today(env), instructions, withheld });
  if (servers) facts.push({ type: "text", text: enclosed("mcp_servers", servers.join("\n")) });
  if (skills) facts.push({ type: "text", text: skills });
  if (!stackNamed(context).knowledgeFirst) return { preamble: facts };
  return { preamble: [...facts, { type: "text", text: knowledgeHead }], knowledge: facts.length };
}
