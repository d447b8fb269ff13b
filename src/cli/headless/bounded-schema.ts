/** Checks that a JSON Schema leaves no room for free text: what fits it carries no order to whoever reads it. Pure. */

type Fields = Readonly<Record<string, unknown>>;

/** Longer texts are no data. Characters. */
const longestText = 500;

/** Lists the places of a schema that would let through text or keys of any length, one sentence each. */
export function unboundedIn(schema: unknown, path = "the value"): string[] {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    return [`${path} may be anything`];
  const fields = schema as Fields;
  if ("const" in fields || Array.isArray(fields.enum)) return [];
  if ("$ref" in fields) return [`${path} refers to another place: write it out`];
  const choices = [fields.anyOf, fields.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (choices)
    return choices.flatMap((choice, index) => unboundedIn(choice, `${path}, choice ${index + 1},`));
  const types = [fields.type].flat();
  if (types.length === 0 || fields.type === undefined) return [`${path} has no type`];
  return types.flatMap((type) => unboundedAs(type, fields, path));
}

function unboundedAs(type: unknown, fields: Fields, path: string): string[] {
  switch (type) {
    case "string":
      return typeof fields.maxLength === "number" && fields.maxLength <= longestText
        ? []
        : [`${path} needs maxLength (at most ${longestText}), enum or const`];
    case "array":
      return [
        ...(typeof fields.maxItems === "number" ? [] : [`${path} needs maxItems`]),
        ...unboundedIn(fields.items, `each item of ${path}`),
      ];
    case "object": {
      const properties = Object.entries((fields.properties ?? {}) as Fields);
      const isClosed = fields.additionalProperties === false && fields.patternProperties === undefined;
      return [
        ...(isClosed ? [] : [`${path} needs additionalProperties: false and no patternProperties`]),
        ...properties.flatMap(([name, schema]) => unboundedIn(schema, `${path}.${name}`)),
      ];
    }
    case "number":
    case "integer":
    case "boolean":
    case "null":
      return [];
    default:
      return [`${path} has an unknown type`];
  }
}
