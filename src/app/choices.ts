/** Checks choices of the command line and of settings before a session is opened. */

import type { Agent } from "../agent/agent.ts";
import type { Settings } from "../config/settings.ts";
import { duration } from "../config/values.ts";
import { engineProblem } from "../context/policies/settings.ts";
import { contextChoices, namedStack } from "../context/policies/stacks.ts";
import { UsageError } from "../core/errors.ts";
import type { Model } from "../core/ports.ts";
import { overrideProblem } from "../models/cards.ts";
import { ownProviderProblem } from "../models/own-providers.ts";
import { parseRule } from "../permissions/rules.ts";
import type { SessionOptions } from "./options.ts";
import type { OpenOptions } from "./session.ts";

/** Throws `UsageError` for an invalid choice, naming the place where it was made. */
export function checkChoices(flags: SessionOptions, settings: Settings): void {
  const context = flags.context ?? settings.context;
  const named = flags.context === undefined ? "context in settings:" : "--context";
  if (context !== undefined && !namedStack(context))
    throw new UsageError(`${named} ${context}: must be ${contextChoices}`);
  checkSettings(settings);
  for (const rule of [...flags.allow, ...flags.deny]) parseRule(rule);
}

/** Throws `UsageError` for a setting that the file's own check lets pass: of the engine, models and providers. */
export function checkSettings(settings: Settings): void {
  const wrong = engineProblem(settings.engine ?? {});
  if (wrong) throw new UsageError(`engine in settings: ${wrong}`);
  const wrongModel = overrideProblem(settings.models ?? {});
  if (wrongModel) throw new UsageError(`${wrongModel}: correct or remove it in settings`);
  const wrongProvider = ownProviderProblem(settings.providers);
  if (wrongProvider) throw new UsageError(`${wrongProvider}: correct or remove it in settings`);
  if (settings.maxTime !== undefined) duration("maxTime in settings:", settings.maxTime);
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
