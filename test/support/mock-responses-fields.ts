/** The bodies of the strict Responses server, and how it refuses fields of wrong names, types and values. */

export type Item = { type?: string; id?: string; call_id?: string } & Record<string, unknown>;
export type ResponsesBody = {
  model: string;
  input: Item[];
  tools?: { type?: string; name: string }[];
  stream?: boolean;
  store?: boolean;
  prompt_cache_key?: string;
  prompt_cache_options?: { mode?: string; ttl?: string; comparison_response_id?: string };
  reasoning?: { effort?: string; summary?: string };
} & Record<string, unknown>;

/** A request that the API would not answer. */
export class Refused extends Error {
  readonly code: string | null;
  constructor(message: string, code: string | null = null) {
    super(message);
    this.code = code;
  }
}

export function oneOf(value: unknown, allowed: readonly string[], path: string): void {
  if (value !== undefined && !allowed.includes(String(value)))
    throw new Refused(`Invalid value: '${value}'. Supported values are: ${allowed.join(", ")} (${path})`);
}

export function checkFields(
  value: object,
  types: Record<string, string>,
  path: string,
  required: readonly string[] = [],
): void {
  const fields = value as Record<string, unknown>;
  const at = (name: string) => (path ? `${path}.${name}` : name);
  for (const [name, field] of Object.entries(fields)) {
    if (!(name in types)) throw new Refused(`Unknown parameter: '${at(name)}'.`, "unknown_parameter");
    if (field === null || !types[name]?.split("|").includes(typeof field))
      throw new Refused(`Invalid type for '${at(name)}': expected ${types[name]}, but got ${field} instead.`);
  }
  const missing = required.find((name) => fields[name] === undefined);
  if (missing) throw new Refused(`Missing required parameter: '${at(missing)}'.`);
}
