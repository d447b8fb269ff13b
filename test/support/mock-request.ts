/** Requests to the strict server as tests write them, without any client library. */

import type { MockServer } from "./mock-server.ts";

export type Json = { [key: string]: unknown };
export type Answer = { status: number; headers: Headers; body: Json; message: string };

export const tools = [{ name: "bash", description: "runs", input_schema: { type: "object" } }];

/** A small valid request, changed by `changes`. */
export function requestOf(changes: Json = {}): Json {
  return {
    model: "claude-sonnet-5-5",
    max_tokens: 1000,
    system: "You are a tester.",
    tools,
    messages: [{ role: "user", content: "go on" }],
    ...changes,
  };
}

/** Sends a body (an object, or bytes as they are) and reads the answer; `message` is that of an error. */
export async function post(
  { url }: Pick<MockServer, "url">,
  body: Json | string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
  path = "/v1/messages?beta=true",
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "x-api-key": "any", "anthropic-version": "2023-06-01", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as Json & { error?: { message?: string } };
  const message = answer.error?.message ?? "";
  return { status: response.status, headers: response.headers, body: answer, message };
}

/** Streams a reply; returns the data of the events that came before the end, or before the connection broke. */
export async function stream(
  { url }: Pick<MockServer, "url">,
  body: Json,
  isEnough: (text: string) => boolean = () => false,
): Promise<{ events: Json[]; broke: boolean }> {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "any", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ ...body, stream: true }),
    signal: hangUp.signal,
  });
  let text = "";
  let broke = false;
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (isEnough(text)) hangUp.abort();
    }
  } catch {
    broke = true;
  }
  const lines = [...text.matchAll(/^data: (.*)$/gm)];
  return { events: lines.map(([, data = ""]) => JSON.parse(data) as Json), broke };
}

/** An assistant message with calls of these ids, and the message that answers them. */
export function step(...ids: string[]): Json[] {
  return [
    { role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "bash", input: {} })) },
    { role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })) },
  ];
}
