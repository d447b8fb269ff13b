/** Sub-agents in the tests of the program: scripts for both models, and what their sessions left. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LogEvent } from "../../src/core/events.ts";
import { spending } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import type { Workspace } from "../support/sawtooth.ts";

export const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];
export const offered = [...auto, "--allow", "delegate"];
export const delegate = (brief: string) => ({ delegate: { brief, want: "the answer" } });
export const report = (learned: string): ScriptedReply => ({
  calls: [{ report_back: { attempted: "looked", learned, outcome: "found" } }],
});

/** Returns the brief that a request is about; undefined for the session that delegates. */
export function briefOf({ system, messages }: WireBody): string | undefined {
  if (!JSON.stringify(system).includes("You are a sub-agent")) return undefined;
  return /brief \w+/.exec(JSON.stringify(messages))?.[0];
}

/** Number of replies that the request has behind it. */
const repliesIn = ({ messages }: WireBody) => messages.filter(({ role }) => role === "assistant").length;

type Parts = { parent: ScriptedReply[]; child(brief: string, step: number): ScriptedReply };

/** Plays the parent by a list, and each sub-agent by its brief and step. */
export const turnsOf =
  ({ parent, child }: Parts) =>
  (body: WireBody): ScriptedReply => {
    const brief = briefOf(body);
    return (
      (brief === undefined ? parent[repliesIn(body)] : child(brief, repliesIn(body))) ?? { text: "done" }
    );
  };

/** Folders of the stored sessions, and of the sub-agents of each. */
function foldersIn(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((slug) => readdirSync(join(root, slug)).map((id) => join(root, slug, id)));
}

/** Lists one session, any of those that began in the same second, and the sub-agents of all. */
export function sessionsOf({ home }: Workspace): { parent: string; children: string[] } {
  const parents = foldersIn(join(home, "sawtooth", "state", "sessions"));
  return { parent: parents[0] ?? "", children: parents.flatMap((one) => foldersIn(join(one, "delegates"))) };
}

export function logOf(folder: string): LogEvent[] {
  const lines = readFileSync(join(folder, "events.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

export const costIn = (folder: string) => spending(logOf(folder)).cost;

/** The result of the call of the parent with this place, as its model read it. */
export function results({ requests }: MockServer): string[] {
  const last = requests.findLast((body) => briefOf(body) === undefined);
  return (last?.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content)
      ? content.flatMap((block) => (block.type === "tool_result" ? [String(block.content)] : []))
      : [],
  );
}
