/** Runs a sub-agent: a session of its own, billed to the one that delegated. Loaded with the first of them. */

import { join } from "node:path";
import type { Account } from "../../agent/agent.ts";
import { delegateEconomics } from "../../context/report/delegates.ts";
import type { Delegated, EventBody, EventOf, LogEvent, TurnEnd } from "../../core/events.ts";
import { inputTotal, type ModelCard } from "../../core/model-card.ts";
import type { ToolContext, ToolOutput } from "../../core/ports.ts";
import {
  cardOf,
  currentEngine,
  currentModel,
  isModelCall,
  lastOf,
  spending,
  started,
} from "../../core/questions.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { exposureBy } from "../../permissions/sandbox/exposure.ts";
import type { DelegateInput, DelegateReport } from "../../tools/session/delegate.ts";
import type { OpenedModel } from "../current-model.ts";
import { runMessage } from "../messages/run-message.ts";
import { readPrompt } from "../prompts.ts";
import type { OpenOptions, Run } from "../session.ts";
import type { Delegating } from "./delegating.ts";
import type { DelegateOptions } from "./options.ts";
import { outcomeOf } from "./outcome.ts";
import { inherited } from "./permit.ts";
import { progressLine } from "./progress.ts";
import { type Role, roleModel, roleNamed, roleText } from "./role.ts";

/**
 * Runs one to its end; its result is what it reports. It ends with the call, and with the session. `byPerson`: the person
 * started it, so that no call in the log asks for it.
 */
export async function runDelegate(
  input: DelegateInput,
  context: ToolContext,
  parts: Delegating,
  byPerson: boolean,
): Promise<ToolOutput> {
  const role = input.role === undefined ? undefined : roleNamed(input.role, parts, byPerson);
  if (typeof role === "string") return { content: role, isError: true };
  const opened = role && (await roleModel(role, parts));
  let report: DelegateReport | undefined;
  const take = (handedIn: DelegateReport): void => {
    report = handedIn;
  };
  const closing = { report: take, isDone: () => report !== undefined };
  const child = await parts.openRun(optionsOf(input, context, parts, { ...closing, role, opened }));
  try {
    const told = { ...(role ? { role: role.skill.name } : {}), ...(byPerson ? { brief: input.brief } : {}) };
    const end = await followed(child, parts, { ...context, told }, async () => {
      const content = [{ type: "text" as const, text: messageOf(input) }];
      return runMessage(child, content, context.signal);
    });
    return outcomeOf(child.agent.log.events(), { ...end, report });
  } finally {
    await child.close();
  }
}

/** Tells of the sub-agent in the log of the session that delegated: its beginning, each call, its end. */
async function followed(
  child: Run,
  { run: parent, held }: Delegating,
  context: ToolContext & { told: Pick<EventOf<"delegate_started">, "role" | "brief"> },
  work: () => Promise<TurnEnd>,
) {
  const { log } = parent.agent;
  const delegate = child.sessionId;
  const writes = context.access.kind === "delegate" && context.access.writes;
  const before = lastOf(log.events(), "assistant_message");
  const session = { tokens: before ? inputTotal(before.usage) : 0, card: currentModel(log.events()).model };
  const calls: Parameters<typeof delegateEconomics>[0][number][] = [];
  log.append({
    type: "delegate_started",
    ...{ delegate, folder: child.folder, toolUseId: context.toolUseId, writes, ...context.told },
  });
  const unfollow = child.agent.log.subscribe((event) => {
    if (endsCall(event)) held.delete(context.toolUseId);
    if (isModelCall(event)) {
      const { usage, model, durationMs } = event;
      const card = cardOf(event) ?? currentModel(child.agent.log.events()).model;
      calls.push({ usage, card });
      const other = otherCard(card, currentModel(log.events()).model);
      log.append({ type: "delegate_called", delegate, usage, model, durationMs, ...other });
    }
    const line = progressLine(event, { calls: calls.length, cost: spending(child.agent.log.events()).cost });
    if (line !== undefined) context.onProgress(`${line}\n`);
  });
  try {
    const reason = await work();
    const detail = lastOf(child.agent.log.events(), "turn_ended")?.detail;
    const economics = delegateEconomics(calls, session);
    const end = { reason, ...(detail === undefined ? {} : { detail }), economics };
    log.append({ type: "delegate_ended", delegate, ...end, ...outsideOf(child) });
    return end;
  } finally {
    held.delete(context.toolUseId);
    unfollow();
  }
}

/** True for an event after which no call is on its way. */
function endsCall(event: LogEvent): boolean {
  return (
    isModelCall(event) ||
    event.type === "turn_ended" ||
    (event.type === "model_failed" && event.attempt === 0)
  );
}

/** A card is told where its prices are not those of the session. */
function otherCard(card: ModelCard, own: ModelCard): { card?: ModelCard } {
  return card.id === own.id ? {} : { card };
}

const everythingPrivate = { private: "secrets", workspace: [] } as const;

/** Tells whether it read text from outside. */
function outsideOf({ agent }: Run): Pick<Extract<EventBody, { type: "delegate_ended" }>, "outside"> {
  const seen = exposureBy(everythingPrivate)(agent.log.events());
  return seen.outside ? { outside: true } : {};
}

type Own = Pick<DelegateOptions, "report" | "isDone"> & {
  role: Role | undefined;
  /** The model that its role asks for; undefined where it has that of the session. */
  opened: OpenedModel | undefined;
};

function optionsOf(
  { effort, brief }: DelegateInput,
  context: ToolContext,
  { run: parent, options, standing, uncaught, held }: Delegating,
  { report, isDone, role, opened }: Own,
): OpenOptions {
  const { flags, person, driver } = options;
  const { agent, sessionId, folder } = parent;
  const events = agent.log.events();
  const writes = context.access.kind === "delegate" && context.access.writes;
  const { model, effort: usual } = currentModel(events);
  const current = parent.models.current();
  const mode = () => (writes ? ((person ?? driver)?.mode?.() ?? parent.mode) : ("plan" as const));
  const { resume: _, appendSystemPrompt: __, ...rest } = flags;
  const level = role?.effort ?? effort ?? usual;
  const tools = role?.skill.fork?.tools;
  return {
    ...options,
    flags: {
      ...rest,
      ...{ continueNewest: false, fork: false, permissionMode: mode() },
      context: currentEngine(events).context,
      appendSystemPrompt: [readPrompt("delegate"), ...(role ? [roleText(role)] : [])].join("\n\n"),
      ...(level === undefined ? {} : { effort: level }),
    },
    ...(person ? { person: personOf(person, mode, { brief, toolUseId: context.toolUseId }) } : {}),
    driver: driver && { settle: driver.settle, takeSteering: () => [], mode },
    uncaught,
    delegate: {
      root: join(folder, "delegates"),
      parent: sessionId,
      delegated: {
        ...{ toolUseId: context.toolUseId, writes, ...exposureOf(events) },
        ...(role ? { role: role.skill.name } : {}),
        ...(tools ? { tools } : {}),
      },
      standing: inherited(standing, writes),
      model: opened ?? { ...current, model: { ...current.model, card: model } },
      // A role that names its tools has those alone.
      webSearch: tools ? undefined : started(events).webSearch,
      limits: agent.limits,
      peers: parent.sandbox.peers,
      account: accountOf(parent, held, context.toolUseId),
      ...{ report, isDone },
    },
  };
}

function exposureOf(events: readonly LogEvent[]): Pick<Delegated, "outside" | "private"> {
  const { outside, private: own } = exposureBy(everythingPrivate)(events);
  return { ...(outside ? { outside: outside.from } : {}), ...(own ? { private: own.from } : {}) };
}

/** Questions go to the person, who is told that a sub-agent asks; they steer and watch only the session that delegated. */
function personOf(
  { ask, allowed }: NonNullable<OpenOptions["person"]>,
  mode: () => ReturnType<NonNullable<OpenOptions["person"]>["mode"]>,
  { brief, toolUseId }: { brief: string; toolUseId: string },
): NonNullable<OpenOptions["person"]> {
  const name = cleanLine(brief.trim().split("\n")[0] ?? "")
    .slice(0, 60)
    .toWellFormed();
  return {
    ask: (question, signal, onShown) =>
      ask({ ...question, toolUseId, reason: `The sub-agent "${name}": ${question.reason}` }, signal, onShown),
    ...{ mode, allowed },
    takeSteering: () => [],
    onPart: () => {},
    onProgress: () => {},
  };
}

/** Counts the calls of the session and of its sub-agents, and what is held for those on their way. */
function accountOf({ agent }: Delegating["run"], held: Delegating["held"], own: string): Account {
  return {
    spent() {
      const { turns, cost } = spending(agent.log.events());
      const others = [...held].flatMap(([call, dollars]) => (call === own ? [] : [dollars]));
      return { turns: turns + others.length, cost: others.reduce((sum, dollars) => sum + dollars, cost) };
    },
    hold: (dollars) => void held.set(own, dollars),
  };
}

function messageOf({ brief, want, files = [] }: DelegateInput): string {
  const named =
    files.length > 0 ? [`Files to begin with:\n${files.map((file) => `- ${file}`).join("\n")}`] : [];
  return [brief, ...named, `What is wanted: ${want}`].join("\n\n");
}
