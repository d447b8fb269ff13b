/**
 * Derives facts about a tool call from its input alone: its title for people, and what it touches. Reports, handoffs
 * and reminders need them without the tool, so those of Sawtooth's own tools are here; a tool object refers
 * to its entry. A tool that is not listed records the facts of each call with the result. Pure.
 */

type Input = Record<string, unknown>;
type Call = { name: string; input: unknown };

/** A call in a few words: `edit src/a.ts`. `subject` may have several lines. */
export type CallTitle = { verb: string; subject: string };

/** The effect of a call on the outside, and the paths in its input as written. */
export type Touches = { kind: "reads" | "writes" | "runs" | "session"; paths: string[] };

/** The facts as they are recorded in the log. */
export type CallFacts = CallTitle & Touches;

/** The part of a tool that describes its calls. Both accept any input, even one that violates the schema. */
export type CallReader = { describe(input: Input): CallTitle; touches(input: Input): Touches };

export const bashCalls: CallReader = {
  describe: (input) => ({
    verb: "bash",
    subject:
      text(input, "command") || (input.stdin === undefined ? "restart" : `answer ${text(input, "stdin")}`),
  }),
  touches: () => ({ kind: "runs", paths: [] }),
};

export const editorCalls: CallReader = {
  describe(input) {
    const command = text(input, "command");
    const range = Array.isArray(input.view_range) ? `:${input.view_range.join("–")}` : "";
    return { verb: command === "str_replace" ? "edit" : command, subject: text(input, "path") + range };
  },
  touches(input) {
    const path = text(input, "path");
    return { kind: input.command === "view" ? "reads" : "writes", paths: path === "" ? [] : [path] };
  },
};

export const todoCalls: CallReader = {
  describe: ({ items }) => {
    const count = Array.isArray(items) ? items.length : undefined;
    return { verb: "todo", subject: count === undefined ? "" : `${count} ${count === 1 ? "task" : "tasks"}` };
  },
  touches: () => ({ kind: "session", paths: [] }),
};

export const fetchCalls: CallReader = {
  describe: (input) => ({ verb: "fetch", subject: text(input, "url") }),
  touches: () => ({ kind: "reads", paths: [] }),
};

export const startFocusCalls: CallReader = {
  describe: (input) => ({ verb: "focus", subject: text(input, "objective") }),
  touches: () => ({ kind: "session", paths: [] }),
};

export const completeFocusCalls: CallReader = {
  describe: (input) => ({ verb: "focus done", subject: text(input, "outcome") }),
  touches: () => ({ kind: "session", paths: [] }),
};

export const mcpCalls: CallReader = {
  describe: (input) => ({
    ...{ verb: "mcp", subject: `${text(input, "server")}/${text(input, "tool") || text(input, "resource")}` },
  }),
  touches: () => ({ kind: "runs", paths: [] }),
};

export const delegateCalls: CallReader = {
  describe: (input) => {
    const role = text(input, "role");
    return { verb: "delegate", subject: `${role === "" ? "" : `${role}: `}${text(input, "brief")}` };
  },
  touches: () => ({ kind: "runs", paths: [] }),
};

export const reportBackCalls: CallReader = {
  describe: (input) => ({ verb: "report", subject: text(input, "outcome") }),
  touches: () => ({ kind: "session", paths: [] }),
};

/** The names of Sawtooth's own tools, as the model and the log know them. */
export const toolNames = {
  bash: "bash",
  editor: "str_replace_editor",
  todo: "todo",
  startFocus: "start_focus",
  completeFocus: "complete_focus",
  fetch: "fetch",
  mcp: "mcp",
  delegate: "delegate",
  reportBack: "report_back",
} as const;

const known = new Map<string, CallReader>([
  [toolNames.bash, bashCalls],
  [toolNames.editor, editorCalls],
  [toolNames.todo, todoCalls],
  [toolNames.startFocus, startFocusCalls],
  [toolNames.completeFocus, completeFocusCalls],
  [toolNames.fetch, fetchCalls],
  [toolNames.mcp, mcpCalls],
  [toolNames.delegate, delegateCalls],
  [toolNames.reportBack, reportBackCalls],
]);

/** Returns true for a tool whose calls are described from the log alone. */
export function isKnownTool(name: string): boolean {
  return known.has(name);
}

/** Returns the title of a call. `recorded`: facts recorded with its result, if any. */
export function describeCall({ name, input }: Call, recorded?: CallFacts): CallTitle {
  if (recorded) return { verb: recorded.verb, subject: recorded.subject };
  const reader = known.get(name);
  const fields = fieldsOf(input);
  return reader ? reader.describe(fields) : { verb: name, subject: JSON.stringify(fields) };
}

/** Returns what a call touches; an unknown tool is assumed to run something. */
export function touchesOf({ name, input }: Call, recorded?: CallFacts): Touches {
  if (recorded) return { kind: recorded.kind, paths: recorded.paths };
  return known.get(name)?.touches(fieldsOf(input)) ?? { kind: "runs", paths: [] };
}

/** Formats a call for the model in one line: `bash: npm test`. `longest`: most characters of the subject. */
export function callLine({ name, input }: Call, longest: number): string {
  const fields = fieldsOf(input);
  const subject = [text(fields, "command"), text(fields, "path")].filter(Boolean).join(" ");
  const line = (subject || JSON.stringify(fields)).trim().split("\n")[0] ?? "";
  return `${name}: ${line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line}`;
}

function fieldsOf(input: unknown): Input {
  return typeof input === "object" && input !== null ? (input as Input) : {};
}

function text(input: Input, key: string): string {
  const value = input[key];
  return typeof value === "string" ? value : "";
}
