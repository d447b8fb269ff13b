/** Questions of a server to the person: forms, and pages to open. */

import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import type { FormChoice, FormContent, FormEntry, FormField, TextFormat } from "../core/form/fields.ts";
import { shown, shownLine } from "./shown.ts";

/** A question: a form to fill in, or a page that the person opens in a browser. All words are fit to be shown. */
export type Elicitation =
  | { kind: "form"; message: string; fields: FormField[] }
  | { kind: "url"; message: string; url: string };

/** `decline`: the person says no; `cancel`: the person looked away. */
export type ElicitAnswer =
  | { action: "accept"; content?: FormContent }
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
  minLength?: number;
  maxLength?: number;
  format?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  enum?: unknown[];
  enumNames?: unknown[];
  oneOf?: { const?: unknown; title?: unknown }[];
  items?: { enum?: unknown[]; anyOf?: { const?: unknown; title?: unknown }[] };
};

function fieldOf(key: string, schema: Schema, required: boolean): FormField | undefined {
  const { title = key, description = "" } = schema;
  const common = {
    ...{ key, required, title: shownLine(title, 100), description: shownLine(description, 300) },
    initial: initialOf(schema.default),
  };
  switch (schema.type) {
    case "boolean":
      return { ...common, type: "yes_no" };
    case "number":
    case "integer":
      return { ...common, type: schema.type, ...limits(schema, "minimum", "maximum") };
    case "array": {
      const { items } = schema;
      const choices = choicesOf(items?.enum, undefined, items?.anyOf);
      const initial = Array.isArray(schema.default) ? schema.default.map(String) : [];
      return (
        choices && { ...common, type: "some", choices, initial, ...limits(schema, "minItems", "maxItems") }
      );
    }
    case "string": {
      const choices = choicesOf(schema.enum, schema.enumNames, schema.oneOf);
      if (choices) return { ...common, type: "one", choices };
      const format = formats.find((one) => one === schema.format);
      return {
        ...{ ...common, type: "text", ...limits(schema, "minLength", "maxLength") },
        ...(format ? { format } : {}),
      };
    }
    default:
      return undefined;
  }
}

/** Formats that are checked; a text of another is taken as it is. */
const formats: TextFormat[] = ["email", "uri", "date", "date-time"];

type Limit = "minLength" | "maxLength" | "minimum" | "maximum" | "minItems" | "maxItems";

/** Returns the limits that a schema has; those that are no numbers are none. */
function limits<K extends Limit>(schema: Schema, ...keys: K[]): Partial<Record<K, number>> {
  const found: Partial<Record<K, number>> = {};
  for (const key of keys) if (Number.isFinite(schema[key])) found[key] = schema[key];
  return found;
}

function initialOf(value: unknown): FormEntry {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
}

function choicesOf(
  values: unknown[] | undefined,
  names: unknown[] | undefined,
  titled: { const?: unknown; title?: unknown }[] | undefined,
): FormChoice[] | undefined {
  if (titled)
    return titled.map(({ const: value, title }) => ({
      ...{ value: String(value), title: shownLine(String(title ?? value), 100) },
    }));
  return values?.map((value, at) => ({
    ...{ value: String(value), title: shownLine(String(names?.[at] ?? value), 100) },
  }));
}
