/** Tells a client what happens in a session while it happens. */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { isToolUse, type Search, type ToolUseBlock } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import type { Happening, ModelPart } from "../core/ports.ts";
import { findCall } from "../core/questions.ts";
import { searchesIn } from "../core/text/search-text.ts";
import type { CallFacts } from "../core/tool-calls.ts";
import { callOf, fenced, kindOf, resultOf, textContent, unfinished } from "./calls.ts";
import {
  type Audience,
  asideOf,
  callIn,
  said,
  searchTold,
  textOf,
  thought,
  thoughtsOf,
  usageOf,
} from "./updates.ts";

export type Scene = {
  /** Folder of the session. */
  cwd: string;
  audience: Audience;
  events(): readonly LogEvent[];
  /** Describes a call of a tool that core does not know. */
  describe(call: ToolUseBlock): CallFacts | undefined;
  send(update: SessionUpdate): void;
};

/**
 * A text as it streams in. `earlier`: what an attempt that failed has said already, and the new one says again.
 * `apart`: something else came since.
 */
type Stream = { received: string; earlier: string; apart: boolean };
/** The reply that streams in. `attempt`: counts the beginnings that a client was told. `calls`: ids told so far. */
type Reply = {
  id: number;
  attempt: number;
  text: Stream;
  thoughts: Stream;
  calls: Set<string>;
  searches: Set<string>;
};

/** Milliseconds between two tellings of a running call's output. */
const progressMs = 200;

/** Returns the listener of a session. */
export function narrator(scene: Scene): (happening: Happening) => void {
  let reply = noReply(0);
  const progress = progressTold(scene);
  return (happening) => {
    if (happening.type === "part") onPart(scene, reply, happening.part);
    else if (happening.type === "progress") progress.tell(happening.toolUseId, happening.text);
    else {
      const { event } = happening;
      if (event.type === "model_request") reply = noReply(event.seq);
      if (event.type === "tool_result") progress.end(event.toolUseId);
      onEvent(scene, reply, event);
    }
  };
}

function noReply(id: number): Reply {
  const stream = (): Stream => ({ received: "", earlier: "", apart: false });
  return { id, attempt: 1, text: stream(), thoughts: stream(), calls: new Set(), searches: new Set() };
}

function onPart(scene: Scene, reply: Reply, part: ModelPart): void {
  const { text, thoughts } = reply;
  switch (part.type) {
    case "text_delta":
      thoughts.apart = true;
      sayNext(reply, text, part.text, (words) => scene.send(said(words, idOf("reply", reply))));
      break;
    case "thinking_delta":
      text.apart = true;
      sayNext(reply, thoughts, part.text, (words) => scene.send(thought(words, idOf("thought", reply))));
      break;
    case "tool_use_started": {
      text.apart = true;
      thoughts.apart = true;
      const { id, name } = part;
      // An id that was there before gets another one in the log.
      if (findCall(scene.events(), id)) break;
      reply.calls.add(id);
      const kind = kindOf({ call: { name, input: {} } });
      scene.send({ sessionUpdate: "tool_call", toolCallId: id, title: name, name, kind, status: "pending" });
      break;
    }
    case "searched":
      text.apart = true;
      thoughts.apart = true;
      tellSearch(scene, reply, part.search);
      break;
    case "input_delta":
      break;
    case "attempt_failed":
      dropCalls(scene, reply);
      for (const stream of [text, thoughts]) {
        if (stream.received.length > stream.earlier.length) stream.earlier = stream.received;
        Object.assign(stream, { received: "", apart: false });
      }
  }
}

function idOf(kind: "reply" | "thought", { id, attempt }: Reply): string {
  return attempt === 1 ? `${kind}-${id}` : `${kind}-${id}.${attempt}`;
}

/** Says the new part of a stream; an attempt that begins like the failed one before it is only told from there on. */
function sayNext(reply: Reply, stream: Stream, part: string, say: (words: string) => void): void {
  const before = stream.received;
  stream.received += stream.apart && before !== "" ? `\n\n${part}` : part;
  stream.apart = false;
  const { received, earlier } = stream;
  if (earlier.startsWith(received)) return;
  stream.earlier = "";
  const goesOn = received.startsWith(earlier);
  if (!goesOn) reply.attempt += 1;
  say(goesOn ? received.slice(Math.max(before.length, earlier.length)) : received);
}

/** Tells of a search of the provider, once. */
function tellSearch({ send }: Scene, { searches }: Reply, search: Search): void {
  if (searches.has(search.id)) return;
  for (const update of searchTold(search)) {
    searches.add(search.id);
    send(update);
  }
}

/** Ends the calls that were told of and never came. */
function dropCalls({ send }: Scene, { calls }: Reply): void {
  for (const id of calls) send({ sessionUpdate: "tool_call_update", ...unfinished(id) });
  calls.clear();
}

function onEvent(scene: Scene, reply: Reply, event: LogEvent): void {
  const { send, events, cwd, audience } = scene;
  switch (event.type) {
    case "assistant_message":
      endReply(scene, reply, event);
      send(usageOf(events()));
      break;
    case "summary_call":
      send(usageOf(events()));
      break;
    case "permission_decided":
      if (event.decision === "allow")
        send({ sessionUpdate: "tool_call_update", toolCallId: event.toolUseId, status: "in_progress" });
      break;
    case "tool_result": {
      const seen = { call: callIn(events(), event.toolUseId, event.toolName), facts: event.call, cwd };
      send({ sessionUpdate: "tool_call_update", ...resultOf(event, seen) });
      break;
    }
    case "turn_ended":
      dropCalls(scene, reply);
  }
  for (const update of asideOf(event, events(), { cwd, audience, past: false })) send(update);
}

/** Tells the rest of a reply, which is whole now, and its calls. */
function endReply(scene: Scene, reply: Reply, { content }: EventOf<"assistant_message">): void {
  const { send, describe, cwd } = scene;
  rest(reply.thoughts, thoughtsOf(content), (words) => send(thought(words, idOf("thought", reply))));
  for (const search of searchesIn(content)) tellSearch(scene, reply, search);
  rest(reply.text, textOf(content), (words) => send(said(words, idOf("reply", reply))));
  for (const call of content.filter(isToolUse)) {
    const told = callOf(call.id, { call, facts: describe(call), cwd });
    const isTold = reply.calls.delete(call.id);
    send(isTold ? { sessionUpdate: "tool_call_update", ...told } : { sessionUpdate: "tool_call", ...told });
  }
  dropCalls(scene, reply);
}

function rest({ received, earlier }: Stream, whole: string, say: (words: string) => void): void {
  const told = received.length > earlier.length ? received : earlier;
  if (whole.length > told.length && whole.startsWith(told)) say(whole.slice(told.length));
}

/** Tells the output of running calls, not more often than a person can read. */
function progressTold({ send }: Scene) {
  const running = new Map<string, { text: string; told: string; timer?: NodeJS.Timeout }>();
  const tell = (id: string): void => {
    const call = running.get(id);
    if (!call) return;
    delete call.timer;
    if (call.text === call.told) return;
    call.told = call.text;
    send({
      sessionUpdate: "tool_call_update",
      toolCallId: id,
      content: [textContent(fenced(call.text))],
    });
    call.timer = setTimeout(() => tell(id), progressMs).unref();
  };
  return {
    tell(id: string, text: string): void {
      const call = running.get(id) ?? { text, told: "" };
      running.set(id, call);
      call.text = text;
      if (!call.timer) tell(id);
    },
    end(id: string): void {
      clearTimeout(running.get(id)?.timer);
      running.delete(id);
    },
  };
}
