/** The rules of those servers of chat completions that want something back with each call, or refuse more than others. */

import { brokenAtMistral, brokenAtTemplate } from "./mock-mistral.ts";
import type { OpenaiBody, OpenaiTurn, WireMessage } from "./mock-openai.ts";

/**
 * `openai`: wants nothing back. `devstral`: a server of one's own with that model. `openrouter`: in front of Gemini, and
 * `routed_deepseek`: in front of DeepSeek.
 */
export type Maker =
  | "openai"
  | "deepseek"
  | "moonshot"
  | "gemini"
  | "mistral"
  | "devstral"
  | "openrouter"
  | "routed_deepseek";

/** `status`: 400 without one. */
export type Refused = { message: string; body: unknown; status?: number };

export type MakersRules = {
  /** Set where usage comes without being asked for. */
  statesUsage?: true;
  /** Why the maker would refuse the request, and its answer. */
  broken(body: OpenaiBody): Refused | undefined;
  /** Remembers what a reply gave with its calls, which need ids; half a character cannot come back. */
  remember(turn: OpenaiTurn): void;
};

/** The rules of one server. It knows what it gave, and so is stricter than its model: that must come back verbatim. */
export function makersRules(maker: Maker): MakersRules {
  const given = new Map<string, GivenCall>();
  return {
    ...(maker === "mistral" ? { statesUsage: true } : {}),
    remember({ calls = [], thinking, details = [] }) {
      const [first] = calls;
      for (const { id, extra } of calls)
        if (id)
          given.set(id, {
            thinking: thinking?.toWellFormed(),
            extra,
            details: id === first?.id ? JSON.stringify(wholeDetails(details)) : undefined,
          });
    },
    broken(body) {
      if (maker === "mistral") return brokenAtMistral(body);
      if (maker === "devstral") return brokenAtTemplate(body);
      const long = longestIds[maker];
      return (long ? longId(body.messages, long) : undefined) ?? notCarried(maker, body.messages, given);
    },
  };
}

/** OpenAI's limit of the ids of calls, and that of OpenRouter in front of Responses. */
const longestIds: Partial<Record<Maker, number>> = { openai: 40, openrouter: 64, routed_deepseek: 64 };

/** Why the maker misses what it gave with its calls. */
function notCarried(
  maker: Exclude<Maker, "mistral" | "devstral">,
  messages: readonly WireMessage[],
  given: Given,
): Refused | undefined {
  if (maker === "openai") return undefined;
  for (const [at, message] of messages.entries()) {
    if (!message.tool_calls) continue;
    const call = maker === "gemini" ? unsignedCall(message, given) : undefined;
    if (maker === "gemini" ? call : !isWhole(maker, message, given)) return refusals[maker](at, call ?? "");
  }
  return undefined;
}

type GivenCall = { thinking: string | undefined; extra: unknown; details: string | undefined };
type Given = ReadonlyMap<string, GivenCall>;

function longId(messages: readonly WireMessage[], longest: number): Refused | undefined {
  for (const [at, { tool_calls: calls = [] }] of messages.entries())
    for (const [index, { id }] of calls.entries()) {
      if (id.length <= longest) continue;
      const message = `Invalid 'messages[${at}].tool_calls[${index}].id': string too long. Expected a string with maximum length ${longest}, but got a string with length ${id.length} instead.`;
      return {
        message,
        body: { error: { message, type: "invalid_request_error", code: "string_above_max_length" } },
      };
    }
  return undefined;
}

function isWhole(
  maker: Exclude<Maker, "openai" | "gemini" | "mistral" | "devstral">,
  message: WireMessage,
  given: Given,
): boolean {
  if (maker === "openrouter") return hasDetails(message, given);
  return isThought(message, given) && (maker !== "routed_deepseek" || hasOwnDetails(message, given));
}

/** Returns true when details that were given come back as they were; of other replies there need be none. */
function hasOwnDetails(
  { tool_calls: calls = [], reasoning_details: details }: WireMessage,
  given: Given,
): boolean {
  const due = given.get(calls[0]?.id ?? "")?.details;
  return due === undefined || due === "[]" || JSON.stringify(details) === due;
}

/** The details of a reply whose pieces were streamed: text of one index is one detail. */
function wholeDetails(pieces: readonly object[]): object[] {
  const whole: Record<string, unknown>[] = [];
  for (const piece of pieces as Record<string, unknown>[]) {
    const last = whole.at(-1);
    if (last && last.type === "reasoning.text" && piece.type === last.type && piece.index === last.index)
      last.text = `${last.text}${piece.text}`;
    else whole.push({ ...piece });
  }
  return whole;
}

/** Details come back as they were given; foreign calls have one in their place, at the first of them. */
function hasDetails(
  { tool_calls: calls = [], reasoning_details: details }: WireMessage,
  given: Given,
): boolean {
  const [first] = calls;
  const due = given.get(first?.id ?? "")?.details;
  if (due) return JSON.stringify(details) === due;
  const [one, ...more] = (details ?? []) as Record<string, unknown>[];
  return more.length === 0 && one?.id === first?.id && one?.data === "skip_thought_signature_validator";
}

/** Returns true when a message with calls has its thinking as it was given; foreign ones have any, if only empty. */
function isThought(
  { reasoning_content: thought, tool_calls: calls = [] }: WireMessage,
  given: Given,
): boolean {
  if (typeof thought !== "string") return false;
  return calls.every(({ id }) => thought === (given.get(id)?.thinking ?? thought));
}

/** The name of a call without the signature that it was given; of foreign calls the first needs the word for none. */
function unsignedCall({ tool_calls: calls = [] }: WireMessage, given: Given): string | undefined {
  const foreign = calls.every(({ id }) => !given.has(id));
  const word = { google: { thought_signature: "skip_thought_signature_validator" } };
  return calls.find(({ id, extra_content: extra }, index) => {
    const due = foreign ? (index === 0 ? word : undefined) : given.get(id)?.extra;
    return JSON.stringify(extra) !== JSON.stringify(due);
  })?.function.name;
}

/** In the makers' words, as threads about them quote them. */
const refusals: Record<
  Exclude<Maker, "openai" | "mistral" | "devstral">,
  (at: number, call: string) => Refused
> = {
  deepseek: () => {
    const message = "The reasoning_content in the thinking mode must be passed back to the API.";
    const type = "invalid_request_error";
    return { message, body: { error: { message, type, param: null, code: type } } };
  },
  moonshot: (at) => {
    const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`;
    return { message, body: { error: { message, type: "invalid_request_error" } } };
  },
  routed_deepseek: () => {
    const raw = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    const metadata = { raw: JSON.stringify({ error: { message: raw } }), provider_name: "DeepSeek" };
    return { message: raw, body: { error: { message: "Provider returned error", code: 400, metadata } } };
  },
  openrouter: (at) => {
    const message = "Provider returned error";
    const raw = `Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: Function call is missing a thought_signature in functionCall parts (message ${at})`;
    return {
      message: raw,
      body: { error: { message, code: 400, metadata: { raw, provider_name: "Google" } } },
    };
  },
  gemini: (at, call) => {
    const message =
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, " +
      `and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call}\` , position ${at}.`;
    return { message, body: [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }] };
  },
};
