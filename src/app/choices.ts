/** Checks choices of the command line and of settings before a session is opened. */

import type { Agent } from "../agent/agent.ts";
import type { Settings } from "../config/settings.ts";
import { duration } from "../config/values.ts";
import { engineProblem } from "../context/policies/settings.ts";
import { readStack } from "../context/policies/stacks.ts";
import { UsageError } from "../core/errors.ts";
import type { Model } from "../core/ports.ts";
import { overrideProblem } from "../models/cards.ts";
import { ownProviderProblem } from "../models/own-providers.ts";
import { parseRule } from "../permissions/parse-rule.ts";
import type { SessionOptions } from "./options.ts";
import type { OpenOptions } from "./session.ts";

/** Throws `UsageError` for an invalid choice, naming the place where it was made. `file`: of the settings. */
export function checkChoices(flags: SessionOptions, settings: Settings, file: string): void {
  const context = flags.context ?? settings.context;
  const named = flags.context === undefined ? `${file}: context` : "--context";
  const read = context === undefined ? undefined : readStack(context);
  if (read && "problem" in read) throw new UsageError(`${named} ${context}: ${read.problem}`);
  checkSettings(settings, file);
  for (const rule of [...flags.allow, ...flags.deny]) parseRule(rule);
}

/** Throws `UsageError` for a setting in `file` that its own check lets pass: of the engine, models and providers. */
export function checkSettings(settings: Settings, file: string): void {
  const wrong = engineProblem(settings.engine ?? {});
  if (wrong) throw new UsageError(`${file}: engine.${wrong}: correct or remove it`);
  const wrongModel = overrideProblem(settings.models ?? {});
  if (wrongModel) throw new UsageError(`${file}: ${wrongModel}: correct or remove it`);
  const wrongProvider = ownProviderProblem(settings.providers);
  if (wrongProvider) throw new UsageError(`${file}: ${wrongProvider}: correct or remove it`);
  if (settings.maxTime !== undefined) duration(`${file}: maxTime`, settings.maxTime);
}

/** Warns about a budget from the settings that a model without prices cannot keep; it runs all the same. */
export function warnUnpriced(
  { flags, warn }: { flags: SessionOptions; warn(text: string): void },
  { maxBudgetUsd }: Settings,
  { card }: Model,
): void {
  if (flags.maxBudgetUsd !== undefined || maxBudgetUsd === undefined || card.prices.output !== 0) return;
  warn(`maxBudgetUsd in settings has no effect: no prices are known for ${card.id}`);
}

/** Returns the limits in force. Throws `ValueError` for a time of the settings that is none. */
export function limitsOf({ flags, deadline }: OpenOptions, settings: Settings): Agent["limits"] {
  const { maxTime } = settings;
  const maxTurns = flags.maxTurns ?? settings.maxTurns;
  const maxBudgetUsd = flags.maxBudgetUsd ?? settings.maxBudgetUsd;
  const maxTimeMs = flags.maxTimeMs ?? (maxTime && duration("maxTime in settings:", maxTime));
  return {
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxBudgetUsd === undefined ? {} : { maxBudgetUsd }),
    ...(deadline || maxTimeMs ? { deadline: deadline ?? Date.now() + Number(maxTimeMs) } : {}),
  };
}
