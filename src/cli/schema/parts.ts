/** Building blocks of the JSON schemas. Pure. */

export type Schema = { [key: string]: unknown };

export const text: Schema = { type: "string" };
export const flag: Schema = { type: "boolean" };
export const count: Schema = { type: "integer", minimum: 0 };
export const amount: Schema = { type: "number", minimum: 0 };
export const texts: Schema = { type: "array", items: text };
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
export const oneOf = (...values: string[]): Schema => ({ enum: values });
export const list = (items: Schema): Schema => ({ type: "array", items });

/** An object with these fields, all required except the optional ones. Later versions may add others. */
export function object(properties: Record<string, Schema>, optional: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

/** A line of type `type`. */
export function line(type: string, properties: Record<string, Schema>, optional: string[] = []): Schema {
  return object({ type: { const: type }, ...properties }, optional);
}
