/** Reads the user's settings file. Nothing in a repository is configuration. */

import { readFileSync, type Stats, statSync } from "node:fs";
import { type PermissionMode, permissionModes } from "../core/decision.ts";
import { efforts, type JsonSchema } from "../core/request.ts";
import { type SandboxChoice, sandboxChoices } from "../core/sandbox.ts";
import { violations } from "../core/schema.ts";
import { nearest } from "../core/text/nearest.ts";
import { parseRule } from "../permissions/parse-rule.ts";
import { RuleError } from "../permissions/rule-error.ts";

export type Settings = {
  /** `provider/id`. */
  model?: string;
  effort?: string;
  permissionMode?: PermissionMode;
  /** The sandbox of commands; `auto` by default. */
  sandbox?: SandboxChoice;
  allow?: string[];
  deny?: string[];
  /** Name of the policy stack. */
  context?: string;
  /** The soft window in tokens. */
  window?: number;
  focus?: "aggressive" | "passive";
  /**
   * The model that writes summaries: "auto" (the session's model, or one of its provider at half the cost or less),
   * "own", an id.
   */
  summaryModel?: string;
  /** Models, by id, that a role may ask for besides the session's own. */
  delegateModels?: string[];
  /** Parameters of the engine by name, where they differ from the defaults. */
  engine?: Record<string, number>;
  /** Overrides of the model cards, by id. */
  models?: Record<string, unknown>;
  /** Providers of one's own, and what differs from the known ones, by name. */
  providers?: Record<string, unknown>;
  maxTurns?: number;
  maxBudgetUsd?: number;
  /** In the format of the command line: `90s`, `10m`, `1h`. */
  maxTime?: string;
  /** Time limit of a shell command for which the model requests none; 120 by default. */
  shellTimeoutSeconds?: number;
  /** Connections of commands in a sandbox. */
  egress?: EgressSettings;
  /** Servers of tools (MCP), by name, in the shape that other programs have too. */
  mcpServers?: Record<string, Record<string, unknown>>;
  /** Programs that are asked or told at moments of a session, by moment, in the format of Claude Code. */
  hooks?: Record<string, unknown>;
  /** The provider's own web search, where the model has one; off by default. */
  webSearch?: boolean;
  /** Notices for a person who looks elsewhere; `auto` by default. */
  notify?: NotifySetting;
};

/** `auto`: as the terminal can. `command`: a program and its first arguments, which gets title and text as the last two. */
export type NotifySetting = (typeof notifyWords)[number] | { command: string[] };
const notifyWords = ["auto", "off", "bell", "osc9", "osc777", "osc99"] as const;

/**
 * `rule`: ask before sending once a session has read private data and text from outside, or never. `private`: the files
 * that count as private data. `budgetKb`, `budgetPercent`: what a host may get that is only fetched from, for each
 * turn.
 */
export type EgressSettings = {
  rule?: "two-of-three" | "off";
  private?: "workspace" | "secrets";
  budgetKb?: number;
  budgetPercent?: number;
};

/** Thrown for invalid settings. The message is one line: the file, the problem, the remedy. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly exitCode = 2;
}

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "array", items: text };

const known: Record<keyof Settings, JsonSchema> = {
  model: text,
  effort: { type: "string", enum: [...efforts] },
  sandbox: { type: "string", enum: [...sandboxChoices] },
  permissionMode: { type: "string", enum: [...permissionModes] },
  allow: texts,
  deny: texts,
  context: text,
  window: { type: "integer", minimum: 1 },
  focus: { type: "string", enum: ["aggressive", "passive"] },
  summaryModel: text,
  delegateModels: texts,
  // The engine knows the range of each.
  engine: { type: "object" },
  models: { type: "object", additionalProperties: { type: "object" } },
  providers: { type: "object", additionalProperties: { type: "object" } },
  maxTurns: { type: "integer", minimum: 1 },
  maxBudgetUsd: { type: "number", minimum: 0 },
  maxTime: text,
  shellTimeoutSeconds: { type: "number", minimum: 1, maximum: 86_400 },
  egress: {
    type: "object",
    properties: {
      rule: { type: "string", enum: ["two-of-three", "off"] },
      private: { type: "string", enum: ["workspace", "secrets"] },
      budgetKb: { type: "number", minimum: 0 },
      budgetPercent: { type: "number", minimum: 0, maximum: 100 },
    },
    additionalProperties: false,
  },
  mcpServers: { type: "object", additionalProperties: { type: "object" } },
  hooks: { type: "object", additionalProperties: { type: "array" } },
  webSearch: { type: "boolean" },
  // Words or an object: checked on its own.
  notify: {},
};

/** Reads the settings in `file`; none when there is no such file. Throws `SettingsError`. */
export function readSettings(file: string): Settings {
  const content = contentOf(file);
  if (content === undefined) return {};
  const value = parsed(file, content);
  const [wrong] = violations({ type: "object", properties: known }, value, "the value");
  if (wrong) throw new SettingsError(`${file}: ${wrong.replace("the value.", "")}: correct or remove it`);
  const { allow = [], deny = [] } = value as Settings;
  for (const rule of [...allow, ...deny]) checkRule(file, rule);
  if ((value as Settings).maxBudgetUsd === 0)
    throw new SettingsError(`${file}: maxBudgetUsd must be above 0: correct or remove it`);
  const { notify = "auto" } = value as Settings;
  if (!isNotify(notify))
    throw new SettingsError(
      `${file}: notify must be ${notifyWords.join(", ")} or {"command": ["program", …]}: correct or remove it`,
    );
  const unknown = Object.keys(value as object).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return value as Settings;
  throw new SettingsError(
    `${file}: unknown key "${unknown}", did you mean ${nearest(unknown, Object.keys(known))}? Correct or remove it`,
  );
}

function isNotify(value: unknown): boolean {
  if (typeof value === "string") return notifyWords.some((word) => word === value);
  const shape: JsonSchema = {
    type: "object",
    properties: { command: texts },
    required: ["command"],
    additionalProperties: false,
  };
  return (
    violations(shape, value, "notify").length === 0 && Boolean((value as { command: string[] }).command[0])
  );
}

/** Throws `SettingsError` when `rule`, from `file`, cannot be parsed. */
export function checkRule(file: string, rule: string): void {
  try {
    parseRule(rule);
  } catch (error) {
    throw error instanceof RuleError ? new SettingsError(`${file}: ${error.message}`) : error;
  }
}

/** Bytes of a file of settings. A larger one is something else. */
const mostBytes = 4 * 1024 * 1024;

/** Reads the text of a file; undefined when there is none. Throws `SettingsError`. */
export function contentOf(file: string): string | undefined {
  // Reading a pipe would wait for a writer, without a word and for ever.
  const found = statOf(file);
  if (found?.isFIFO())
    throw new SettingsError(`${file} is a pipe: write the settings to a file, or remove it`);
  if (found && found.size > mostBytes)
    throw new SettingsError(`${file} is larger than ${mostBytes / 2 ** 20} MB: correct or remove it`);
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new SettingsError(`${file} cannot be read (${code}): make it readable or remove it`);
  }
}

/** Returns undefined too where only reading tells what is wrong. */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Parses JSON. Throws `SettingsError` with the position of the first error. */
export function parsed(file: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    const before = content.slice(0, brokenAt(content, error)).split("\n");
    const position = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new SettingsError(`${file} is not JSON (${position}): correct it or remove it`);
  }
}

/**
 * Returns the position of the error. The parser does not report it for a text that ends too early, nor for a short one.
 */
function brokenAt(content: string, error: unknown): number {
  const message = error instanceof Error ? error.message : "";
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return Number(position);
  const [, token] = /^Unexpected token '([\s\S]*?)', /.exec(message) ?? [];
  return token === undefined ? content.trimEnd().length : firstBreak(content);
}

/** Returns the shortest prefix that no continuation can complete. */
function firstBreak(content: string): number {
  for (let end = 1; end <= content.length; end++) {
    try {
      JSON.parse(content.slice(0, end));
    } catch (error) {
      if (/Unexpected token/.test((error as Error).message)) return end - 1;
    }
  }
  return content.length;
}
