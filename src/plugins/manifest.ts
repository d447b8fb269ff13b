/** Reads `plugin.json`, the manifest of a plug-in (Agent Plugins 1.0.0, section 5). Pure. */

/** `notes`: fields that are not of the standard, which are ignored. */
export type Manifest = {
  name: string;
  version: string | undefined;
  description: string | undefined;
  author: string | undefined;
  notes: string[];
};

/** Thrown for what cannot be used, with the rest of a sentence about it. */
export class PluginError extends Error {
  override readonly name = "PluginError";
}

/** Identifiers of the schemas. Nothing is ever fetched from there. */
export const schemas = {
  plugin: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
  mcp: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
};

const texts = ["$schema", "name", "version", "description", "homepage", "repository", "license"];
const known = new Set([...texts, "author", "keywords", "extensions"]);

type Fields = Record<string, unknown>;

/** Returns the object in a JSON text. Throws `PluginError`. */
export function objectIn(file: string, text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PluginError(`its ${file} is not JSON`);
  }
  if (!isObject(value)) throw new PluginError(`its ${file} is not an object`);
  return value;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the manifest. Throws `PluginError` for one that the standard rejects. */
export function manifestOf(text: string): Manifest {
  const fields = objectIn("plugin.json", text);
  if (fields.$schema !== schemas.plugin)
    throw new PluginError(
      typeof fields.$schema === "string"
        ? `its plugin.json is of another version: ${fields.$schema}; only 1.0.0 is known`
        : "its plugin.json has no $schema",
    );
  const { name } = fields;
  if (typeof name !== "string" || !isName(name))
    throw new PluginError(
      "its name must be 1 to 64 of a-z, 0-9, - and ., begin and end with a letter or digit, and have no -- or ..",
    );
  for (const field of texts)
    if (fields[field] !== undefined && typeof fields[field] !== "string") throw notOfKind(field, "a text");
  const { keywords = [], author, extensions } = fields;
  if (!Array.isArray(keywords) || keywords.some((each) => typeof each !== "string"))
    throw notOfKind("keywords", "a list of texts");
  const odd = extensions !== undefined && !isObject(extensions) ? ["extensions"] : [];
  const unknown = Object.keys(fields).filter((field) => !known.has(field));
  return {
    name,
    version: fields.version as string | undefined,
    description: fields.description as string | undefined,
    author: authorOf(author),
    notes: [...unknown, ...odd].map((field) => `plugin.json: ${field} has no effect`),
  };
}

function isName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) && name.length <= 64 && !/--|\.\./.test(name);
}

function authorOf(author: unknown): string | undefined {
  if (author === undefined) return undefined;
  if (!isObject(author)) throw notOfKind("author", "an object");
  for (const [field, value] of Object.entries(author))
    if (!["name", "email", "url"].includes(field) || typeof value !== "string")
      throw notOfKind("author", "an object of the texts name, email and url");
  return typeof author.name === "string" ? author.name : undefined;
}

function notOfKind(field: string, kind: string): PluginError {
  return new PluginError(`${field} in its plugin.json must be ${kind}`);
}
