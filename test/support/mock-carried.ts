/** The rules of those makers of models with chat completions who want something back with each call. */

import type { OpenaiTurn, WireMessage } from "./mock-openai.ts";

/** `openai`: wants nothing back. */
export type Maker = "openai" | "deepseek" | "moonshot" | "gemini";

export type MakersRules = {
  /** Why the maker would refuse the messages, and the body of its answer; its status is 400. */
  broken(messages: readonly WireMessage[]): { message: string; body: unknown } | undefined;
  /** Remembers what a reply gave with its calls, which need ids; half a character cannot come back. */
  remember(turn: OpenaiTurn): void;
};

/** The rules of one server. It knows what it gave, and so is stricter than its model: that must come back verbatim. */
export function makersRules(maker: Maker): MakersRules {
  const given = new Map<string, { thinking: string | undefined; extra: unknown }>();
  return {
    remember({ calls = [], thinking }) {
      for (const { id, extra } of calls) if (id) given.set(id, { thinking: thinking?.toWellFormed(), extra });
    },
    broken(messages) {
      if (maker === "openai") return undefined;
      const gemini = maker === "gemini";
      for (const [at, message] of messages.entries()) {
        if (!message.tool_calls) continue;
        const call = gemini ? unsignedCall(message, given) : undefined;
        if (gemini ? call : !isThought(message, given)) return refusals[maker](at, call ?? "");
      }
      return undefined;
    },
  };
}

type Given = ReadonlyMap<string, { thinking: string | undefined; extra: unknown }>;

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
  Exclude<Maker, "openai">,
  (at: number, call: string) => ReturnType<MakersRules["broken"]>
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
  gemini: (at, call) => {
    const message =
      "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, " +
      `and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call}\` , position ${at}.`;
    return { message, body: [{ error: { code: 400, message, status: "INVALID_ARGUMENT" } }] };
  },
};
