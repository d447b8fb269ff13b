/** One session of a client: prompts, cancellation, questions, commands, and everything that it is told. */

import {
  type AgentContext,
  type AvailableCommand,
  type ContentBlock,
  methods,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { unknownCallFacts } from "../agent/tool-calls.ts";
import type { Conversation } from "../app/conversation.ts";
import type { Person } from "../app/session.ts";
import type { UserBlock } from "../core/blocks.ts";
import type { TurnEnd } from "../core/events.ts";
import { lastOf, started } from "../core/questions.ts";
import type { Answer, Confirmation, Question } from "../tui/ports/session.ts";
import type { Choices } from "./choices.ts";
import { commandLine, messageOf } from "./message.ts";
import { narrator } from "./narrator.ts";
import { type Audience, replayed, said } from "./updates.ts";

/** The slash commands of a session. */
export type Commands = {
  list(): AvailableCommand[];
  /** Returns what a command prints, and what it says to the model; undefined where there is no such command. */
  run(
    line: { name: string; argument: string },
    way: { busy: boolean; signal: AbortSignal; confirm(question: Confirmation): Promise<boolean> },
  ): Promise<{ text: string; say?: UserBlock[] | undefined } | undefined>;
};

export type Session = ReturnType<typeof sessionOf>;

type Parts = {
  conversation: Conversation;
  client: AgentContext;
  audience: Audience;
  choices: Choices;
  /** Loads the commands. `changed`: called when there are others. */
  commands(changed: () => void): Promise<Commands>;
  /** Returns the title that a list of sessions shows. */
  title(): string;
};

/** Milliseconds before the commands are loaded and told of, so that the first request comes first. */
const commandsMs = 300;

/** Work of a session besides turns; `stop` ends it. */
type Work = { stop: AbortController; running: number };

type Ways = Omit<Parts, "commands"> & {
  send(update: SessionUpdate): void;
  commands: ToldCommands;
  work: Work;
};

/** Puts a session together. From here on the client is told whatever happens in it. */
export function sessionOf(parts: Parts) {
  const { conversation, client, audience, choices } = parts;
  const { run, close } = conversation;
  const { log } = run.agent;
  const { sessionId: id } = run;
  const { cwd } = started(log.events());
  const send = (update: SessionUpdate): void =>
    void client.notify(methods.client.session.update, { sessionId: id, update }).catch(() => {});
  const commands = toldCommands(parts, send);
  const work: Work = { stop: new AbortController(), running: 0 };
  conversation.follow(
    narrator({
      ...{ cwd, audience, send },
      events: log.events,
      describe: (call) => unknownCallFacts(run.agent, call),
    }),
  );
  conversation.follow((happening) => {
    const type = happening.type === "event" ? happening.event.type : undefined;
    if (type === "model_changed" || type === "settings_changed")
      send({ sessionUpdate: "config_option_update", configOptions: choices.options() });
  });
  setTimeout(commands.tell, commandsMs).unref();
  const cancel = async (): Promise<void> => {
    work.stop.abort("interrupted");
    await conversation.interrupt();
  };
  const turn = turnsOf(parts, send, commands);
  const ways: Ways = { ...parts, send, commands, work };
  return {
    ...{ id, cwd, choices, send, cancel, close },
    async prompt(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse> {
      if (work.stop.signal.aborted) work.stop = new AbortController();
      const stop = AbortSignal.any([signal, work.stop.signal]);
      signal.addEventListener("abort", () => void cancel(), { once: true });
      const line = commandLine(prompt);
      const done = line && (await runCommand(ways, line, stop));
      if (done?.say !== undefined) return turn(done.say);
      if (done) return { stopReason: stop.aborted ? "cancelled" : "end_turn" };
      const content = await messageOf(prompt, { artifacts: run.agent.artifacts, signal: stop });
      return stop.aborted ? { stopReason: "cancelled" } : turn(content);
    },
    /** Tells the whole conversation so far. */
    replay(): void {
      for (const update of replayed(log.events(), { cwd, audience })) send(update);
    },
  };
}

/**
 * Returns how a turn is run: to its end, with the title that it gave the session, the choices that waited for it, and
 * the commands that came meanwhile.
 */
function turnsOf({ conversation, choices, title }: Parts, send: Ways["send"], commands: ToldCommands) {
  let titled: string | undefined;
  return async (content: UserBlock[]): Promise<PromptResponse> => {
    const reason = await conversation.prompt(content);
    if (!conversation.isBusy()) choices.settle();
    commands.tellAgain();
    const now = title();
    if (now !== "" && now !== titled) {
      titled = now;
      send({ sessionUpdate: "session_info_update", title: now, updatedAt: new Date().toISOString() });
    }
    return { stopReason: stopReasonOf(reason, conversation) };
  };
}

/** Runs a command and tells what it printed; returns its words for the model, or undefined where there is no such command. */
async function runCommand(
  { conversation, client, commands, send, work }: Ways,
  line: { name: string; argument: string },
  signal: AbortSignal,
): Promise<{ say: UserBlock[] | undefined } | undefined> {
  const busy = conversation.isBusy() || work.running > 0;
  const confirm = async (question: Confirmation) =>
    (await askClient({ client, conversation }, question, signal)).decision === "allow";
  work.running += 1;
  try {
    const done = await (await commands.loaded()).run(line, { busy, signal, confirm });
    if (done && done.text !== "") send(said(done.text, `command-${crypto.randomUUID()}`));
    return done && { say: done.say };
  } finally {
    work.running -= 1;
  }
}

type ToldCommands = ReturnType<typeof toldCommands>;

/** Loads the commands when they are first wanted, and tells the client of them once, and whenever there are others. */
function toldCommands({ commands: load }: Pick<Parts, "commands">, send: (update: SessionUpdate) => void) {
  let loading: Promise<Commands> | undefined;
  let isTold = false;
  let told = "";
  const announce = (commands: Commands): void => {
    const availableCommands = commands.list();
    told = JSON.stringify(availableCommands);
    send({ sessionUpdate: "available_commands_update", availableCommands });
  };
  const loaded = (): Promise<Commands> => {
    loading ??= load(() => void loaded().then(announce));
    return loading;
  };
  return {
    loaded,
    tell(): void {
      if (isTold) return;
      isTold = true;
      void loaded().then(announce);
    },
    /** Tells of the commands where there are others: a server may have told of its prompts. */
    tellAgain(): void {
      if (told === "") return;
      void loaded().then((commands) => {
        if (JSON.stringify(commands.list()) !== told) announce(commands);
      });
    },
  };
}

/** `forms`: the client shows forms. */
type Asking = Pick<Parts, "client"> & { conversation: Pick<Conversation, "run">; forms: boolean };

/** Asks the client's user. No when the client answers otherwise, is gone, or the signal fires. */
async function askClient(
  { client, conversation: { run } }: Omit<Asking, "forms">,
  question: Question | Confirmation,
  signal: AbortSignal,
): Promise<Answer> {
  const { askedOf, answerIn } = await import("./permission.ts");
  const id = "toolUseId" in question ? question.toolUseId : undefined;
  const { sessionId } = run;
  const toolCallId = id ?? `question-${crypto.randomUUID()}`;
  const asked = askedOf(question, toolCallId, started(run.agent.log.events()).cwd);
  const { title, ...call } = asked.toolCall;
  // A question of its own is a call that is told of first, and that ends with the answer.
  const tell = (update: SessionUpdate) => client.notify(methods.client.session.update, { sessionId, update });
  if (id === undefined)
    await tell({ sessionUpdate: "tool_call", ...(call as object), toolCallId, title: title ?? "Question" });
  const request: RequestPermissionRequest = { sessionId, toolCall: asked.toolCall, options: asked.options };
  const answer = await client
    .request(methods.client.session.requestPermission, request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })
    .then(({ outcome }) => answerIn(outcome, asked))
    .catch((): Answer => ({ decision: "deny", say: "" }));
  if (id === undefined)
    await tell({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: answer.decision === "allow" ? "completed" : "failed",
    });
  return answer;
}

/**
 * Asks with a form. A client that shows none gets a question of yes or no about what stands in it; where that is not
 * enough, or what the client sends does not fit, the answer is no, and told.
 */
async function askForm(parts: Asking, question: Question, signal: AbortSignal): Promise<Answer> {
  const { asItStands, filledIn, formIn } = await import("./elicitation.ts");
  const form = formIn(question);
  if (!form) return askClient(parts, question, signal);
  const { client, forms, conversation } = parts;
  const { sessionId } = conversation.run;
  const refused = (why: string): Answer => {
    const update = said(
      `${form.title} for input, and was declined: ${why}`,
      `question-${crypto.randomUUID()}`,
    );
    void client.notify(methods.client.session.update, { sessionId, update }).catch(() => {});
    return { decision: "deny", say: "" };
  };
  if (forms) {
    const answer = await filledIn(form, { client, sessionId, signal });
    return "problem" in answer ? refused(answer.problem) : answer;
  }
  const still = asItStands(form);
  if (!still) return refused("this editor shows no forms");
  const answer = await askClient(parts, { ...question, elicitation: still.asked }, signal);
  return answer.decision === "allow" ? still.yes : answer;
}

/** Returns how sessions ask before there is one to ask in. `session`: the one that asks. */
export function asking(session: () => Asking | undefined): Person["ask"] {
  return async (question, signal, onShown) => {
    onShown?.();
    const parts = session();
    if (!parts) return { decision: "deny", say: "" };
    return question.elicitation?.fields
      ? askForm(parts, question, signal)
      : askClient(parts, question, signal);
  };
}

/** Throws a `RequestError` for a turn that failed. */
function stopReasonOf(reason: TurnEnd, { run }: Conversation): StopReason {
  const { log } = run.agent;
  switch (reason) {
    case "completed":
      return "end_turn";
    case "interrupted":
      return "cancelled";
    case "refusal":
    case "hook":
      return "refusal";
    case "output_limit":
    case "context_full":
      return "max_tokens";
    case "max_turns":
    case "max_budget":
    case "max_time":
    case "loop":
      return "max_turn_requests";
    case "model_error":
    case "error": {
      const detail = lastOf(log.events(), "turn_ended")?.detail ?? "the turn failed";
      if (reason === "model_error" && lastOf(log.events(), "model_failed")?.kind === "credentials")
        throw RequestError.authRequired(undefined, detail);
      throw RequestError.internalError(undefined, detail);
    }
  }
}
