/** Signs thinking blocks and checks those that come back (provider-facts §2). */

import { createHmac } from "node:crypto";
import type { MockModel } from "./mock-models.ts";
import { bindingBeta, thinks } from "./mock-validate.ts";
import {
  hashOf,
  isThinkingBlock,
  RefusedError,
  type WireBlock,
  type WireBody,
  withoutMarkers,
} from "./mock-wire.ts";

/** The content of a signature. Nothing else is remembered: another server process can check it as well. */
type Claims = {
  model: string;
  /** Hash of everything before the block but thinking. */
  prefix: string;
  /** Hash of the block's text. A redacted block has none: its data is the signature. */
  text: string;
  /** Id of the thinking block before it, empty when there was none, and how many there were. */
  previous: string;
  before: number;
};

type Seen = { path: string; message: number; at: number; claims: Claims; id: string; prefix: string };

export type ThinkingCheck = {
  /** The body as the model sees it, without blocks that were dropped. */
  body: WireBody;
  /** Paths of dropped blocks. */
  dropped: string[];
  /** Signs the next thinking block of the reply, by the text that is sent of it. */
  sign(thinking: string): string;
};

/**
 * Thinking may be left out from the start, from the end, or all of it. So each block must follow the same one as
 * when it was signed, or none; and no more of them than there were then, else one was put back. `found`: what the reply begins with, which its thinking is bound to as well.
 */
export function checkThinking(
  body: WireBody,
  model: MockModel,
  { betas, found = [] }: { betas: ReadonlySet<string>; found?: WireBlock[] },
): ThinkingCheck {
  const { seen, end: asked } = walk(body.messages, beginning(body));
  const { end } = walk([{ role: "assistant", content: found }], asked);
  const drop =
    betas.has(bindingBeta) && body.thinking?.block_binding?.prefix_mismatch_behavior === "drop_block";
  const isBroken = (block: Seen, at: number) => !isBound(block, seen[at - 1], at, model);
  const broken = model.history === "free" ? -1 : seen.findIndex(isBroken);
  const failing = seen[broken];
  if (failing && !drop) {
    throw new RefusedError(
      `${failing.path}: Invalid "signature" in "thinking" block. The block is bound to a different conversation: ` +
        "what was sent before it has changed since it was created.",
    );
  }
  const kept = failing ? seen.slice(0, broken) : seen;
  const dropped = failing ? seen.slice(broken) : [];
  let last = kept.at(-1)?.id ?? "";
  let count = kept.length;
  return {
    body: { ...body, messages: withoutBlocks(body, dropped) },
    dropped: dropped.map((block) => block.path),
    sign(thinking) {
      const claims = { model: model.id, prefix: end, text: hashOf(thinking), previous: last, before: count };
      const token = tokenOf(claims);
      last = idOf(token);
      count += 1;
      return token;
    },
  };
}

/** Thinking that a free model needs to go on with its tool loop: that of the newest assistant message. */
export function checkRunningLoop(
  body: WireBody,
  model: MockModel,
  thoughtFor: ReadonlyMap<string, string[]>,
): void {
  if (model.history !== "free" || !thinks(body, model)) return;
  const newest = body.messages.findLastIndex((message) => message.role === "assistant");
  const inLoop = body.messages.slice(newest + 1).some(({ content }) => content[0]?.type === "tool_result");
  if (newest < 0 || !inLoop) return;
  const content = body.messages[newest]?.content ?? [];
  const present = new Set(content.filter(isThinkingBlock).map(tokenIn));
  const needed = content.flatMap((block) => thoughtFor.get(block.id ?? "") ?? []);
  if (needed.every((token) => present.has(token))) return;
  throw new RefusedError(
    `messages.${newest}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${content[0]?.type}\`. ` +
      "When `thinking` is enabled, the assistant message of a running tool loop must keep its thinking blocks.",
  );
}

/** The signature of a thinking block, or the data of a redacted one. */
export function tokenIn(block: WireBlock): string {
  return block.signature ?? block.data ?? "";
}

/** The hash of what comes before the messages. */
function beginning({ tools, system }: WireBody): string {
  return hashOf(JSON.stringify([tools.map(withoutMarkers), system.map(withoutMarkers)]));
}

/** Goes through messages that follow what has the hash `prefix`; `end` is the hash of all that comes before a reply. */
function walk(messages: WireBody["messages"], prefix: string): { seen: Seen[]; end: string } {
  const seen: Seen[] = [];
  let end = prefix;
  for (const [message, { role, content, clear_at }] of messages.entries()) {
    for (const [at, block] of content.entries()) {
      if (isThinkingBlock(block)) seen.push({ ...read(block, message, at), prefix: end });
      else end = hashOf(end, role, clear_at ?? "", JSON.stringify(withoutMarkers(block)));
    }
  }
  return { seen, end };
}

function isBound(
  { claims, prefix }: Seen,
  last: Seen | undefined,
  before: number,
  model: MockModel,
): boolean {
  const follows = last === undefined || last.id === claims.previous;
  return claims.model === model.id && claims.prefix === prefix && follows && before <= claims.before;
}

function read(block: WireBlock, message: number, at: number): Omit<Seen, "prefix"> {
  const path = `messages.${message}.content.${at}`;
  const token = tokenIn(block);
  const claims = claimsIn(token);
  const intact = block.type === "redacted_thinking" || claims?.text === hashOf(block.thinking ?? "");
  if (!claims || !intact) {
    throw new RefusedError(
      `${path}: Invalid "signature" in "${block.type}" block. The block was altered, or was not made by this API.`,
    );
  }
  return { path, message, at, claims, id: idOf(token) };
}

function tokenOf(claims: Claims): string {
  const said = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return `${said}.${seal(said)}`;
}

function claimsIn(token: string): Claims | undefined {
  const [said = "", sealed] = token.split(".");
  return sealed === seal(said)
    ? (JSON.parse(Buffer.from(said, "base64url").toString()) as Claims)
    : undefined;
}

function seal(said: string): string {
  return createHmac("sha256", "strict").update(said).digest("base64url").slice(0, 22);
}

function idOf(token: string): string {
  return token.slice(-22);
}

function withoutBlocks(body: WireBody, dropped: readonly Seen[]): WireBody["messages"] {
  if (dropped.length === 0) return body.messages;
  return body.messages.map((message, index) => ({
    ...message,
    content: message.content.filter(
      (_, at) => !dropped.some((block) => block.message === index && block.at === at),
    ),
  }));
}
