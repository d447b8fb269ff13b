/**
 * The least that any agent must do: send the whole history, read the reply, keep it and the result in a log that
 * is on the disk before it goes on. The overhead of a step is measured beside this.
 */

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

type Block = { type: string; id?: string; name?: string; input?: unknown; text?: string };

const log = openSync("bare-client.jsonl", "a", 0o600);
const messages: object[] = [{ role: "user", content: "hi" }];
for (;;) {
  const reply = await send();
  keep({ role: "assistant", content: reply.content });
  if (reply.stopReason !== "tool_use") break;
  const results = reply.content.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
  keep({ role: "user", content: results });
}
closeSync(log);

function keep(message: object): void {
  messages.push(message);
  writeSync(log, `${JSON.stringify(message)}\n`);
  fsyncSync(log);
}

async function send(): Promise<{ content: Block[]; stopReason: string }> {
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "bench-key" },
    body: JSON.stringify({ model: "claude-sonnet-5-5", max_tokens: 1000, stream: true, messages }),
  });
  const events = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
  const content: Block[] = [];
  let stopReason = "";
  let json = "";
  for (const line of events) {
    const event = JSON.parse(line.slice(6));
    if (event.type === "content_block_start") content.push(event.content_block);
    if (event.type === "content_block_delta") json += event.delta.partial_json ?? "";
    if (event.type === "message_delta") stopReason = event.delta.stop_reason;
  }
  const last = content.at(-1);
  if (last && json) last.input = JSON.parse(json);
  return { content, stopReason };
}
