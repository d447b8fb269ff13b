/** Asks a person about the servers of a project's `.mcp.json`, one after the other. */

import { decideServer, type JudgedServers } from "./project-trust.ts";
import { entryText } from "./review-text.ts";

/** An answer about a server: used from now on, not asked about again until its entry changes, or asked again later. */
export type Decision = "use" | "never" | "later";

export type Reviewer = {
  /** Shows a text in full, however long. */
  show(text: string): void | Promise<void>;
  /** Returns the answer; undefined when the person leaves the questions. */
  decide(name: string): Promise<Decision | undefined>;
  /** Says one line. */
  warn(text: string): void;
};

type Place = { workspace: string; env: Readonly<Record<string, string | undefined>> };

/** Shows each server that waits and records what the person decides. Returns the names of those that are used now. */
export async function reviewServers(
  judged: JudgedServers,
  waiting: JudgedServers["servers"],
  { workspace, env }: Place,
  reviewer: Reviewer,
): Promise<string[]> {
  const used: string[] = [];
  for (const server of waiting) {
    await reviewer.show(entryText(server, { file: judged.file, workspace, env }));
    const decision = await reviewer.decide(server.name);
    if (decision === undefined) break;
    if (decision === "later") continue;
    try {
      decideServer(server, judged.file, decision === "use", env);
      if (decision === "use") used.push(server.name);
    } catch (error) {
      reviewer.warn((error as Error).message);
    }
  }
  return used;
}
