/** `sawtooth mcp review`: shows a person what waits for them, and asks. */

import { join } from "node:path";
import { judgedServers, waitingServers } from "../../app/mcp/project-trust.ts";
import { type Decision, reviewServers } from "../../app/mcp/review.ts";
import { entryText } from "../../app/mcp/review-text.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings } from "../../config/settings.ts";
import { StartError, UsageError } from "../../core/errors.ts";
import { writeError } from "../terminal-output.ts";
import { typedLine } from "../typed-line.ts";

type Call = {
  operands: readonly string[];
  env: Record<string, string | undefined>;
  cwd: string;
  say(text: string): void;
};

/** Exit code of a run that permissions stop. */
const blocked = 5;

/** Asks about each server at the terminal. Without one everything is shown, and nothing decided. */
export async function review({ operands: [stray], env, cwd, say }: Call): Promise<number> {
  if (stray !== undefined) throw new UsageError(`review takes no name; unexpected: ${stray}`);
  const workspace = workspaceRoot(cwd);
  const judged = judgedServers(workspace, env);
  const { mcpServers = {} } = readSettings(join(folders(env).config, "settings.json"));
  const waiting = waitingServers(judged, new Set(Object.keys(mcpServers)));
  for (const note of judged.notes) writeError(`sawtooth: ${note}\n`);
  if (waiting.length === 0) {
    say("Nothing waits for you.\n");
    return 0;
  }
  const isHere = process.stdin.isTTY && process.stdout.isTTY && !env.SAWTOOTH_SESSION;
  if (!isHere) {
    for (const server of waiting) say(`${entryText(server, { file: judged.file, workspace, env })}\n`);
    throw new StartError("nothing is decided: a person answers at a terminal", blocked);
  }
  await reviewServers(
    judged,
    waiting,
    { workspace, env },
    {
      show: (text) => say(`${text}\n`),
      decide,
      warn: (text) => writeError(`sawtooth: ${text}\n`),
    },
  );
  return 0;
}

const answers: Record<string, Decision> = { y: "use", yes: "use", n: "never", no: "never", "": "later" };

async function decide(name: string): Promise<Decision | undefined> {
  for (;;) {
    const line = await typedLine(
      `Use ${name}? y: yes, until its entry changes; n: no, until it changes; Enter: later: `,
      { shown: true },
    );
    if (line === undefined) return undefined;
    const decision = answers[line.toLowerCase()];
    if (decision) return decision;
  }
}
