/** Mistral's rules for chat completions, in its words: fields, ids of calls, and the order of roles. */

import type { Refused } from "./mock-carried.ts";
import type { OpenaiBody, WireMessage } from "./mock-openai.ts";

/** Fields of a request and of each kind of message, of those that we could send (Mistral's API reference). */
const fields = ["model", "messages", "tools", "tool_choice", "stream", "max_tokens", "temperature"];
const messageFields: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls"],
  tool: ["role", "content", "tool_call_id", "name"],
};
/** Roles that may follow a role, as the validator of mistral-common has them. */
const followers: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

/** Why a server with the chat template of a Mistral model would fail: its roles alternate but for calls and results. */
export function brokenAtTemplate({ messages }: OpenaiBody): Refused | undefined {
  const counted = messages.filter(
    ({ role, tool_calls: calls }) => role === "user" || (role === "assistant" && !calls),
  );
  const wrong = counted.some(({ role }, at) => (role === "user") !== (at % 2 === 0));
  const message =
    "Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.";
  if (wrong) return { message, body: { error: { code: 500, message, type: "server_error" } }, status: 500 };
  return wrongId(messages);
}

/** Why Mistral would refuse the request. */
export function brokenAtMistral(body: OpenaiBody): Refused | undefined {
  return unknownField(body) ?? wrongOrder(body.messages) ?? wrongId(body.messages);
}

function unknownField(body: OpenaiBody): Refused | undefined {
  const extra = (value: object, known: readonly string[]) =>
    Object.keys(value).find((name) => !known.includes(name));
  const top = extra(body, fields);
  if (top) return forbidden(["body", top]);
  for (const [at, message] of body.messages.entries()) {
    const name = extra(message, messageFields[message.role] ?? []);
    if (name) return forbidden(["body", "messages", at, message.role, name]);
  }
  return undefined;
}

function forbidden(loc: readonly (string | number)[]): Refused {
  const detail = [{ type: "extra_forbidden", loc, msg: "Extra inputs are not permitted" }];
  const body = {
    object: "error",
    message: { detail },
    type: "invalid_request_error",
    param: null,
    code: null,
  };
  return { message: `extra_forbidden ${loc.join(".")}`, body, status: 422 };
}

function wrongOrder(messages: readonly WireMessage[]): Refused | undefined {
  for (const [at, { role }] of messages.entries()) {
    const before = messages[at - 1]?.role;
    if (before && !followers[before]?.includes(role))
      return refused(
        `Unexpected role '${role}' after role '${before}'`,
        "invalid_request_message_order",
        "3230",
      );
  }
  const last = messages.at(-1)?.role ?? "";
  if (last === "user" || last === "tool") return undefined;
  const message = `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`;
  return refused(message, "invalid_request_message_order", "3230");
}

function wrongId(messages: readonly WireMessage[]): Refused | undefined {
  const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
    ...calls.map(({ id }) => id),
    id ?? [],
  ]);
  const wrong = ids.flat().find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (wrong === undefined) return undefined;
  const message = `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return refused(message, "invalid_function_call", "3280");
}

function refused(message: string, type: string, code: string): Refused {
  return { message, body: { object: "error", message, type, param: null, code } };
}
