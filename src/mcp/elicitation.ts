/** Questions of a server to the person: forms, and pages to open. */

import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { shown, shownLine } from "./shown.ts";

/** A field of a form. `choices`: the values with what to show for each. */
export type ElicitField = {
  key: string;
  title: string;
  description: string;
  required: boolean;
  /** The value that stands there before the person changes it, as text. */
  initial: string;
} & (
  | { type: "text" | "number" | "integer" }
  | { type: "yes_no" }
  | { type: "one" | "some"; choices: { value: string; title: string }[] }
);

/** A question: a form to fill in, or a page that the person opens in a browser. All words are fit to be shown. */
export type Elicitation =
  | { kind: "form"; message: string; fields: ElicitField[] }
  | { kind: "url"; message: string; url: string };

export type ElicitValue = string | number | boolean | string[];
/** `decline`: the person says no; `cancel`: the person looked away. */
export type ElicitAnswer =
  | { action: "accept"; content?: Record<string, ElicitValue> }
  | { action: "decline" }
  | { action: "cancel" };

export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<ElicitAnswer>;

/** Longest form. */
const mostFields = 50;

/** Answers a request of a server by asking. A question that cannot be shown is declined. */
export async function elicitationOf(
  params: ElicitRequest["params"],
  elicit: Elicit,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const question = questionOf(params);
  if (question === undefined) return { action: "decline" };
  const answer = await elicit(question, signal);
  if (answer.action !== "accept") return { action: answer.action };
  return question.kind === "url" ? { action: "accept" } : { action: "accept", content: answer.content ?? {} };
}

function questionOf(params: ElicitRequest["params"]): Elicitation | undefined {
  const message = shown(params.message);
  if (params.mode === "url") {
    const isPage = URL.canParse(params.url) && /^https?:$/.test(new URL(params.url).protocol);
    return isPage ? { kind: "url", message, url: new URL(params.url).href } : undefined;
  }
  const { properties = {}, required = [] } = params.requestedSchema;
  const fields = Object.entries(properties).flatMap(([key, schema]) => {
    const field = fieldOf(key, schema as Schema, required.includes(key));
    return field ? [field] : [];
  });
  if (fields.length > mostFields || fields.length < Object.keys(properties).length) return undefined;
  return { kind: "form", message, fields };
}

/** The schemas that a form may have: flat, of simple types. */
type Schema = {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  enumNames?: unknown[];
  oneOf?: { const?: unknown; title?: unknown }[];
  items?: { enum?: unknown[]; anyOf?: { const?: unknown; title?: unknown }[] };
};

function fieldOf(key: string, schema: Schema, required: boolean): ElicitField | undefined {
  const common = {
    ...{ key, required, title: shownLine(schema.title ?? key, 100) },
    description: shownLine(schema.description ?? "", 300),
    initial: initialOf(schema.default),
  };
  switch (schema.type) {
    case "boolean":
      return { ...common, type: "yes_no" };
    case "number":
    case "integer":
      return { ...common, type: schema.type };
    case "array": {
      const { items } = schema;
      const choices = choicesOf(items?.enum, undefined, items?.anyOf);
      return choices && { ...common, type: "some", choices };
    }
    case "string": {
      const choices = choicesOf(schema.enum, schema.enumNames, schema.oneOf);
      return choices ? { ...common, type: "one", choices } : { ...common, type: "text" };
    }
    default:
      return undefined;
  }
}

function initialOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
}

function choicesOf(
  values: unknown[] | undefined,
  names: unknown[] | undefined,
  titled: { const?: unknown; title?: unknown }[] | undefined,
): { value: string; title: string }[] | undefined {
  if (titled)
    return titled.map(({ const: value, title }) => ({
      ...{ value: String(value), title: shownLine(String(title ?? value), 100) },
    }));
  return values?.map((value, at) => ({
    ...{ value: String(value), title: shownLine(String(names?.[at] ?? value), 100) },
  }));
}
