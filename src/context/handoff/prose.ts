/** Judges a model's prose for a handoff: repaired where possible, else rejected (context-engine §8). Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { textTokens } from "../view/tokens.ts";

type Content = EventOf<"assistant_message">["content"];

/** `corrections`: what was changed in the prose, in words. */
export type Verdict = { prose: string; corrections?: string } | { rejected: string };

type HandoffInputs = {
  /** Tokens of what the prose stands for. */
  replaced: number;
  events: readonly LogEvent[];
  /** The question that was asked: a path that it names, the answer may name. */
  question?: string;
  /** Returns true when there is a file or folder with this absolute path. */
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

/** The words of a reply, without its thinking. */
export function proseOf(content: Content): string {
  return content
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n")
    .trim();
}

/** Up to the last empty line; of one paragraph, up to the last line break. */
function wholeParagraphs(cut: string): string {
  const last = [...cut.matchAll(/\n[ \t]*\n/g)].at(-1)?.index ?? cut.lastIndexOf("\n");
  return cut.slice(0, Math.max(0, last)).trim();
}

const absolutePath = /(?<![\w./~-])\/[\w.@-]+(?:\/[\w.@-]+)+/g;

/** Lines that name an absolute path which stands nowhere in the log and is not on the disk are struck, and that is said. */
function withoutUnknownPaths(
  prose: string,
  { events, question = "", exists }: HandoffInputs,
): { prose: string; paths: string[]; struck: number } {
  const named = new Set((prose.match(absolutePath) ?? []).map((path) => path.replace(/[.,]+$/, "")));
  if (named.size === 0) return { prose, paths: [], struck: 0 };
  const missing = [...named].filter((path) => !exists(path));
  if (missing.length === 0) return { prose, paths: [], struck: 0 };
  // What is said of earlier prose proves nothing.
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
