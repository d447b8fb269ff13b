/**
 * A small strict chat-completions server: real HTTP and SSE, refusals of what OpenAI refuses and, where one is named, of
 * what the maker of a model refuses, and faults.
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { keptOpen } from "./kept-open.ts";
import { type Maker, makersRules } from "./mock-carried.ts";

/** `extra`: sent as `extra_content`. */
export type OpenaiCall = { id?: string; name: string; args: string; extra?: unknown };
export type OpenaiTurn = {
  text?: string;
  /** May be empty. */
  thinking?: string;
  /** Pieces of OpenRouter's `reasoning_details`, each in a chunk of its own. */
  details?: object[];
  calls?: OpenaiCall[];
  finish?: string;
  /** `prompt` includes `cached`, as it does on the wire. */
  usage?: { prompt: number; cached?: number; output: number };
  fault?: {
    status?: number;
    body?: unknown;
    headers?: Record<string, string>;
    /** The connection is cut after so many chunks. */
    closeAfter?: number;
    /** From there on only comments and empty chunks come. */
    silentAfter?: number;
    noDone?: true;
    noFinish?: true;
    noUsage?: true;
    errorAfter?: { chunks: number; error: unknown };
  };
};
export type WireMessage = {
  role: string;
  reasoning_content?: unknown;
  reasoning_details?: unknown;
  content?: unknown;
  tool_call_id?: string;
  tool_calls?: {
    id: string;
    type: string;
    function: { name: string; arguments: string };
    extra_content?: unknown;
  }[];
};
export type OpenaiBody = {
  model: string;
  messages: WireMessage[];
  tools?: unknown[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
} & Record<string, unknown>;
export type OpenaiServer = {
  /** With `/v1`. */
  url: string;
  /** Bodies that were not refused. */
  requests: OpenaiBody[];
  received: { raw: string; path: string; headers: IncomingHttpHeaders; refused?: string }[];
  close(): Promise<void>;
};

/** Listens on a free port; each request that is not refused gets the next turn, the last one again and again. */
export async function startOpenaiServer(...turns: OpenaiTurn[]): Promise<OpenaiServer> {
  return startMakersServer("openai", (_, index) => turns[Math.min(index, turns.length - 1)] ?? {});
}

/** Listens as the server of this maker. `turnOf`: the answer to a request and its index among those not refused. */
export async function startMakersServer(
  maker: Maker,
  turnOf: (body: OpenaiBody, index: number) => OpenaiTurn,
): Promise<OpenaiServer> {
  const rules = makersRules(maker);
  const requests: OpenaiBody[] = [];
  const received: OpenaiServer["received"] = [];
  const http = createServer(keptOpen, async (request, response) => {
    const raw = await text(request);
    const seen: OpenaiServer["received"][number] = { raw, path: request.url ?? "", headers: request.headers };
    received.push(seen);
    const body = raw.match(/\\ud[89ab]..(?!\\ud[c-f])/i) ? undefined : parsed(raw);
    const refused = seen.path === "/v1/chat/completions" ? refusal(body) : `no route ${seen.path}`;
    if (refused || !body) {
      seen.refused = refused ?? "bad JSON";
      const error = { message: seen.refused, type: "invalid_request_error", code: null };
      return sendJson(response, refused?.startsWith("no route") ? 404 : 400, { error });
    }
    const broken = rules.broken(body);
    if (broken) {
      seen.refused = broken.message;
      return sendJson(response, broken.status ?? 400, broken.body);
    }
    const turn = turnOf(body, requests.length);
    requests.push(body);
    rules.remember(turn);
    await play(
      turn,
      rules.statesUsage ? { ...body, stream_options: { include_usage: true } } : body,
      response,
    );
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    requests,
    received,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

function parsed(raw: string): OpenaiBody | undefined {
  try {
    return JSON.parse(raw) as OpenaiBody;
  } catch {
    return undefined;
  }
}

/** Why the request would be refused. */
function refusal(body: OpenaiBody | undefined): string | undefined {
  if (!body) return "We could not parse the JSON body of your request";
  if (!body.model) return "you must provide a model parameter";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "'messages' must not be empty";
  if ("max_tokens" in body && "max_completion_tokens" in body) return "two limits";
  const choice = refusedChoice(body);
  if (choice) return choice;
  let open = new Set<string>();
  for (const [at, message] of body.messages.entries()) {
    const wrong = refusedMessage(message, open);
    if (wrong) return `messages.[${at}]: ${wrong}`;
    if (message.role !== "tool") open = new Set(message.tool_calls?.map((call) => call.id));
  }
  if (open.size > 0) return `no tool messages for ${[...open].join(", ")}`;
  // llama.cpp takes such a message for the beginning of its own reply, and refuses two of them.
  return body.messages.at(-1)?.role === "assistant" ? "the last message is the assistant's own" : undefined;
}

/** Only the choice of some of the declared tools is known here. */
function refusedChoice({ tool_choice: choice, tools = [] }: OpenaiBody): string | undefined {
  if (choice === undefined) return undefined;
  const { type, allowed_tools: allowed } = choice as {
    type?: string;
    allowed_tools?: { mode?: string; tools?: { type: string; function: { name: string } }[] };
  };
  if (type !== "allowed_tools" || !allowed?.tools?.length) return "tool_choice: no such choice";
  if (allowed.mode !== "auto" && allowed.mode !== "required")
    return "tool_choice.allowed_tools.mode: unknown";
  const declared = (tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  const unknown = allowed.tools.find((tool) => !declared.includes(tool.function.name));
  return unknown && `tool_choice: ${unknown.function.name} is not among the tools`;
}

/** `open`: calls whose results must come next; a result closes its own. */
function refusedMessage(message: WireMessage, open: Set<string>): string | undefined {
  const { role, content } = message;
  if (role === "tool") {
    if (!open.delete(message.tool_call_id ?? "")) return "a result without its call";
    return typeof content === "string" ? undefined : "a result holds text only";
  }
  if (open.size > 0) return `'tool_calls' must be followed by tool messages: ${[...open].join(", ")}`;
  if (role === "assistant") return refusedReply(message);
  if (role !== "system" && role !== "user") return `no role ${role}`;
  if (message.tool_calls) return `calls of a ${role}`;
  return content?.toString() ? undefined : "no content";
}

function refusedReply({ content, tool_calls: calls }: WireMessage): string | undefined {
  if (calls?.length === 0 || !(content || calls)) return "no content";
  if (new Set(calls?.map((call) => call.id)).size < (calls?.length ?? 0)) return "an id twice";
  const bad = calls?.find((call) => call.type !== "function" || !parsed(call.function.arguments));
  return bad ? `bad call ${bad.id}` : undefined;
}

async function play(turn: OpenaiTurn, body: OpenaiBody, response: ServerResponse): Promise<void> {
  const { fault = {} } = turn;
  if (fault.status) return sendJson(response, fault.status, fault.body ?? {}, fault.headers);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  for (const [sent, chunk] of [...chunksOf(turn, body), undefined].entries()) {
    if (fault.closeAfter === sent) return void response.destroy();
    if (fault.silentAfter === sent) return keepSilent(response);
    if (fault.errorAfter?.chunks === sent) {
      response.end(`data: ${JSON.stringify({ error: fault.errorAfter.error })}\n\n`);
      return;
    }
    if (chunk) await write(response, `data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end(fault.noDone ? "" : "data: [DONE]\n\n");
}

/** Cut in the middle, in bytes: a reader that trusts in whole lines or whole characters fails. */
async function write(response: ServerResponse, event: string): Promise<void> {
  const bytes = Buffer.from(event);
  const middle = Math.floor(bytes.length / 2);
  for (const piece of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
    response.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function chunksOf(turn: OpenaiTurn, body: OpenaiBody): object[] {
  const { fault = {}, calls = [], usage = { prompt: 100, output: 10 } } = turn;
  const common = { id: "chatcmpl-1", object: "chat.completion.chunk", model: `${body.model}-2026-11-01` };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...common,
    choices: [{ index: 0, delta, finish_reason }],
    ...(body.stream_options?.include_usage ? { usage: null } : {}),
  });
  const finish = turn.finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  return [
    chunk({ role: "assistant", content: "" }),
    ...(turn.thinking === undefined
      ? []
      : [chunk({ [turn.details ? "reasoning" : "reasoning_content"]: turn.thinking })]),
    ...(turn.details ?? []).map((detail) => chunk({ reasoning_details: [detail] })),
    ...halves(turn.text ?? "").map((content) => chunk({ content })),
    ...calls.flatMap(({ id, name, args, extra }, index) => [
      chunk({
        tool_calls: [
          {
            index,
            ...(id ? { id } : {}),
            type: "function",
            function: { name, arguments: "" },
            ...(extra ? { extra_content: extra } : {}),
          },
        ],
      }),
      ...halves(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    ...(fault.noFinish ? [] : [chunk({}, finish)]),
    ...(body.stream_options?.include_usage && !fault.noUsage
      ? [{ ...common, choices: [], usage: wireUsage(usage) }]
      : []),
  ];
}

function wireUsage({ prompt, cached = 0, output }: NonNullable<OpenaiTurn["usage"]>): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function halves(whole: string): string[] {
  const middle = Math.ceil(whole.length / 2);
  return [whole.slice(0, middle), whole.slice(middle)].filter((half) => half !== "");
}

/** Comments and empty chunks keep the connection open and are no progress. Ends when the client does. */
function keepSilent(response: ServerResponse): void {
  const empty = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: null }] });
  const timer = setInterval(() => response.write(`: still here\n\ndata: ${empty}\n\n`), 20);
  response.once("close", () => clearInterval(timer));
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
