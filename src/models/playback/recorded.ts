/** Cassettes: real exchanges with a model, one JSON line each, kept to be played again. No headers, so no keys. */

import { createHash } from "node:crypto";
import type { AssistantBlock } from "../../core/blocks.ts";
import type { ModelErrorKind } from "../../core/events.ts";
import { currentCard, type ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError, type ModelPart, type ModelReply } from "../../core/ports.ts";
import type { ModelRequest } from "../../core/request.ts";
import { type Dialect, dialectName, dialects } from "../openai/dialects.ts";

/** The first line. The player encodes as the recorded model did and has its card, else no hash would match. */
type Header = { cassette: 1; encoding: string; card: ModelCard };

/** The shape of a request, for saying how another one differs. */
type Summary = {
  model: string;
  messages: number;
  /** The beginning of the last message. */
  last: string;
  /** Short hashes of the system text, the tools and each message. */
  prints: string;
};

/** One exchange: a reply, or the failure that came instead. */
type Exchange = {
  bodyHash: string;
  request: Summary;
  reply?: ModelReply;
  failure?: { kind: ModelErrorKind; message: string };
};

type Encode = Model["encode"];
type Encoder = (card: ModelCard) => Promise<Encode>;

/** Encodings by the names that cassettes have for them. Only one that is asked for is loaded. */
const encoders: Record<string, Encoder> = {
  json: async () => (request) => JSON.stringify(request),
  anthropic: async (card) => (await import("../anthropic/anthropic.ts")).anthropicModel({ card }).encode,
  responses: async (card) => (await import("../responses/responses.ts")).responsesModel({ card }).encode,
  ...Object.fromEntries(Object.entries(dialects).map(([name, dialect]) => [name, chatEncoder(dialect)])),
};

function chatEncoder(dialect: Dialect): Encoder {
  return async (card) => (await import("../openai/openai.ts")).openaiModel({ card, dialect }).encode;
}

const lastChars = 200;
const printChars = 4;

/** The same model; every exchange goes to `write` as one line, newline included. Interrupted ones are left out. */
export function recording(model: Model, write: (line: string) => void): Model {
  let begun = false;
  return {
    ...model,
    async send(request, body, onPart, signal) {
      const keep = async (outcome: Pick<Exchange, "reply" | "failure">) => {
        const exchange: Exchange = { bodyHash: hash(body), request: summaryOf(request), ...outcome };
        const header: Header = {
          cassette: 1,
          encoding: await encodingOf(request, body, model.card),
          card: model.card,
        };
        for (const line of begun ? [exchange] : [header, exchange]) write(`${JSON.stringify(line)}\n`);
        begun = true;
      };
      try {
        const reply = await model.send(request, body, onPart, signal);
        await keep({ reply });
        return reply;
      } catch (error) {
        if (error instanceof ModelError && error.kind !== "aborted")
          await keep({ failure: { kind: error.kind, message: error.message } });
        throw error;
      }
    },
  };
}

export type RecordedOptions = {
  /** The text of the file. */
  cassette: string;
  /** Plays by order instead of by request. */
  loose: boolean;
  /** For messages. */
  fileName: string;
};

/**
 * Plays a cassette, under the card of the model that was recorded. Requests that it does not hold fail with
 * `ModelError("script")`, which says what differs. Rejects with an Error of one line when the text is not a cassette.
 */
export async function recordedModel({ cassette, loose, fileName }: RecordedOptions): Promise<Model> {
  const { header, exchanges } = parseCassette(cassette, fileName);
  const encoder = encoders[header.encoding];
  if (!encoder) throw new Error(`${fileName} was recorded in an unknown encoding: ${header.encoding}`);
  const encode = await encoder(header.card);
  const left: (Exchange | undefined)[] = [...exchanges];
  let played = 0;
  return {
    card: currentCard(header.card),
    encode,
    async send(request, body, onPart, signal) {
      if (signal.aborted) throw new ModelError("aborted", "interrupted");
      const bodyHash = hash(body);
      const index = left.findIndex((call) => call && (loose || call.bodyHash === bodyHash));
      const exchange = left[index];
      if (!exchange)
        throw new ModelError("script", `${fileName}: ${missing(request, played, exchanges[played])}`);
      left[index] = undefined;
      played++;
      const { reply, failure } = exchange;
      if (failure) throw new ModelError(failure.kind, failure.message);
      if (!reply) throw new ModelError("script", `${fileName}: exchange ${index + 1} holds no reply`);
      for (const part of reply.content.flatMap(partsOf)) onPart(part);
      return reply;
    },
  };
}

function parseCassette(text: string, fileName: string): { header: Header; exchanges: Exchange[] } {
  const [header, ...exchanges] = text
    .split("\n")
    .flatMap((line, index) => (line.trim() ? [parseLine(line, `${fileName}:${index + 1}`)] : []));
  if ((header as Header | undefined)?.cassette !== 1) throw new Error(`${fileName} is not a cassette`);
  return { header: header as Header, exchanges: exchanges as Exchange[] };
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`${where} is not JSON`);
  }
}

/** Why no exchange fits, against the one that was recorded at this place. */
function missing(request: ModelRequest, played: number, expected: Exchange | undefined): string {
  if (!expected) return `the cassette ends after ${played} requests, but another one was made`;
  const [now, then] = [summaryOf(request), expected.request];
  const intro = `request ${played + 1} is not on the cassette:`;
  if (now.model !== then.model) return `${intro} its model is ${now.model}, recorded: ${then.model}`;
  const index = firstDifference(now.prints, then.prints);
  if (index === 0) return `${intro} the system text differs`;
  if (index === 1) return `${intro} the tools differ`;
  if (index < 0) return `${intro} its settings differ (length, effort, thinking or cache breakpoints)`;
  const counts = `${now.messages} messages, recorded were ${then.messages}`;
  const ends = `the last one begins ${JSON.stringify(now.last)}, recorded: ${JSON.stringify(then.last)}`;
  return `${intro} it differs from message ${index - 2} on (counted from 0; ${counts}); ${ends}`;
}

function firstDifference(a: string, b: string): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += printChars)
    if (a.slice(at, at + printChars) !== b.slice(at, at + printChars)) return at / printChars;
  return -1;
}

function summaryOf({ model, system, tools, messages }: ModelRequest): Summary {
  const last = messages
    .at(-1)
    ?.content.map((block) => ("text" in block ? block.text : JSON.stringify(block)));
  return {
    model,
    messages: messages.length,
    last: (last ?? []).join("\n").slice(0, lastChars).toWellFormed(),
    prints: [system, tools, ...messages].map(print).join(""),
  };
}

function print(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, printChars);
}

function hash(body: string): string {
  return createHash("sha256").update(body).digest("hex");
}

/** Tries the dialect of the model's provider first: its first bodies may be those of another, and later ones not. */
async function encodingOf(request: ModelRequest, body: string, card: ModelCard): Promise<string> {
  const own = dialectName(card.id);
  for (const [name, encoder] of Object.entries({ [own]: encoders[own] as Encoder, ...encoders }))
    if ((await encoder(card))(request) === body) return name;
  throw new Error("a model with an encoding of its own cannot be recorded");
}

/** The parts of a block, as a stream would bring them. */
function partsOf(block: AssistantBlock): ModelPart[] {
  switch (block.type) {
    case "text":
      return [{ type: "text_delta", text: block.text }];
    case "thinking":
      return [{ type: "thinking_delta", text: block.thinking }];
    case "redacted_thinking":
    case "server_tool_use":
    case "web_search_tool_result":
      return [];
    case "tool_use":
      return [
        { type: "tool_use_started", id: block.id, name: block.name },
        { type: "input_delta", id: block.id, text: JSON.stringify(block.input) },
      ];
  }
}
