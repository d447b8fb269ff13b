/** `sawtooth mcp review`: shows a person what waits for them, and asks. */

import { type ListedServer, listedServers } from "../../app/mcp/listing.ts";
import { judgedServers, waitingServers } from "../../app/mcp/project-trust.ts";
import { type Decision, reviewServers } from "../../app/mcp/review.ts";
import { changedText, entryText } from "../../app/mcp/review-text.ts";
import { workspaceRoot } from "../../config/instructions.ts";
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

/**
 * Asks at the terminal about servers of the project, then about tools that changed. Without a terminal everything is
 * shown, and nothing decided. Returns the exit code; throws `UsageError`, `StartError` and `SettingsError`.
 */
export async function review({ operands: [stray], env, cwd, say }: Call): Promise<number> {
  if (stray !== undefined) throw new UsageError(`review takes no name; unexpected: ${stray}`);
  const place = { workspace: workspaceRoot(cwd), env };
  const judged = judgedServers(place.workspace, env);
  const { servers } = await listedServers({ env, cwd });
  const waiting = waitingServers(judged, new Set(servers.filter(isOwn).map(({ name }) => name)));
  const changed = servers.filter(({ seen }) => seen);
  for (const note of judged.notes) writeError(`sawtooth: ${note}\n`);
  if (waiting.length + changed.length === 0) {
    say("Nothing waits for you.\n");
    return 0;
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY || env.SAWTOOTH_SESSION) {
    for (const server of waiting) say(`${entryText(server, { file: judged.file, ...place })}\n`);
    for (const server of changed) say(`${await changedText(server)}\n`);
    throw new StartError("nothing is decided: a person answers at a terminal", blocked);
  }
  await reviewServers(judged, waiting, place, {
    show: (text) => say(`${text}\n`),
    decide: (name) =>
      answerTo(`Use ${name}? y: yes, until its entry changes; n: no, until it changes`, decisions),
    warn: (text) => writeError(`sawtooth: ${text}\n`),
  });
  for (const server of changed) {
    say(`${await changedText(server)}\n`);
    const answer = await answerTo(`Take the changed tools of ${server.name}? y: yes`, {
      y: "use",
      yes: "use",
      n: "later",
    });
    if (answer === undefined) break;
    if (answer === "use") server.accept?.();
  }
  return 0;
}

function isOwn({ from }: ListedServer): boolean {
  return from === "settings";
}

const decisions: Record<string, Decision> = { y: "use", yes: "use", n: "never", no: "never" };

/** Asks until the answer is one of `answers` or empty, which means later; undefined when the person leaves. */
async function answerTo(
  question: string,
  answers: Readonly<Record<string, Decision>>,
): Promise<Decision | undefined> {
  for (;;) {
    const line = await typedLine(`${question}; Enter: later: `, { shown: true });
    if (line === undefined) return undefined;
    const decision = line === "" ? "later" : answers[line.toLowerCase()];
    if (decision) return decision;
  }
}
