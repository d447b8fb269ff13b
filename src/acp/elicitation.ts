/** A form of a server, as the protocol asks for it. A page is asked about as a permission: only its yes means done. */

import {
  type AgentContext,
  type CreateElicitationRequest,
  type ElicitationPropertySchema,
  methods,
} from "@agentclientprotocol/sdk";
import type { FormField } from "../core/form/fields.ts";
import { readEntry, readForm, readGiven } from "../core/form/read.ts";
import type { Answer, AskedByServer, Question } from "../tui/ports/session.ts";

/** A form to fill in. */
export type AskedForm = AskedByServer & { fields: readonly FormField[] };

export function formIn(question: object): AskedForm | undefined {
  const { elicitation } = question as Pick<Question, "elicitation">;
  return elicitation?.fields ? { ...elicitation, fields: elicitation.fields } : undefined;
}

/** Has the form filled in by the client's user. `problem`: why what the client sent is not taken. */
export async function filledIn(
  form: AskedForm,
  { client, sessionId, signal }: { client: AgentContext; sessionId: string; signal: AbortSignal },
): Promise<Answer | { problem: string }> {
  const request: CreateElicitationRequest = {
    ...{ sessionId, mode: "form", message: [`${form.title}:`, ...form.lines].join("\n") },
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(form.fields.map((field) => [field.key, schemaOf(field)])),
      required: form.fields.filter(({ required }) => required).map(({ key }) => key),
    },
  };
  const response = await client
    .request(methods.client.elicitation.create, request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })
    .catch(() => ({ action: "cancel" as const }));
  if (response.action === "decline") return { decision: "deny", say: "" };
  if (response.action !== "accept") return { decision: "deny", say: "", dismissed: true };
  const given = "content" in response && response.content ? response.content : {};
  const read = readGiven(form.fields, given as Record<string, unknown>);
  if ("content" in read) return { decision: "allow", content: read.content };
  return { problem: `${form.fields[read.at]?.title} ${read.problem}` };
}

/** Returns a form as a question of yes or no about what stands in it; undefined where that is not enough. */
export function asItStands(form: AskedForm): { asked: AskedByServer; yes: Answer } | undefined {
  const { title, lines, fields } = form;
  const read = readForm(
    fields,
    fields.map(({ initial }) => initial),
  );
  if (!("content" in read)) return undefined;
  const values = fields.map((field) => `${field.title}: ${shownValue(field)}`);
  return {
    asked: { title: `${title}. Send this?`, lines: [...lines, ...values] },
    yes: { decision: "allow", content: read.content },
  };
}

function shownValue(field: FormField): string {
  const read = readEntry(field, field.initial);
  const value = "value" in read ? read.value : undefined;
  return value === undefined ? "(empty)" : Array.isArray(value) ? value.join(", ") : String(value);
}

/** Returns the schema of a field, as a server would have written it. A field that is undefined is left out of the JSON. */
function schemaOf(field: FormField): ElicitationPropertySchema {
  const { key: _, required: __, initial, title, description, ...limits } = field;
  const words = { title, description: description || undefined };
  const text = typeof initial === "string" && initial !== "" ? initial : undefined;
  switch (limits.type) {
    case "yes_no":
      return { type: "boolean", ...words, default: text === undefined ? undefined : text === "true" };
    case "number":
    case "integer":
      return { ...limits, ...words, default: text === undefined ? undefined : Number(text) };
    case "one":
      return { type: "string", ...words, oneOf: titled(limits.choices), default: text };
    case "some": {
      const { choices, ...rest } = limits;
      const chosen = typeof initial === "string" ? [] : [...initial];
      return { ...rest, type: "array", ...words, items: { anyOf: titled(choices) }, default: chosen };
    }
    case "text":
      return { ...limits, type: "string", ...words, default: text };
  }
}

function titled(choices: readonly { value: string; title: string }[]) {
  return choices.map(({ value, title }) => ({ const: value, title }));
}
