/** Checks arguments against the schema of a server: the part of JSON Schema that we check, and no more. Pure. */

import type { JsonSchema } from "../core/request.ts";
import { violations } from "../core/schema.ts";

const types = new Set(["object", "string", "integer", "number", "boolean", "array"]);
/** Deeper schemas are taken as they are: the server checks them itself. */
const deepest = 12;

/** Returns one sentence for each violation that is certain; the server may find more. */
export function argumentViolations(schema: unknown, value: unknown): string[] {
  return violations(knownPart(schema, 0), value, "arguments");
}

/**
 * Adds what a schema requires and has a default for. Servers that describe their tools by what they make of arguments
 * require such fields, and take calls without them.
 */
export function withDefaults(schema: unknown, given: Record<string, unknown>): Record<string, unknown> {
  if (!isObject(schema) || !isObject(schema.properties)) return given;
  const { properties, required } = schema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const added = names.flatMap((name) => {
    const one = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(one) || (Object.hasOwn(given, name) && given[name] !== undefined)) return [];
    return "default" in one ? [[name, one.default] as const] : [];
  });
  return added.length === 0 ? given : { ...given, ...Object.fromEntries(added) };
}

/** Leaves out what we do not check, so that it refuses nothing: several types, references, alternatives. */
function knownPart(schema: unknown, depth: number): JsonSchema {
  if (typeof schema !== "object" || schema === null || depth > deepest) return {};
  const {
    type,
    enum: choices,
    properties,
    required,
    items,
    minimum,
    maximum,
    ...rest
  } = schema as Record<string, unknown>;
  if ("$ref" in rest) return {};
  const combined = ["allOf", "anyOf", "oneOf", "patternProperties", "if"].some((key) => key in rest);
  return {
    ...(typeof type === "string" && types.has(type) ? { type: type as NonNullable<JsonSchema["type"]> } : {}),
    ...(Array.isArray(choices) && choices.every((one) => typeof one === "string") ? { enum: choices } : {}),
    ...(isObject(properties) ? { properties: partsOf(properties, depth) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((one) => typeof one === "string") } : {}),
    ...(isObject(items) ? { items: knownPart(items, depth + 1) } : {}),
    ...(typeof minimum === "number" ? { minimum } : {}),
    ...(typeof maximum === "number" ? { maximum } : {}),
    ...(rest.additionalProperties === false && !combined ? { additionalProperties: false } : {}),
  };
}

function partsOf(properties: Record<string, unknown>, depth: number): Record<string, JsonSchema> {
  const parts = Object.entries(properties).map(([name, one]) => [name, knownPart(one, depth + 1)]);
  return Object.fromEntries(parts) as Record<string, JsonSchema>;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
