/** Checks a value against the subset of JSON Schema that tool inputs use. Pure. */

import type { JsonSchema } from "./request.ts";

/** Returns the schema of an object with these fields and no others. */
export function closedObject(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Returns one sentence per violation; empty when the value fits. `path` names the value in them. */
export function violations(schema: JsonSchema, value: unknown, path = "input"): string[] {
  if (schema.enum && !schema.enum.includes(value as string)) {
    return [`${path} must be one of ${schema.enum.join(", ")}`];
  }
  if (schema.type && !isOfType(schema.type, value)) {
    return [`${path} must be ${article(schema.type)}, not ${article(typeName(value))}`];
  }
  if (typeof value === "number") return rangeViolations(schema, value, path);
  if (Array.isArray(value)) {
    const items = schema.items;
    return items ? value.flatMap((item, index) => violations(items, item, `${path}[${index}]`)) : [];
  }
  if (typeof value === "object" && value !== null) return objectViolations(schema, value, path);
  return [];
}

function rangeViolations(schema: JsonSchema, value: number, path: string): string[] {
  const found: string[] = [];
  if (schema.minimum !== undefined && value < schema.minimum)
    found.push(`${path} must be at least ${schema.minimum}`);
  if (schema.maximum !== undefined && value > schema.maximum)
    found.push(`${path} must be at most ${schema.maximum}`);
  return found;
}

function objectViolations(schema: JsonSchema, value: object, path: string): string[] {
  const found: string[] = [];
  for (const name of schema.required ?? []) {
    if (!(name in value)) found.push(`${path}.${name} is missing`);
  }
  for (const [name, item] of Object.entries(value)) {
    const known = schema.properties?.[name];
    if (known) found.push(...violations(known, item, `${path}.${name}`));
    else if (schema.additionalProperties === false)
      found.push(`${path}.${name} is not known${choices(schema)}`);
    else if (typeof schema.additionalProperties === "object")
      found.push(...violations(schema.additionalProperties, item, `${path}.${name}`));
  }
  return found;
}

function choices({ properties }: JsonSchema): string {
  const names = Object.keys(properties ?? {});
  return names.length > 0 ? `: use ${names.join(", ")}` : "";
}

function isOfType(type: NonNullable<JsonSchema["type"]>, value: unknown): boolean {
  switch (type) {
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function article(noun: string): string {
  if (noun === "null" || noun === "undefined") return noun;
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}
