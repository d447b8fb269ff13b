/** The strict Responses server: real HTTP and SSE, the API's refusals, its cache by marks, its diagnostics, and faults. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { cacheLifeMs } from "../../src/core/model-card.ts";
import { keptOpen } from "./kept-open.ts";
import type { OpenaiTurn } from "./mock-openai.ts";
import { inNamespace, planAnswer, withoutPlan } from "./mock-plan.ts";
import { type Item, Refused, type ResponsesBody } from "./mock-responses-fields.ts";
import { markedParts, responsesRules } from "./mock-responses-rules.ts";
import {
  annotationEvents,
  annotationsOf,
  offersSearch,
  searchCall,
  searchEvents,
  searchUsage,
  type TurnSearch,
  tellsSources,
} from "./mock-responses-search.ts";
import { hashOf } from "./mock-wire.ts";

/**
 * `thinking`: a reasoning item before the rest, also when empty. `between`: one between the text and each call, and the
 * searches. `searches`: before the text, where the request offers a search. `cited`: pages that the text cites.
 */
export type ResponsesTurn = {
  thinking?: string;
  between?: true;
  searches?: TurnSearch[];
  text?: string;
  cited?: { url: string; title: string }[];
  phase?: string;
  refusal?: string;
  calls?: { name: string; args: string }[];
  output?: number;
  /** The reason for an incomplete response, whose last item is cut. */
  incomplete?: string;
  failed?: { code: string; message: string };
  fault?: OpenaiTurn["fault"];
};

export type Bill = {
  input: number;
  cached: number;
  written: number;
  diagnostics?: { type: string; reason?: string };
};
export type ResponsesServer = {
  /** With `/v1`. */
  url: string;
  /** Bodies that were not refused, and what each cost. */
  requests: ResponsesBody[];
  bills: Bill[];
  received: { raw: string; path: string; headers: IncomingHttpHeaders; refused?: string }[];
  close(): Promise<void>;
};

export type ResponsesOptions = {
  turnOf(body: ResponsesBody, index: number): ResponsesTurn;
  /** Reasoning is bound to all that stands before it: not documented, so a switch. */
  bound?: boolean;
  now?: () => number;
  /**
   * As llama-server: events tell no places and no numbers, reasoning comes unsealed and goes back with its content
   * alone, items that it does not know are refused, and a reply that its limit cut is called completed.
   */
  bare?: true;
  /** A ChatGPT plan pays: says whether an access token is good, and the rules of the plan hold (mock-plan.ts). */
  plan?: (token: string) => boolean;
};

/** Listens on a free port. */
export async function startResponsesServer(options: ResponsesOptions): Promise<ResponsesServer> {
  const rules = responsesRules({ bound: options.bound ?? false });
  const billing = responsesBilling();
  const server: Omit<ResponsesServer, "url" | "close"> = { requests: [], bills: [], received: [] };
  const http = createServer(keptOpen, async (request, response) => {
    const raw = await text(request);
    const seen: ResponsesServer["received"][number] = {
      raw,
      path: request.url ?? "",
      headers: request.headers,
    };
    server.received.push(seen);
    try {
      const first = options.plan && planAnswer(seen, options.plan);
      if (first) return sendJson(response, first.status, first.body);
      if (seen.path !== "/v1/responses") throw new Refused(`Invalid URL (POST ${seen.path})`);
      const body = options.plan ? withoutPlan(parsed(raw)) : parsed(raw);
      rules.check(body);
      checkBare(body, options);
      const index = server.requests.push(body) - 1;
      const turn = options.turnOf(body, index);
      const id = `resp_${index + 1}`;
      const bill = billing(body, id, (options.now ?? Date.now)());
      server.bills.push(bill);
      const given = rules.give(body, itemsOf(turn, index, body));
      const items = given.map((item) => toldItem(item, options));
      await play(turn, { id, items, body, bill, bare: options.bare }, response);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      seen.refused = error.message;
      const { message, code } = error;
      const type = "invalid_request_error";
      sendJson(response, seen.path === "/v1/responses" ? 400 : 404, {
        error: { message, type, param: null, code },
      });
    }
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    ...server,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

/** Throws `Refused` for what is no JSON, half a character included. */
export function parsed(raw: string): ResponsesBody {
  try {
    if (/\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]/i.test(raw))
      throw new Error("half a character");
    return JSON.parse(raw) as ResponsesBody;
  } catch {
    throw new Refused("We could not parse the JSON body of your request.");
  }
}

/** The items of a turn, in order. Throws where it searches and no search is offered: such a script plays no model. */
export function itemsOf(turn: ResponsesTurn, index: number, body: ResponsesBody): Item[] {
  const { thinking, between, phase, refusal, calls = [], searches = [] } = turn;
  if (searches.length > 0 && !offersSearch(body)) throw new Error("it searches, and no search was offered");
  let [rs, fc, ws] = [0, 0, 0];
  const summary = thinking ? [{ type: "summary_text", text: thinking }] : [];
  const reasoning = (): Item[] => [{ id: `rs_${index}_${rs++}`, type: "reasoning", summary }];
  const said = refusal
    ? { type: "refusal", refusal }
    : { type: "output_text", text: turn.text ?? "", annotations: annotationsOf(turn.text, turn.cited) };
  const message = {
    id: `msg_${index}`,
    type: "message",
    status: "completed",
    role: "assistant",
    content: [said],
  };
  return [
    ...(thinking === undefined ? [] : reasoning()),
    ...searches.flatMap((search, at) => [
      ...(between && at > 0 ? reasoning() : []),
      searchCall(search, `ws_${index}_${ws++}`, tellsSources(body)),
    ]),
    ...(turn.text || refusal ? [{ ...message, ...(phase ? { phase } : {}) }] : []),
    ...calls.flatMap(({ name, args }) => [
      ...(between ? reasoning() : []),
      {
        id: `fc_${index}_${fc}`,
        type: "function_call",
        call_id: `call_${index}_${fc++}`,
        name,
        arguments: args,
      },
    ]),
  ];
}

type Playing = { id: string; items: Item[]; body: ResponsesBody; bill: Bill; bare?: true | undefined };

/** The events of a response, from its beginning to its end. */
export function eventsOf(turn: ResponsesTurn, { id, items, body, bill }: Playing): object[] {
  const usage = {
    input_tokens: bill.input,
    input_tokens_details: { cached_tokens: bill.cached, cache_write_tokens: bill.written },
    output_tokens: turn.output ?? 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: bill.input + (turn.output ?? 10),
  };
  const base = { id, object: "response", model: `${body.model}-2026-10-01`, output: [] };
  const reason = { incomplete_details: turn.incomplete ? { reason: turn.incomplete } : null };
  const status = turn.failed ? "failed" : turn.incomplete ? "incomplete" : "completed";
  const diagnostics = bill.diagnostics ? { prompt_cache_diagnostics: bill.diagnostics } : {};
  const last = {
    ...{ ...base, status, ...reason, ...diagnostics },
    ...(turn.failed ? { error: turn.failed, usage: null } : { output: items, usage }),
    ...(offersSearch(body) ? searchUsage(items) : {}),
  };
  return [
    { type: "response.created", response: { ...base, status: "in_progress" } },
    { type: "response.in_progress", response: { ...base, status: "in_progress" } },
    ...items.flatMap((item, at) =>
      itemEvents(item, at, turn.incomplete !== undefined && at === items.length - 1),
    ),
    { type: `response.${status}`, response: last },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

/** With `cut` the item never ends: its done event says so. */
function itemEvents(item: Item, output_index: number, cut: boolean): { type: string }[] {
  const place = { output_index, item_id: item.id };
  const done = {
    type: "response.output_item.done",
    output_index,
    item: cut ? { ...item, status: "incomplete" } : item,
  };
  const added = (shell: object) => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...shell },
  });
  if (item.type === "reasoning") {
    const [summary] = item.summary as { text: string }[];
    const part = { ...place, summary_index: 0 };
    return [
      added({ summary: [] }),
      ...(summary ? [{ type: "response.reasoning_summary_part.added", ...part }] : []),
      ...halves(summary?.text ?? "").map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        ...part,
        delta,
      })),
      done,
    ];
  }
  if (item.type === "function_call") {
    const type = "response.function_call_arguments.delta";
    const deltas = halves(String(item.arguments)).map((delta) => ({ type, ...place, delta }));
    return [added({ arguments: "" }), ...deltas, done];
  }
  if (item.type === "web_search_call") return [...searchEvents(item, output_index), done];
  const [part] = item.content as { text?: string; refusal?: string; annotations?: object[] }[];
  const type = part?.refusal ? "response.refusal.delta" : "response.output_text.delta";
  const deltas = halves(part?.text ?? part?.refusal ?? "").map((delta) => ({
    type,
    ...place,
    content_index: 0,
    delta,
  }));
  return [added({ content: [] }), ...deltas, ...annotationEvents(part?.annotations, place), done];
}

function halves(whole: string): string[] {
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((half) => half !== "");
}

function bareEventsOf({ incomplete, ...turn }: ResponsesTurn, playing: Playing): object[] {
  const output = incomplete ? { output: Number(playing.body.max_output_tokens) } : {};
  return eventsOf({ ...turn, ...output }, playing).map(bareEvent);
}

function bareEvent(event: object): object {
  const omitted = ["output_index", "content_index", "summary_index", "sequence_number", "incomplete_details"];
  const kept = Object.entries(event).filter(([name]) => !omitted.includes(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === "response" ? bareEvent(value as object) : value]),
  );
}

function toldItem(item: Item, { plan, bare }: ResponsesOptions): Item {
  const told = bare ? unsealed(item) : item;
  return plan ? inNamespace(told) : told;
}

function unsealed(item: Item): Item {
  if (item.type !== "reasoning") return item;
  const [summary] = item.summary as { text: string }[];
  const content = [{ type: "reasoning_text", text: summary?.text ?? "" }];
  return { ...item, summary: [], content, encrypted_content: "" };
}

function checkBare({ input }: ResponsesBody, { bare }: ResponsesOptions): void {
  if (!bare) return;
  for (const { type, content } of input) {
    if (type === "reasoning" && !Array.isArray(content)) throw new Refused("item['content'] is not an array");
    if (type === "additional_tools" || type === "web_search_call")
      throw new Refused("Cannot determine type of 'item'");
  }
}

async function play(turn: ResponsesTurn, playing: Playing, response: ServerResponse): Promise<void> {
  const { fault = {} } = turn;
  if (fault.status) return sendJson(response, fault.status, fault.body ?? {}, fault.headers);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const told = playing.bare ? bareEventsOf(turn, playing) : eventsOf(turn, playing);
  for (const [sent, event] of [...told, undefined].entries()) {
    if (fault.closeAfter === sent) return void response.destroy();
    if (fault.silentAfter === sent) return keepSilent(response);
    if (fault.errorAfter?.chunks === sent) {
      const error = { type: "error", ...(fault.errorAfter.error as object), sequence_number: sent };
      return void response.end(`event: error\ndata: ${JSON.stringify(error)}\n\n`);
    }
    if (!event || (fault.noFinish && "response" in event && sent > 1)) continue;
    const bytes = Buffer.from(`event: ${(event as Item).type}\ndata: ${JSON.stringify(event)}\n\n`);
    const middle = Math.floor(bytes.length / 2);
    response.write(bytes.subarray(0, middle));
    await new Promise((resolve) => setImmediate(resolve));
    response.write(bytes.subarray(middle));
  }
  response.end();
}

/** Comments and events that are no progress. Ends when the client does. */
function keepSilent(response: ServerResponse): void {
  const event = JSON.stringify({ type: "response.in_progress" });
  const timer = setInterval(() => response.write(`: still here\n\ndata: ${event}\n\n`), 20);
  response.once("close", () => clearInterval(timer));
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

type Remembered = { body: ResponsesBody; marked: string };
const least = 1024;

/**
 * Bills by marks alone: a prefix is found where this request marks it and an earlier one did, and is written at the
 * newest mark. Without options every prefix is found, as on models that know no marks.
 */
function responsesBilling(): (body: ResponsesBody, id: string, now: number) => Bill {
  const entries = new Map<string, number>();
  const remembered = new Map<string, Remembered>();
  return (body, id, now) => {
    const { prefixes, tokens } = prefixesOf(body);
    const explicit = body.prompt_cache_options?.mode === "explicit";
    const life = cacheLifeMs[body.prompt_cache_options?.ttl === "12h" ? "12h" : explicit ? "30m" : "5m"];
    const considered = prefixes.filter(({ mark }) => mark || !explicit);
    const live = considered.filter(
      ({ hash }) => now - (entries.get(hash) ?? Number.NEGATIVE_INFINITY) < life,
    );
    const cached = live.at(-1)?.tokens ?? 0;
    const newest = considered.at(-1)?.tokens ?? 0;
    for (const { hash, tokens: length } of considered) if (length >= least) entries.set(hash, now);
    const marked = considered.at(-1)?.hash ?? "";
    const compared = body.prompt_cache_options?.comparison_response_id;
    const diagnostics = compared
      ? diagnosed(
          remembered.get(compared),
          body,
          prefixes.map(({ hash }) => hash),
        )
      : undefined;
    remembered.set(id, { body, marked });
    const written = newest >= least && explicit ? Math.max(0, newest - cached) : 0;
    return { input: tokens, cached, written, ...(diagnostics ? { diagnostics } : {}) };
  };
}

function diagnosed(
  before: Remembered | undefined,
  body: ResponsesBody,
  prefixes: readonly string[],
): NonNullable<Bill["diagnostics"]> {
  if (!before) return { type: "comparison_response_not_found" };
  const differs = (key: keyof ResponsesBody) =>
    JSON.stringify(before.body[key]) !== JSON.stringify(body[key]);
  const missed = (reason: string) => ({ type: "cache_miss", reason, cache_missed_tokens: 0 });
  if (differs("model")) return missed("model_changed");
  if (differs("prompt_cache_key")) return missed("prompt_cache_key_changed");
  if (differs("tools")) return missed("tools_changed");
  if (before.body.reasoning?.effort !== body.reasoning?.effort) return missed("reasoning_effort_changed");
  return prefixes.includes(before.marked) ? { type: "cache_hit" } : missed("input_changed");
}

/** The prefixes of a request that end with a part of its input: four bytes a token. */
function prefixesOf(body: ResponsesBody): {
  prefixes: { hash: string; tokens: number; mark: boolean }[];
  tokens: number;
} {
  const head = JSON.stringify([body.model, body.prompt_cache_key, body.tools, body.reasoning?.effort]);
  let [hash, bytes] = [hashOf(head), head.length];
  const prefixes: { hash: string; tokens: number; mark: boolean }[] = [];
  const marked = new Set(markedParts(body.input));
  for (const item of body.input) {
    const key = item.output ? "output" : "content";
    const { [key]: parts, ...rest } = item;
    const shown = item.type === "reasoning" ? [item] : [rest, ...((parts ?? []) as Item[])];
    for (const part of shown) {
      const { prompt_cache_breakpoint: _, ...bare } = part as Item;
      const json = JSON.stringify(bare);
      hash = hashOf(hash, json);
      bytes += json.length;
      prefixes.push({ hash, tokens: Math.ceil(bytes / 4), mark: marked.has(part as Item) });
    }
  }
  return { prefixes, tokens: Math.ceil(bytes / 4) };
}
