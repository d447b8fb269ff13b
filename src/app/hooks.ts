/** Puts the person's hooks into a session. They are loaded where the settings have some. */

import { join } from "node:path";
import type { Agent, Permission } from "../agent/agent.ts";
import type { Settings } from "../config/settings.ts";
import { resultText } from "../core/blocks.ts";
import type { UserMessage } from "../core/events.ts";
import type { HooksOptions, SessionHooks } from "../hooks/session-hooks.ts";
import type { OpenSession } from "../session/store.ts";
import type { Person } from "./session.ts";

/** Returns the hooks of a session; undefined where the settings have none. Throws `UsageError`. */
export async function hooksOf(
  { hooks: value }: Pick<Settings, "hooks">,
  { id, folder, artifacts, log }: OpenSession,
  more: Pick<HooksOptions, "project" | "cwd" | "mode" | "env" | "redact"> & {
    file: string;
    /** Nothing begins for the person with a sub-agent. */
    isDelegate: boolean;
    warn(text: string): void;
  },
): Promise<SessionHooks | undefined> {
  if (!value || Object.keys(value).length === 0) return undefined;
  const [{ hooksFrom }, { sessionHooks }] = await Promise.all([
    import("../hooks/configuration.ts"),
    import("../hooks/session-hooks.ts"),
  ]);
  const { file, isDelegate, warn, ...facts } = more;
  const hooks = hooksFrom(file, value, warn);
  const session = { sessionId: id, transcript: join(folder, "events.jsonl"), artifacts };
  const tell = (text: string): void => void log.append({ type: "warning", text: more.redact(text) });
  const made = sessionHooks({ ...session, ...facts, hooks, warn: tell });
  if (isDelegate) return made;
  const resumed = log.events().some(({ type }) => type === "user_message");
  made.start(resumed ? "resume" : "startup");
  return made;
}

/** Throws `UsageError` for hooks in the settings of `file` that could not be used. */
export async function checkHooks({ hooks = {} }: Pick<Settings, "hooks">, file: string): Promise<void> {
  (await import("../hooks/configuration.ts")).hooksFrom(file, hooks);
}

/** Adds the hooks to what the agent does around a call and at the end of a turn. */
export function watchedBy(
  hooks: SessionHooks | undefined,
  isDelegate: boolean,
): Pick<Agent, "afterCall" | "beforeEnd" | "takeStop"> {
  if (!hooks) return {};
  return {
    afterCall: ({ id, tool, input }, { content, isError = false }, signal) =>
      hooks.afterCall({ id, name: tool.name, input }, { text: resultText(content), isError }, signal),
    ...(isDelegate ? {} : { beforeEnd: hooks.beforeEnd }),
    takeStop: hooks.takeStop,
  };
}

/**
 * Asks the hooks first: they can deny a call, or have a person asked about it. What they would allow is left to rules
 * and mode. `ask`: absent where nobody is there.
 */
export function permitHooked(
  permit: Agent["permit"],
  hooks: SessionHooks | undefined,
  ask: Person["ask"] | undefined,
): Agent["permit"] {
  if (!hooks) return permit;
  return async (call, signal): Promise<Permission> => {
    const { id, tool, input } = call;
    const said = await hooks.beforeCall({ id, name: tool.name, input }, signal);
    const record = { rule: said.rule, by: "hook" as const };
    if (said.block !== undefined) return { decision: "deny", ...record, reason: said.block };
    const permission = await permit(call, signal);
    if (said.ask === undefined || permission.decision === "deny" || permission.by === "user")
      return permission;
    const asked = { reason: said.ask };
    if (!ask)
      return { decision: "deny", ...record, asked, reason: `${said.ask} Nobody is here to be asked.` };
    const answer = await ask({ toolUseId: id, toolName: tool.name, input, reason: said.ask }, signal);
    const mode = permission.mode ? { mode: permission.mode } : {};
    if (answer.decision === "allow")
      return { decision: "allow", rule: said.rule, by: "user", ...mode, asked };
    const { say } = answer;
    const reason = say
      ? `The user did not allow this, and says what to do instead: ${say}`
      : "The user did not allow this.";
    return { decision: "deny", rule: said.rule, by: "user", ...mode, asked: { ...asked, say }, reason };
  };
}

/** Tells the hooks that a question waits for the person. */
export function askNotifying(ask: Person["ask"], hooks: SessionHooks | undefined): Person["ask"] {
  if (!hooks) return ask;
  return (question, signal, onShown) => {
    const subject = "toolName" in question ? question.toolName : "";
    hooks.notify("permission_prompt", `Sawtooth needs your permission${subject ? ` to use ${subject}` : ""}`);
    return ask(question, signal, onShown);
  };
}

/** Leaves out the messages of a running turn that a hook refuses; each is told, with its text. */
export async function passedBy(
  hooks: SessionHooks,
  messages: readonly UserMessage[],
  log: OpenSession["log"],
): Promise<UserMessage[]> {
  const passed: UserMessage[] = [];
  for (const message of messages) {
    const text = resultText(message.content);
    const refused = message.shell ? undefined : await hooks.beforePrompt(text, new AbortController().signal);
    if (refused === undefined) passed.push(message);
    else
      log.append({
        type: "warning",
        text: `a hook refused your message (${refused}): ${text.slice(0, 500)}`,
      });
  }
  return passed;
}
