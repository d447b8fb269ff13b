/** Scripts: replies of a model written down by a person, for tests and for the demo. */

import type { AssistantBlock, FoundPage, WebSearchResultBlock } from "../../core/blocks.ts";
import type { Prices } from "../../core/model-card.ts";
import { ModelError } from "../../core/ports.ts";
import type { JsonSchema } from "../../core/request.ts";
import { closedObject, violations } from "../../core/schema.ts";
import { searchesIn } from "../../core/text/search-text.ts";
import { priceFields } from "../cards.ts";

/** One reply. Texts and inputs may hold `{{cwd}}` and captures of `expect`: `{{1}}`, `{{2}}` … */
export type ScriptedReply = {
  /** Each must match the newest results or the user's newest words. Strings are patterns with the flag `m`. */
  expect?: string | RegExp | (string | RegExp)[];
  thinking?: string;
  redacted_thinking?: string;
  text?: string;
  /** Searches of the provider's server, before the text; `waits`: its result comes with the next reply. */
  searches?: ScriptedSearch[];
  /** A text that goes on behind `text` and cites the first page found. */
  cited?: string;
  /** Each call is `{name: input}`. */
  calls?: Record<string, Record<string, unknown>>[];
  /** Stop reason; `tool_use` with calls and `end_turn` without them unless told. */
  stop?: string;
  /** Token counts to report in place of the simulated ones; those left out are 0. */
  usage?: { input?: number; cache_read?: number; cache_write?: number; output?: number };
  /** How many times this turn is played. */
  repeat?: number;
  /** Only the strict server has faults; the scripted model replies without. */
  fault?: Fault;
};

export type ScriptedSearch = {
  query: string;
  /** Addresses of the pages that are found. */
  found?: string[];
  /** Why nothing is found, as a code of the API. */
  error?: string;
  waits?: boolean;
};

/** A fault on the way of a reply. Events count from `message_start`; pings do not count. */
export type Fault = {
  /** An answer of its own, before the turn is even played. */
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** The connection is cut without a byte of an answer. */
  dropConnection?: boolean;
  closeAfterEvents?: number;
  /** From there on the socket stays open and carries only pings. */
  silentAfterEvents?: number;
  /** The last call's input breaks off, stop reason `max_tokens`. */
  cutToolJson?: boolean;
  noMessageStop?: boolean;
  errorEventAfter?: number;
  /** Type of that error event; `overloaded_error` unless told. */
  type?: string;
  delayMs?: number;
  /** Wait after each event. */
  pauseMs?: number;
};

/** The model as a script describes it; the rest of the card is `scriptedCard`'s. */
export type ScriptModel = {
  window?: number;
  maxOutput?: number;
  history?: "free" | "prefix_bound";
  thinking?: "adaptive" | "none";
  minTokens?: number;
  prices?: Partial<Prices>;
};

export type Script = { file: string; model?: ScriptModel; turns: ScriptedReply[] };

/** Turns in the order of sending, or a function from the request and its index (from 0). */
export type Turns<Request> = readonly ScriptedReply[] | ((request: Request, index: number) => ScriptedReply);

const count: JsonSchema = { type: "integer", minimum: 0 };
const text: JsonSchema = { type: "string" };
const flag: JsonSchema = { type: "boolean" };

const modelSchema: JsonSchema = closedObject({
  window: { type: "integer", minimum: 1 },
  maxOutput: { type: "integer", minimum: 1 },
  history: { enum: ["free", "prefix_bound"] },
  thinking: { enum: ["adaptive", "none"] },
  minTokens: count,
  prices: closedObject(priceFields),
});

const turnSchema: JsonSchema = closedObject({
  expect: { type: "array", items: text },
  thinking: text,
  redacted_thinking: text,
  text,
  searches: {
    type: "array",
    items: closedObject({ query: text, found: { type: "array", items: text }, error: text, waits: flag }, [
      "query",
    ]),
  },
  cited: text,
  calls: { type: "array", items: { type: "object", additionalProperties: { type: "object" } } },
  stop: text,
  usage: closedObject({ input: count, cache_read: count, cache_write: count, output: count }),
  repeat: { type: "integer", minimum: 1 },
  fault: closedObject({
    status: { type: "integer", minimum: 400, maximum: 599 },
    headers: { type: "object", additionalProperties: text },
    body: {},
    dropConnection: flag,
    closeAfterEvents: count,
    silentAfterEvents: count,
    cutToolJson: flag,
    noMessageStop: flag,
    errorEventAfter: count,
    type: text,
    delayMs: count,
    pauseMs: count,
  }),
});

/** Reads a script in YAML or JSON. Throws `ModelError` "script": one line with the file, the turn and what is wrong. */
export async function parseScript(source: string, file: string): Promise<Script> {
  const wrong = (what: string) => new ModelError("script", `${file}: ${what}`);
  const { parse } = (await import("yaml")).default;
  let document: unknown;
  try {
    document = parse(source);
  } catch (error) {
    // The parser's message goes on with an excerpt; its first line says what and where.
    throw wrong(String((error as Error).message.split("\n")[0]).replace(/:$/, ""));
  }
  const shape = closedObject({ model: modelSchema, turns: { type: "array" } });
  const [problem] = violations({ ...shape, required: ["turns"] }, document, "the script");
  if (problem) throw wrong(problem);
  const { model, turns } = document as { model?: ScriptModel; turns: unknown[] };
  if (turns.length === 0) throw wrong("turns is empty");
  for (const [index, turn] of turns.entries()) {
    const found = turnProblem(turn, `turn ${index + 1}`);
    if (found) throw wrong(found);
  }
  return { file, turns: turns as ScriptedReply[], ...(model ? { model } : {}) };
}

function turnProblem(turn: unknown, name: string): string | undefined {
  if (typeof turn !== "object" || turn === null) return `${name} must be a map of text, calls …`;
  const { expect } = turn as { expect?: unknown };
  const listed = typeof expect === "string" ? { ...turn, expect: [expect] } : turn;
  const [problem] = violations(turnSchema, listed, name);
  if (problem) return problem;
  const { calls = [], ...rest } = listed as Omit<ScriptedReply, "expect"> & { expect?: string[] };
  const odd = calls.find((call) => Object.keys(call).length !== 1);
  if (odd) return `${name}: a call is one tool's name with its input, not ${JSON.stringify(odd)}`;
  const says = ["thinking", "redacted_thinking", "text", "searches", "stop", "fault"].some(
    (key) => key in rest,
  );
  if (!says && calls.length === 0) return `${name} has neither text nor calls`;
  return rest.expect?.map((pattern) => patternProblem(pattern, name)).find(Boolean);
}

function patternProblem(pattern: string, name: string): string | undefined {
  try {
    new RegExp(pattern, "m");
    return undefined;
  } catch (error) {
    return `${name}: ${(error as Error).message}`;
  }
}

/** The turn for the reply with this index, and its number in the script (from 1). Throws `ModelError` "script". */
export function replyAt<Request>(
  turns: Turns<Request>,
  request: Request,
  index: number,
): { turn: ScriptedReply; number: number } {
  if (typeof turns === "function") return { turn: turns(request, index), number: index + 1 };
  let played = 0;
  for (const [at, turn] of turns.entries()) {
    played += turn.repeat ?? 1;
    if (index < played) return { turn, number: at + 1 };
  }
  const replies = played === 1 ? "1 reply" : `${played} replies`;
  throw new ModelError("script", `the script ends after ${replies}, and one more was asked for`);
}

/** The state in which a scripted reply is played. */
export type ReplyContext = {
  number: number;
  /** Start of the ids of its calls. */
  idBase: string;
  /** The newest input of the model, and who sent it: for `expect`. */
  newest: { text: string; from: string };
  cwd: string;
  /** Signs a thinking text; without it thinking is left out. */
  sign?: ((thinking: string) => string) | undefined;
  /** Seals a page that a search found; without it nothing is sealed. */
  seal?: ((page: string) => string) | undefined;
};

/** The blocks of a reply, placeholders filled. Throws `ModelError` "script" when an expectation is not met. */
export function playReply(
  turn: ScriptedReply,
  context: ReplyContext,
): { content: AssistantBlock[]; stopReason: string } {
  const captures = capturesOf(turn, context);
  const fill = (value: string) => filled(value, captures, context);
  const content: AssistantBlock[] = [];
  if (context.sign && turn.redacted_thinking !== undefined) {
    content.push({ type: "redacted_thinking", data: context.sign(turn.redacted_thinking) });
  }
  if (context.sign && turn.thinking !== undefined) {
    const thinking = fill(turn.thinking);
    content.push({ type: "thinking", thinking, signature: context.sign(thinking) });
  }
  content.push(...searchBlocks(turn, context));
  if (turn.text) content.push({ type: "text", text: fill(turn.text) });
  const page = foundIn(content)[0];
  if (turn.cited && page) content.push({ type: "text", text: fill(turn.cited), citations: [citation(page)] });
  for (const [name, input] of (turn.calls ?? []).flatMap(Object.entries)) {
    const id = `${context.idBase}_${content.filter((block) => block.type === "tool_use").length + 1}`;
    content.push({ type: "tool_use", id, name, input: deeply(input, fill) });
  }
  return { content, stopReason: turn.stop ?? (turn.calls?.length ? "tool_use" : "end_turn") };
}

/** Each search with what it found, where that does not come with the next reply. */
function searchBlocks({ searches = [] }: ScriptedReply, context: ReplyContext): AssistantBlock[] {
  return searches.flatMap(({ query, waits, ...found }, index): AssistantBlock[] => {
    const id = `srv${context.idBase}_${index + 1}`;
    const asked: AssistantBlock = { type: "server_tool_use", id, name: "web_search", input: { query } };
    return waits ? [asked] : [asked, searchResult(id, found, context.seal)];
  });
}

/** Returns the result of a search as the API sends it. */
export function searchResult(
  id: string,
  { found = [], error }: Omit<ScriptedSearch, "query">,
  seal: ReplyContext["seal"] = (page) => page,
): WebSearchResultBlock {
  const pages = found.map((url): FoundPage => {
    const title = `About ${url}`;
    return {
      type: "web_search_result",
      url,
      title,
      encrypted_content: seal(`${url} ${title}`),
      page_age: null,
    };
  });
  const failed = { type: "web_search_tool_result_error" as const, error_code: error ?? "" };
  return { type: "web_search_tool_result", tool_use_id: id, content: error === undefined ? pages : failed };
}

function foundIn(content: readonly AssistantBlock[]): FoundPage[] {
  return searchesIn(content).flatMap(({ pages }) => [...pages]);
}

function citation({ url, title, encrypted_content }: FoundPage): object {
  const words = { cited_text: title, encrypted_index: encrypted_content.slice(0, 12) };
  return { type: "web_search_result_location", url, title, ...words };
}

function capturesOf(turn: ScriptedReply, { number, newest }: ReplyContext): string[] {
  return [turn.expect ?? []].flat().flatMap((expected) => {
    const pattern = typeof expected === "string" ? new RegExp(expected, "m") : expected;
    const match = pattern.exec(newest.text);
    if (match) return match.slice(1).map((group) => group ?? "");
    const got = newest.text.length > 300 ? `${newest.text.slice(0, 300)} …` : newest.text;
    throw new ModelError(
      "script",
      `turn ${number}: expected /${pattern.source}/ in ${newest.from}, got: ${got}`,
    );
  });
}

function filled(value: string, captures: readonly string[], { number, cwd }: ReplyContext): string {
  return value.replace(/\{\{(cwd|\d+)\}\}/g, (placeholder, name: string) => {
    const found = name === "cwd" ? cwd : captures[Number(name) - 1];
    if (found === undefined)
      throw new ModelError("script", `turn ${number}: nothing captured ${placeholder}`);
    return found;
  });
}

function deeply(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((item) => deeply(item, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deeply(item, fill)]));
}
