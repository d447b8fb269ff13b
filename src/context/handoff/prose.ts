/** Checks a model's prose for a handoff: repairs it where possible, else rejects it (context-engine §8). Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { textTokens } from "../view/tokens.ts";

type Content = EventOf<"assistant_message">["content"];

/** `corrections`: describes the changes to the prose. */
export type Verdict = { prose: string; corrections?: string } | { rejected: string };

type HandoffInputs = {
  /** Tokens that the prose replaces. */
  replaced: number;
  events: readonly LogEvent[];
  /** The question asked: paths in it may appear in the answer. */
  question?: string;
  /** Returns true when a file or folder has this absolute path. */
  exists(path: string): boolean;
};

export function judgeProse(
  { content, stopReason }: { content: Content; stopReason: string },
  inputs: HandoffInputs,
): Verdict {
  const whole = proseOf(content);
  if (content.some(isToolUse)) return { rejected: "it called a tool" };
  if (stopReason === "refusal") return { rejected: "the model refused" };
  if (whole === "") return { rejected: "it was empty" };
  const cut = ["max_tokens", "model_context_window_exceeded"].includes(stopReason);
  const complete = cut ? wholeParagraphs(whole) : whole;
  if (complete === "") return { rejected: "it was cut off by its length before a paragraph was whole" };
  const { prose, paths, struck } = withoutUnknownPaths(complete, inputs);
  const named = `that named paths which never existed: ${paths.slice(0, 3).join(", ")}`;
  if (struck > 0 && prose === "") return { rejected: `it has only lines ${named}` };
  if (textTokens(prose) > 0.75 * inputs.replaced)
    return { rejected: "it was not at least a quarter shorter than what it replaces" };
  const corrections = [
    cut ? "cut off by its length, so it ends with its last whole paragraph" : "",
    struck > 0 ? `without ${struck === 1 ? "a line" : `${struck} lines`} ${named}` : "",
  ].filter(Boolean);
  return { prose, ...(corrections.length > 0 ? { corrections: corrections.join("; ") } : {}) };
}

/** Returns the text of a reply, without its thinking. */
export function proseOf(content: Content): string {
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** Cuts text at the last empty line; a single paragraph at its last line break. */
function wholeParagraphs(cut: string): string {
  const last = [...cut.matchAll(/\n[ \t]*\n/g)].at(-1)?.index ?? cut.lastIndexOf("\n");
  return cut.slice(0, Math.max(0, last)).trim();
}

const absolutePath = /(?<![\w./~-])\/[\w.@-]+(?:\/[\w.@-]+)+/g;

/** Removes lines with an absolute path that is neither in the log nor on disk, and notes the removal. */
function withoutUnknownPaths(
  prose: string,
  { events, question = "", exists }: HandoffInputs,
): { prose: string; paths: string[]; struck: number } {
  const named = new Set((prose.match(absolutePath) ?? []).map((path) => path.replace(/[.,]+$/, "")));
  if (named.size === 0) return { prose, paths: [], struck: 0 };
  const missing = [...named].filter((path) => !exists(path));
  if (missing.length === 0) return { prose, paths: [], struck: 0 };
  // Earlier prose is no evidence.
  const proof = events.filter(({ type }) => type !== "summary_call" && type !== "warning");
  const known = [question, ...proof.map((event) => JSON.stringify(event))].join("\n");
  const unknown = missing.filter((path) => !known.includes(path));
  const isTrue = (line: string) =>
    !(line.match(absolutePath) ?? []).some((path) => unknown.includes(path.replace(/[.,]+$/, "")));
  const lines = prose.split("\n");
  const trueLines = lines.filter(isTrue);
  const struck = lines.length - trueLines.length;
  if (trueLines.every((line) => line.trim() === "")) return { prose: "", paths: unknown, struck };
  const note = struck > 0 ? `\n[${struck} of its lines named paths that never existed and were struck.]` : "";
  return { prose: `${trueLines.join("\n").trim()}${note}`, paths: unknown, struck };
}
