/**
 * The rules of Responses where a ChatGPT plan pays (developers.openai.com/siwc, preview limitations): functions stand in
 * a namespace, calls name it, and fields that the plan does not support are refused.
 */

import type { IncomingHttpHeaders } from "node:http";
import { type Item, Refused, type ResponsesBody } from "./mock-responses-fields.ts";

/** The models of the plan, as `GET /v1/models` lists them. */
const planModels = {
  models: [
    { slug: "gpt-6.1-sol", display_name: "GPT-6.1 Sol", visibility: "list" },
    { slug: "gpt-6.1-terra", display_name: "GPT-6.1 Terra", visibility: "list" },
    { slug: "hidden", display_name: "Hidden", visibility: "hide" },
  ],
};

type Seen = { path: string; headers: IncomingHttpHeaders; refused?: string };

/** Answers the list of models, and a request whose access token is not good; undefined for any other. */
export function planAnswer(
  seen: Seen,
  isGood: (token: string) => boolean,
): { status: number; body: object } | undefined {
  const token = /^Bearer (.+)$/.exec(seen.headers.authorization ?? "")?.[1] ?? "";
  if (isGood(token)) return seen.path === "/v1/models" ? { status: 200, body: planModels } : undefined;
  seen.refused = "token";
  return { status: 401, body: { error: { message: "the token has expired", code: "token_expired" } } };
}

const unsupported =
  "background conversation max_output_tokens max_tool_calls metadata moderation multi_agent prompt prompt_cache_retention safety_identifier temperature top_logprobs top_p truncation user previous_response_id".split(
    " ",
  );
const namespace = "sawtooth";

/** Checks the rules of the plan, and returns the body as it would be without them. Throws `Refused`. */
export function withoutPlan(body: ResponsesBody): ResponsesBody {
  const odd = unsupported.find((name) => name in body);
  if (odd) throw new Refused(`Unsupported parameter: ${odd}`);
  if (body.stream !== true || body.store !== false) throw new Refused("stream must be true and store false");
  const spaces = (body.tools ?? []) as {
    type?: string;
    name: string;
    description?: string;
    tools?: { name: string }[];
  }[];
  for (const { type, name, description, tools = [] } of spaces)
    if (type !== "namespace" || name !== namespace || !description || tools.length === 0)
      throw new Refused("Function tools must be in a namespace");
  const input = (body.input as Item[]).map((item) => {
    if (item.role === "system") throw new Refused("System messages are not allowed");
    if (item.type !== "function_call") return item;
    const { namespace: of, ...rest } = item;
    if (of !== namespace) throw new Refused("A call must name its namespace");
    return rest as Item;
  });
  return { ...body, input, ...(body.tools ? { tools: spaces.flatMap(({ tools = [] }) => tools) } : {}) };
}

/** A call as the plan's model makes it. */
export function inNamespace(item: Item): Item {
  return item.type === "function_call" ? { ...item, namespace } : item;
}
