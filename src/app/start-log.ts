/** Writes the beginning of a session's log, and the changes of a resumed one. Checked before anything is written. */

import { isDeepStrictEqual } from "node:util";
import { withLearnedWindow } from "../agent/learned-window.ts";
import type { Settings } from "../config/settings.ts";
import { policyInputOf } from "../context/policies/policy-input.ts";
import { contextNames, type NamedStack, readStack, stackNamed } from "../context/policies/stacks.ts";
import { fixedTokens } from "../context/view/tokens.ts";
import { applyEvents } from "../context/view/view.ts";
import { UsageError } from "../core/errors.ts";
import type { EventBody, LogEvent } from "../core/events.ts";
import type { ModelCard } from "../core/model-card.ts";
import type { Model, Tool } from "../core/ports.ts";
import { currentEngine, currentModel, started } from "../core/questions.ts";
import { placeholderTool, type ToolDefinition } from "../core/request.ts";
import { toolNames } from "../core/tool-calls.ts";
import type { OpenSession } from "../session/store.ts";
import type { DelegateOptions } from "./delegate/options.ts";
import { noSearch, webSearchOf } from "./opening/web-search.ts";
import type { SessionOptions } from "./options.ts";
import { readPrompt, systemPrompt } from "./prompts.ts";

type Parts = {
  flags: SessionOptions;
  settings: Settings;
  cwd: string;
  model: Model;
  tools: Tool[];
  delegate?: DelegateOptions | undefined;
  /** The rules that deny. */
  deny: readonly string[];
  warn(text: string): void;
};

/** Appends the first event of a new session, or the changes to a stored one. Throws `UsageError`. */
export function begin(session: OpenSession, parts: Parts): void {
  const events = session.log.events();
  const bodies = events.length === 0 ? [opening(session, parts)] : changes(events, parts);
  checkRoom([...events, ...bodies.map((body) => ({ seq: 0, at: 0, ...body }))]);
  for (const body of bodies) session.log.append(body);
  const why = parts.delegate ? undefined : noSearch(parts.model.card, parts.settings, parts.deny);
  if (why) parts.warn(`webSearch in settings has no effect: ${why}`);
}

function opening(session: OpenSession, parts: Parts): EventBody {
  const { flags, settings, cwd, model, tools, delegate } = parts;
  const { context, engine } = stackOf(flags.context ?? settings.context ?? contextNames[0] ?? "raw");
  const focus = stackNamed(context).folds && !delegate ? (settings.focus ?? "aggressive") : "none";
  const effort = flags.effort ?? settings.effort;
  const webSearch = delegate ? delegate.webSearch : webSearchOf(settings, parts.deny);
  return {
    type: "session_started",
    sessionId: session.id,
    cwd,
    folder: session.folder,
    model: model.card,
    ...(effort ? { effort } : {}),
    system:
      tools.length > 0 ? systemPrompt({ focus, append: flags.appendSystemPrompt }) : readPrompt("quarantine"),
    tools: declaredTools(delegate ? tools.filter(isForDelegates) : tools, model.card),
    ...(webSearch && tools.length > 0 ? { webSearch } : {}),
    context,
    engine: { ...engineOf(flags, settings), ...engine, ...(delegate ? { focusReminder: 0 } : {}) },
    ...(delegate ? { parent: delegate.parent, delegate: delegate.delegated } : {}),
  };
}

/** A sub-agent knows nothing of delegating; a call of it is refused with the reason. */
function isForDelegates({ name }: Tool): boolean {
  return name !== toolNames.delegate;
}

/** The tools as the log of a new session has them. */
export function declaredTools(tools: readonly Tool[], { contract }: ModelCard): ToolDefinition[] {
  const own = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  // A list of deferred tools alone is refused.
  return own.length > 0 && contract.toolGating === "tool_changes" ? [...own, placeholderTool] : own;
}

function stackOf(words: string): NamedStack {
  const read = readStack(words);
  if ("problem" in read) throw new UsageError(`--context ${words}: ${read.problem}`);
  return read;
}

function engineOf(flags: SessionOptions, settings: Settings): Record<string, number> {
  const window = flags.window ?? settings.window;
  return {
    ...settings.engine,
    ...(window === undefined ? {} : { window }),
    ...(settings.focus === "passive" ? { focusReminder: 0 } : {}),
  };
}

/** Lists changes of model, effort, stack and window, which are possible during a session, unlike its system prompt. */
function changes(events: readonly LogEvent[], { flags, settings, model }: Parts): EventBody[] {
  if (flags.appendSystemPrompt !== undefined)
    throw new UsageError(
      "--append-system-prompt has no effect on a stored session: it counts only when a session starts",
    );
  const bodies: EventBody[] = [];
  const before = currentModel(events);
  // A choice made in the session beats the settings, which only apply to new sessions.
  const effort = flags.effort ?? before.effort ?? settings.effort;
  // The card of the same model may have changed too: in the settings, or with a new version.
  const { webSearch } = started(events);
  const card = withLearnedWindow(events, model.card);
  if (!isSameCard(before.model, card, webSearch !== undefined) || effort !== before.effort)
    bodies.push({ type: "model_changed", model: card, ...(effort ? { effort } : {}) });
  const { context, engine } = currentEngine(events);
  const wanted = flags.context === undefined ? { context, engine: {} } : stackOf(flags.context);
  const window = flags.window ?? engine.window;
  const changed = { ...engine, ...(window === undefined ? {} : { window }), ...wanted.engine };
  const differs = Object.entries(changed).some(([name, value]) => engine[name] !== value);
  if (wanted.context !== context || differs)
    bodies.push({ type: "settings_changed", context: wanted.context, engine: changed });
  return bodies;
}

/**
 * Returns true when the session sends and bills the same with both cards. `searches`: it may search the web; the price
 * of that, which cards of earlier versions lack, means nothing to another session.
 */
function isSameCard(before: ModelCard, now: ModelCard, searches: boolean): boolean {
  const compared = ({ prices: { webSearch, ...prices }, ...card }: ModelCard): unknown =>
    // As the log has it, without fields that are undefined.
    JSON.parse(JSON.stringify({ ...card, prices: searches ? { ...prices, webSearch } : prices }));
  return isDeepStrictEqual(compared(before), compared(now));
}

/** Returns the change to another policy stack, by a name that `stackOf` takes; the engine's settings stay. */
export function contextChange(events: readonly LogEvent[], name: string): EventBody {
  const { context, engine } = stackOf(name);
  return { type: "settings_changed", context, engine: { ...currentEngine(events).engine, ...engine } };
}

/** Throws `UsageError` for a window that the fixed part all but fills, before every request fails. */
export function checkRoom(events: readonly LogEvent[]): void {
  const { soft, settings } = policyInputOf(events, applyEvents([]), 0);
  const fixed = fixedTokens(events);
  if (fixed < settings.pressure * soft.tokens) return;
  throw new UsageError(
    `the system prompt and tools alone take about ${fixed} tokens of a window of ${soft.tokens} (${soft.source}): use a model or a --window with more room`,
  );
}
