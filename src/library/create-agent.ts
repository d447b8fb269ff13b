/** The package's entry: the agent in a program. */

import { type Conversation, converse } from "../app/conversation.ts";
import { findModel, setEffort } from "../app/model-switch.ts";
import { permissionModes } from "../core/decision.ts";
import { UsageError } from "../core/errors.ts";
import { currentModel, lastOf, lastText, spending, started } from "../core/questions.ts";
import { efforts } from "../core/request.ts";
import { asking } from "./asking.ts";
import { checkMessage, messageBlocks } from "./message.ts";
import { checkModel, checkOptions, sessionOptions } from "./options.ts";
import { modelOf } from "./own-model.ts";
import { ownTools } from "./own-tools.ts";
import type { Agent, AgentOptions, CreateAgent, DefineModel, Message, TurnResult } from "./surface.ts";
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

function agentOver(conversation: Conversation, options: AgentOptions): Agent {
  const { run, follow, interrupt } = conversation;
  const { log, limits } = run.agent;
  const deadline = timer(limits.deadline);
  let closing: Promise<void> | undefined;
  /** True while the pictures of a message are prepared. */
  let preparing = false;
  const checkOpen = (): void => {
    if (closing) throw new UsageError("the agent is closed: create another one");
  };
  const checkFree = (instead: string): void => {
    checkOpen();
    if (preparing || conversation.isBusy()) throw new UsageError(`a turn is running: ${instead}`);
  };
  const turn = async (message: Message, signal?: AbortSignal): Promise<TurnResult> => {
    checkOpen();
    checkMessage(message, "prompt");
    checkFree("wait for its end, or give it the message with steer()");
    preparing = true;
    const given = messageBlocks(message, signal ?? new AbortController().signal);
    const content = await given.finally(() => {
      preparing = false;
    });
    checkOpen();
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
    prompt: (message, { signal } = {}) => turnOf(turn(message, signal), follow),
    async steer(message) {
      checkOpen();
      checkMessage(message, "steer");
      const content = await messageBlocks(message, new AbortController().signal);
      checkOpen();
      return conversation.steer(content);
    },
    ...choicesOf(conversation, options, { checkOpen, checkFree }),
    close() {
      deadline.clear();
      closing ??= conversation.close();
      return closing;
    },
  };
}

/** The choices of a session, and how a program changes them. */
function choicesOf(
  { run, chosen }: Conversation,
  options: AgentOptions,
  { checkOpen, checkFree }: { checkOpen(): void; checkFree(instead: string): void },
): Pick<Agent, "choices" | "setMode" | "setModel" | "setEffort"> {
  const { log } = run.agent;
  const between = "its model and effort change between turns";
  const place = {
    ...{ flags: sessionOptions(options), env: options.env ?? process.env, chosen },
    cwd: started(log.events()).cwd,
  };
  return {
    choices() {
      const { model, effort } = currentModel(log.events());
      return { model: model.id, ...(effort ? { effort } : {}), mode: chosen.mode ?? run.mode };
    },
    setMode(mode) {
      checkOpen();
      checkChoice("setMode", mode, permissionModes);
      chosen.mode = mode;
      run.judgeAgain();
    },
    async setModel(model) {
      checkFree(between);
      checkModel(model, "setModel: the model");
      const { take } = await findModel(model, run, place);
      checkFree(between);
      take();
    },
    setEffort(effort) {
      checkFree(between);
      if (effort !== undefined) checkChoice("setEffort", effort, efforts);
      setEffort(run, effort);
    },
  };
}

function checkChoice(method: string, value: string, values: readonly string[]): void {
  if (!values.includes(value)) throw new UsageError(`${method} takes ${values.join(", ")}, not ${value}`);
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

/** `signal` is aborted at a time in milliseconds since 1970; never without one. */
function timer(deadline: number | undefined) {
  const controller = new AbortController();
  const wait = Math.min(longestMs, Math.max(0, (deadline ?? 0) - Date.now()));
  const id =
    deadline === undefined ? undefined : setTimeout(() => controller.abort("max_time"), wait).unref();
  return { signal: controller.signal, clear: () => clearTimeout(id) };
}
