/** The choices of a session: its mode, model, effort and context policy. */

import {
  RequestError,
  type SessionConfigOption,
  type SessionConfigSelectOption,
  type SessionModeState,
} from "@agentclientprotocol/sdk";
import type { Conversation } from "../app/conversation.ts";
import { findModel, modelsInReach, type SwitchOptions, setEffort } from "../app/model-switch.ts";
import { contextChange } from "../app/start-log.ts";
import { contextNames } from "../context/policies/stacks.ts";
import { formatTokens } from "../context/report/amounts.ts";
import { type PermissionMode, permissionModes } from "../core/decision.ts";
import type { ModelCard } from "../core/model-card.ts";
import { currentEngine, currentModel } from "../core/questions.ts";
import { efforts } from "../core/request.ts";

const modes: Record<PermissionMode, { name: string; description: string }> = {
  ask: { name: "Ask", description: "Asks before it changes files or runs commands" },
  "accept-edits": {
    name: "Accept edits",
    description: "Changes files of the workspace, asks before commands",
  },
  plan: { name: "Plan", description: "Only reads" },
  auto: { name: "Auto", description: "Asks nothing; commands run in the sandbox" },
};

/** A change that waits for the end of the running turn. `value`: what it makes of the choice. */
type Waiting = { value: string; take(): void };

export type Choices = {
  modes(): SessionModeState;
  options(): SessionConfigOption[];
  /** Makes a choice. Throws a `RequestError` for one that there is not. */
  set(id: string, value: string): Promise<void>;
  /** Makes the choices that waited for the end of a turn. */
  settle(): void;
};

/** Returns the choices of a session. Model, effort and context change between turns: until then a choice waits. */
export function choicesIn(conversation: Conversation, switching: SwitchOptions): Choices {
  const { run, chosen } = conversation;
  const { log } = run.agent;
  const waiting = new Map<string, Waiting>();
  const mode = (): PermissionMode => chosen.mode ?? run.mode;
  const now = () => ({ ...currentModel(log.events()), ...currentEngine(log.events()) });
  const wanted = (id: string, otherwise: string) => waiting.get(id)?.value ?? otherwise;
  const settle = (): void => {
    for (const { take } of waiting.values()) take();
    waiting.clear();
  };
  const options = (): SessionConfigOption[] => [
    select("mode", "Mode", "mode", mode(), permissionModes.map(modeOption)),
    select("model", "Model", "model", wanted("model", now().model.id), modelOptions(run, switching)),
    select("effort", "Effort", "thought_level", wanted("effort", now().effort ?? usual), [
      { value: usual, name: "Default" },
      ...efforts.map((value) => ({ value, name: value })),
    ]),
    select(
      "context",
      "Context",
      "_context",
      wanted("context", now().context),
      contextNames.map((value) => ({ value, name: value })),
    ),
  ];
  const set = async (id: string, value: string): Promise<void> => {
    const option = options().find((one) => one.id === id);
    if (!option) throw RequestError.invalidParams(undefined, `there is no option ${id}`);
    if (id !== "model" && !valuesOf(option).includes(value))
      throw RequestError.invalidParams(undefined, `${id} takes ${valuesOf(option).join(", ")}, not ${value}`);
    if (id === "mode") {
      chosen.mode = value as PermissionMode;
      run.judgeAgain();
      return;
    }
    waiting.set(id, { value, take: await changeOf(id, value, { conversation, switching }) });
    if (!conversation.isBusy()) settle();
  };
  return {
    modes: () => ({
      currentModeId: mode(),
      availableModes: permissionModes.map((id) => ({ id, ...modes[id] })),
    }),
    ...{ options, set, settle },
  };
}

/** The effort that the provider takes where none is named. */
const usual = "default";

async function changeOf(
  id: string,
  value: string,
  { conversation: { run }, switching }: { conversation: Conversation; switching: SwitchOptions },
): Promise<() => void> {
  const { log } = run.agent;
  if (id === "model") {
    if (value === currentModel(log.events()).model.id) return () => {};
    return (await findModel(value, run, switching)).take;
  }
  if (id === "context") return () => void log.append(contextChange(log.events(), value));
  return () => setEffort(run, value === usual ? undefined : value);
}

function select(
  id: string,
  name: string,
  category: string,
  currentValue: string,
  options: SessionConfigSelectOption[],
): SessionConfigOption {
  const known = options.some(({ value }) => value === currentValue);
  const all = known ? options : [{ value: currentValue, name: currentValue }, ...options];
  return { id, name, category, type: "select", currentValue, options: all };
}

function valuesOf(option: SessionConfigOption): string[] {
  return option.type === "select"
    ? option.options.flatMap((one) => ("value" in one ? [one.value] : one.options.map(({ value }) => value)))
    : [];
}

function modeOption(value: PermissionMode): SessionConfigSelectOption {
  return { value, ...modes[value] };
}

function modelOptions(run: Conversation["run"], switching: SwitchOptions): SessionConfigSelectOption[] {
  return modelsInReach(run, switching).map((card) => ({
    value: card.id,
    name: card.id,
    description: factsOf(card),
  }));
}

function factsOf({ window, prices: { input, output } }: ModelCard): string {
  const size = `${formatTokens(window)} tokens of context`;
  return output > 0 ? `${size}; a million tokens: $${input} in, $${output} out` : size;
}
