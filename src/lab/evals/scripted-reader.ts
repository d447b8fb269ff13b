/**
 * The scripted model of the evals: its next action is a function of the request alone. It does what the newest result
 * says, and answers from what it sees; what the request no longer holds or points at, it cannot know. Pure.
 */

import { toolNames } from "../../core/tool-calls.ts";

type SeenBlock = {
  type: string;
  id?: string;
  text?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: string | SeenBlock[];
};
export type SeenMessage = { role: string; content: SeenBlock[] };
type Call = { name: string; input: Record<string, string> };

/** The content that can be seen in a request. */
export type ReaderState = {
  /** All of it, in order. */
  text: string;
  /** The newest results and words. */
  newest: string;
  /** The call that they answer. */
  call: Call | undefined;
  /** Returns the result of the first call of this command. */
  resultOf(command: string): string | undefined;
};

/** A reply, as a script of `models/script.ts` has it. */
export type Action = { thinking?: string; text?: string; calls?: Record<string, Record<string, unknown>>[] };

/** `answer`: what to do when the results no longer say what to do next. */
export function nextAction(messages: readonly SeenMessage[], answer: (seen: ReaderState) => Action): Action {
  const seen = look(messages);
  // The worst handoff there is: it omits everything and is wrong about what it names.
  if (seen.newest.includes("write a handoff for yourself")) return { text: "Next steps: item 2 is open." };
  const action = ordered(seen) ?? answer(seen);
  return {
    thinking: `I read ${seen.newest.length} characters.`,
    ...(action.text ? {} : { text: talk }),
    ...action,
  };
}

/**
 * It talks so much that masking alone cannot keep a session small: a summary is forced under every stack that has one.
 */
const talk = "Nothing in it looks like it could matter, so I go on as I was told to. ".repeat(30).trim();

function look(messages: readonly SeenMessage[]): ReaderState {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const blocks = messages.flatMap(({ content }) => content);
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const call = messages[last]?.content.findLast(({ type }) => type === "tool_use");
  return {
    text: blocks.map(textOf).join("\n"),
    newest: messages
      .slice(last + 1)
      .flatMap(({ content }) => content.map(textOf))
      .join("\n"),
    call: call && { name: call.name ?? "", input: (call.input ?? {}) as Record<string, string> },
    resultOf(command) {
      const ran = calls.find(({ input }) => (input as { command?: string } | undefined)?.command === command);
      const result = ran && blocks.find(({ tool_use_id }) => tool_use_id === ran.id);
      return result && textOf(result);
    },
  };
}

function textOf(block: SeenBlock): string {
  if (block.type === "tool_use") return JSON.stringify(block.input);
  if (typeof block.content === "string") return block.content;
  return block.content?.map(textOf).join("\n") ?? block.text ?? "";
}

/** Obeys the last order among the newest results; undefined when there is none, or when it is a question. */
function ordered({ newest, call, text }: ReaderState): Action | undefined {
  const opened = /Focus opened: (sh .+)$/m.exec(newest)?.[1];
  if (opened) return run(opened);
  const learned = call?.name === toolNames.completeFocus ? call.input.outcome : lastOutcome(text);
  const closed = newest.includes("Focus closed") ? learned : "";
  const order = [...`${newest}\n${closed}`.matchAll(/NEXT: (.+)$/gm)].at(-1)?.[1] ?? "";
  // Where the window is full, a result may not show its last line whole.
  const cut = /whole output: (\S+?)\]/.exec(newest)?.[1];
  const [, then = ""] = /(?:then )?(sh \w+\.sh .+)$/.exec(order) ?? [];
  if (order === "rest") return { text: "resting" };
  if (order.startsWith("QUESTION") || (order === "" && !cut)) return undefined;
  if (order.startsWith("start_focus")) return { calls: [{ start_focus: { objective: then } }] };
  if (order.startsWith("complete_focus")) {
    const parts = [...new Set(text.match(/part \w+ finished/g))].join(", ") || "nothing of note";
    return {
      calls: [{ complete_focus: { attempted: "the notes", learned: parts, outcome: `NEXT: ${then}` } }],
    };
  }
  if (then === "" && cut) return run(`tail -n 1 ${cut}`);
  const items = [...order.matchAll(/(part \w+) \[(open|done)\]/g)].map(([, name, status]) => ({
    text: name,
    status,
  }));
  return items.length > 0 ? { calls: [{ todo: { items } }, ...(run(then).calls ?? [])] } : run(then);
}

/** Where a fold put its knowledge at the top, its result does not say what comes next. */
function lastOutcome(text: string): string {
  return [...text.matchAll(/^Outcome: (.+)$/gm)].at(-1)?.[1] ?? "";
}

export function run(command: string): Action {
  return { calls: [{ bash: { command } }] };
}
