/** The package's entry: the agent in a program. */

import { type Conversation, converse } from "../app/conversation.ts";
import { UsageError } from "../core/errors.ts";
import { lastOf, lastText, spending } from "../core/questions.ts";
import { asking } from "./asking.ts";
import { checkOptions, sessionOptions } from "./options.ts";
import { modelOf } from "./own-model.ts";
import { ownTools } from "./own-tools.ts";
import type { Agent, AgentOptions, CreateAgent, DefineModel, TurnResult } from "./surface.ts";
import { turnOf } from "./turn.ts";

export { UsageError } from "../core/errors.ts";
export { ModelError } from "../core/ports.ts";

export const defineModel: DefineModel = modelOf;

/** The longest timer of Node, in milliseconds. */
const longestMs = 2 ** 31 - 1;

export const createAgent: CreateAgent = async (options = {}) => {
  checkOptions(options);
  const tools = ownTools(options.tools ?? []);
  const { warn, warnIn } = warnings();
  const { model, permission, env = process.env, cwd = process.cwd() } = options;
  const conversation = await converse({
    ...{ flags: sessionOptions(options), env, cwd, tools, warn },
    ...(model && typeof model !== "string" ? { model } : {}),
    ...(permission ? { ask: asking(permission, warn) } : {}),
    // Errors that nobody catches belong to the program, which has its own way to meet them.
    uncaught: { guard: (signal, call) => call(signal), close() {} },
    crashed() {},
  });
  warnIn(conversation);
  return agentOver(conversation, options);
};

/** Keeps what is warned of until there is a session, and writes it into its log from then on. */
function warnings() {
  const early: string[] = [];
  let log: Conversation["run"]["agent"]["log"] | undefined;
  const warn = (text: string): void => {
    if (log) log.append({ type: "warning", text });
    else early.push(text);
  };
  return {
    warn,
    warnIn({ run }: Conversation): void {
      log = run.agent.log;
      for (const text of early.splice(0)) warn(text);
    },
  };
}

function agentOver(conversation: Conversation, { permission }: AgentOptions): Agent {
  const { run, follow, interrupt, chosen } = conversation;
  const { log, limits } = run.agent;
  const deadline = timer(limits.deadline);
  let closing: Promise<void> | undefined;
  const checkOpen = (): void => {
    if (closing) throw new UsageError("the agent is closed: create another one");
  };
  const turn = async (text: string, signal: AbortSignal | undefined): Promise<TurnResult> => {
    checkOpen();
    const content = contentOf(text, "prompt");
    if (conversation.isBusy())
      throw new UsageError("a turn is running: wait for its end, or give it the message with steer()");
    const before = { at: log.events().length, costUsd: spending(log.events()).cost };
    const signals = [deadline.signal, ...(signal ? [signal] : [])];
    const reason = await conversation.prompt(content, AbortSignal.any(signals));
    const { detail } = lastOf(log.events(), "turn_ended") ?? {};
    return {
      ...{ reason, text: lastText(log.events().slice(before.at)) },
      costUsd: spending(log.events()).cost - before.costUsd,
      ...(detail === undefined ? {} : { detail }),
    };
  };
  return {
    ...{ sessionId: run.sessionId, folder: run.folder, log: { events: log.events }, interrupt },
    follow: (listener) => follow(apart(listener)),
    prompt: (text, { signal } = {}) => turnOf(turn(text, signal), follow),
    steer(text) {
      checkOpen();
      return conversation.steer(contentOf(text, "steer"));
    },
    setMode(mode) {
      checkOpen();
      if (!permission)
        throw new UsageError("setMode needs the option permission: nobody is asked without it");
      chosen.mode = mode;
      run.judgeAgain();
    },
    close() {
      deadline.clear();
      closing ??= conversation.close();
      return closing;
    },
  };
}

/** An error that a listener throws is the program's, and stops no turn. */
function apart<T>(listener: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      listener(value);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

/** Throws `UsageError` for a message that says nothing. */
function contentOf(text: string, name: string) {
  if (typeof text !== "string" || text.trim() === "")
    throw new UsageError(`${name} needs a text that says something`);
  return [{ type: "text" as const, text: text.toWellFormed() }];
}

/** `signal` is aborted at a time in milliseconds since 1970; never without one. */
function timer(deadline: number | undefined) {
  const controller = new AbortController();
  const wait = Math.min(longestMs, Math.max(0, (deadline ?? 0) - Date.now()));
  const id =
    deadline === undefined ? undefined : setTimeout(() => controller.abort("max_time"), wait).unref();
  return { signal: controller.signal, clear: () => clearTimeout(id) };
}
