/** The hooks of a session: runs those of a moment side by side, and keeps what they say for the model and the person. */

import { resolve } from "node:path";
import type { Artifacts } from "../core/ports.ts";
import { redactedValue } from "../core/secrets/redact.ts";
import type { Environment } from "../core/secrets/secrets.ts";
import { headOf, utf8Length } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import type { Hook, HookEvent } from "./configuration.ts";
import { runHook } from "./run-hook.ts";
import { hookCall } from "./tool-names.ts";
import { combined, type HookVerdict, hookName, verdictOf } from "./verdict.ts";

/** A call, and what came of it. */
export type RanCall = { id: string; name: string; input: Record<string, unknown> };
export type RanOutput = { text: string; isError: boolean };

export type SessionHooks = {
  /** Runs those of SessionStart in the background; `beforePrompt` waits for them. `source`: how the session began. */
  start(source: "startup" | "resume"): void;
  /** Resolves with why a message must not be sent; undefined lets it pass. */
  beforePrompt(text: string, signal: AbortSignal): Promise<string | undefined>;
  /** Asks about a call before it runs. `rule` names the hooks that were asked. */
  beforeCall(
    call: RanCall,
    signal: AbortSignal,
  ): Promise<Pick<HookVerdict, "block" | "ask"> & { rule: string }>;
  /** Tells of a call that ran. What hooks say to it is a notice. */
  afterCall(call: RanCall, output: RanOutput, signal: AbortSignal): Promise<void>;
  /** Resolves with why the model has to go on; undefined lets the turn end. `sentBack`: times that it went on so far. */
  beforeEnd(sentBack: number, signal: AbortSignal): Promise<string | undefined>;
  /** Returns why a hook ends the turn, once. */
  takeStop(): string | undefined;
  /** Texts of hooks for the model, in order; taken once. */
  takeNotices(): string[];
  /** Tells that Sawtooth waits for the person. Nobody waits for these hooks. */
  notify(cause: "permission_prompt" | "idle_prompt", message: string): void;
};

export type HooksOptions = {
  hooks: readonly Hook[];
  sessionId: string;
  /** Absolute path of the log. */
  transcript: string;
  /** Absolute folder that the workspace begins in. */
  project: string;
  cwd(): string;
  /** The permission mode now. */
  mode(): string;
  env: Environment;
  artifacts: Artifacts;
  redact(text: string): string;
  /** Shows one line to the person. */
  warn(text: string): void;
};

/** A gate may send the model back this often in a turn. */
const mostSentBack = 3;
/** Bytes of a hook's text that the model reads; the rest lies in a file. */
const longestText = 2048;
/** Bytes of a result that a hook reads. */
const longestResult = 64 * 1024;

/** The modes as Claude Code calls them. */
const modeNames: Readonly<Record<string, string>> = {
  ask: "default",
  "accept-edits": "acceptEdits",
  auto: "bypassPermissions",
};

/** Creates the hooks of a session. Nothing runs yet. */
export function sessionHooks(options: HooksOptions): SessionHooks {
  const notices: string[] = [];
  let stop: string | undefined;
  let starting: Promise<unknown> = Promise.resolve();
  const run = async (event: HookEvent, names: readonly string[], fields: object, signal: AbortSignal) => {
    const verdict = await askAll(options, event, names, fields, signal);
    for (const text of verdict.context) notices.push(noticeOf(options, event, text));
    for (const text of verdict.messages) options.warn(text);
    stop ??= verdict.stop;
    return verdict;
  };
  return {
    start(source) {
      starting = run("SessionStart", [source], { source }, new AbortController().signal);
    },
    async beforePrompt(prompt, signal) {
      await starting;
      const { block } = await run("UserPromptSubmit", [], { prompt }, signal);
      const ended = stop;
      stop = undefined;
      return block ?? ended;
    },
    async beforeCall(call, signal) {
      const { names, fields } = callFields(call, options);
      const { block, ask } = await run("PreToolUse", names, fields, signal);
      const rule = ruleOf(options.hooks, names);
      return { rule, ...(block === undefined ? {} : { block }), ...(ask === undefined ? {} : { ask }) };
    },
    async afterCall(call, { text, isError }, signal) {
      const { names, fields } = callFields(call, options);
      const content = headOf(text, longestResult);
      const tool_response = { content, stdout: content, stderr: "", is_error: isError, interrupted: false };
      await run("PostToolUse", names, { ...fields, tool_response }, signal);
    },
    async beforeEnd(sentBack, signal) {
      const { block } = await run("Stop", [], { stop_hook_active: sentBack > 0 }, signal);
      // It ends anyway.
      stop = undefined;
      if (block === undefined || signal.aborted) return undefined;
      if (sentBack < mostSentBack) return noticeOf(options, "Stop", block);
      options.warn(`a hook of Stop sent the model back ${mostSentBack} times; the turn ends all the same`);
      return undefined;
    },
    takeStop() {
      const reason = stop;
      stop = undefined;
      return reason;
    },
    takeNotices: () => notices.splice(0),
    notify(cause, message) {
      void run("Notification", [cause], { message, notification_type: cause }, new AbortController().signal);
    },
  };
}

/** Runs the hooks of a moment. The same line runs once. */
async function askAll(
  options: HooksOptions,
  event: HookEvent,
  names: readonly string[],
  fields: object,
  signal: AbortSignal,
): Promise<HookVerdict> {
  const meant = options.hooks.filter(
    (hook) => hook.event === event && (hook.matches(names) || (names.length === 0 && hook.matches([""]))),
  );
  const unique = [...new Map(meant.map((hook) => [hook.command, hook])).values()];
  if (unique.length === 0) return { context: [], messages: [] };
  const { sessionId, transcript, project, env, redact } = options;
  const cwd = options.cwd();
  const value = {
    ...{ session_id: sessionId, transcript_path: transcript, cwd },
    permission_mode: modeNames[options.mode()] ?? options.mode(),
    hook_event_name: event,
    ...fields,
  };
  const input = `${JSON.stringify(redactedValue(value, redact))}\n`;
  const own = { ...env, CLAUDE_PROJECT_DIR: project, SAWTOOTH_PROJECT_DIR: project };
  const verdicts = unique.map(async (hook) => {
    const { command, timeoutMs } = hook;
    return verdictOf(hook, await runHook({ command, input, cwd, env: own, timeoutMs, signal }));
  });
  return combined(await Promise.all(verdicts));
}

function callFields({ id, name, input }: RanCall, { project }: HooksOptions) {
  const { names, input: said } = hookCall(name, input);
  const path = said.file_path;
  const tool_input = typeof path === "string" ? { ...said, file_path: resolve(project, path) } : said;
  const own = { tool_name: name, tool_input: input };
  return { names, fields: { tool_name: names[0], tool_input, tool_use_id: id, sawtooth: own } };
}

/** Names the first hook that was asked about a call. */
function ruleOf(hooks: readonly Hook[], names: readonly string[]): string {
  const asked = hooks.find(({ event, matches }) => event === "PreToolUse" && matches(names));
  return hookName("PreToolUse", asked?.command ?? "");
}

function noticeOf({ artifacts }: HooksOptions, event: HookEvent, text: string): string {
  const shown = showHidden(text);
  if (utf8Length(shown) <= longestText) return `A hook (${event}) of the user says:\n${shown}`;
  const file = artifacts.write("txt", shown);
  const head = headOf(shown, longestText);
  return `A hook (${event}) of the user says:\n${head}\n[${shown.length - head.length} more characters: the whole text is in ${file}]`;
}
