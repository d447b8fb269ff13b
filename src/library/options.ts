/** Options of a program, checked, as those of a session. */

import type { SessionOptions } from "../app/options.ts";
import { permissionModes } from "../core/decision.ts";
import { UsageError } from "../core/errors.ts";
import type { Model } from "../core/ports.ts";
import { efforts, type JsonSchema } from "../core/request.ts";
import { sandboxChoices } from "../core/sandbox.ts";
import { closedObject, violations } from "../core/schema.ts";
import type { AgentOptions } from "./surface.ts";

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "array", items: text };
const yes: JsonSchema = { type: "boolean" };
const above0: JsonSchema = { type: "number", minimum: 0 };
/** A field for each option; those that a schema cannot tell are checked elsewhere. */
const fields: Record<keyof AgentOptions, JsonSchema> = {
  ...{ model: {}, cwd: text, env: { type: "object" }, tools: { type: "array" }, permission: {} },
  effort: { type: "string", enum: efforts },
  maxTurns: { type: "integer", minimum: 1 },
  maxBudgetUsd: above0,
  maxTimeMs: above0,
  permissionMode: { type: "string", enum: permissionModes },
  sandbox: { type: "string", enum: sandboxChoices },
  ...{ allow: texts, deny: texts, addDirs: texts, context: text },
  window: { type: "integer", minimum: 1 },
  ...{ continueNewest: yes, resume: text, fork: yes, bare: yes, sessionDir: text },
  ...{ appendSystemPrompt: text, record: text, loose: yes },
};
const schema = closedObject(fields);

/** Throws `UsageError` that names the option. */
export function checkOptions(options: AgentOptions): void {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const [wrong] = violations(schema, given, "createAgent: options");
  if (wrong) throw new UsageError(wrong);
  const { model, permission } = options;
  if (permission !== undefined && typeof permission !== "function")
    throw new UsageError("createAgent: options.permission must be a function");
  if (model !== undefined) checkModel(model, "createAgent: options.model");
}

/** Throws `UsageError` for what is neither a name nor a model. `called`: how the sentence names it. */
export function checkModel(model: unknown, called: string): void {
  if (typeof model === "string") return;
  const { send, encode, card } = (model ?? {}) as Partial<Model>;
  if (typeof send !== "function" || typeof encode !== "function" || !card)
    throw new UsageError(
      `${called} must be a name such as "anthropic/claude-sonnet-5-5", or a model with card, encode and send (see defineModel)`,
    );
}

/** Returns the options that a session is opened with. */
export function sessionOptions(options: AgentOptions): SessionOptions {
  const { model, cwd: _, env: __, tools: ___, permission: ____, ...own } = options;
  return {
    ...{ allow: [], deny: [], addDirs: [], continueNewest: false, fork: false, bare: false, loose: false },
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
    ...(typeof model === "string" ? { model } : {}),
  };
}
