/**
 * Checks the parameters of the client's requests. The SDK would do it with a library that takes a third of the time to
 * the first request; the build leaves that out (scripts/build.ts).
 */

import { RequestError } from "@agentclientprotocol/sdk";
import type { JsonSchema } from "../core/request.ts";
import { violations } from "../core/schema.ts";

const text: JsonSchema = { type: "string" };
const list = (items: JsonSchema): JsonSchema => ({ type: "array", items });
const object = (properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema => ({
  type: "object",
  properties,
  required,
});

const pairs = list(object({ name: text, value: text }, "name", "value"));
const servers = list(
  object({ name: text, command: text, args: list(text), env: pairs, url: text, headers: pairs }, "name"),
);
const place = { cwd: text, additionalDirectories: list(text), mcpServers: servers };
const session = { sessionId: text };
const blockTypes = ["text", "image", "audio", "resource", "resource_link"] as const;
const prompt = list(object({ type: { type: "string", enum: blockTypes } }, "type"));
const blocks: Record<(typeof blockTypes)[number], JsonSchema> = {
  text: object({ text }, "text"),
  image: object({ data: text, mimeType: text }, "data", "mimeType"),
  audio: object({}),
  resource: object({ resource: object({ uri: text, text, blob: text }, "uri") }, "resource"),
  resource_link: object({ name: text, uri: text }, "name", "uri"),
};

const schemas: Record<string, JsonSchema> = {
  initialize: object({ protocolVersion: { type: "integer" } }, "protocolVersion"),
  authenticate: object({ methodId: text }, "methodId"),
  "session/new": object(place, "cwd", "mcpServers"),
  "session/load": object({ ...place, ...session }, "cwd", "mcpServers", "sessionId"),
  "session/resume": object({ ...place, ...session }, "cwd", "sessionId"),
  "session/list": object({ cwd: text, cursor: text }),
  "session/close": object(session, "sessionId"),
  "session/delete": object(session, "sessionId"),
  "session/prompt": object({ ...session, prompt }, "sessionId", "prompt"),
  "session/set_mode": object({ ...session, modeId: text }, "sessionId", "modeId"),
  "session/set_config_option": object({ ...session, configId: text }, "sessionId", "configId", "value"),
};

/** Throws a `RequestError` that says what is wrong with the parameters of a request. */
export function checkParams(method: string, params: unknown): void {
  const schema = schemas[method] ?? {};
  // A field that is null is one that is not there.
  const given = isObject(params)
    ? Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))
    : params;
  const wrong = violations(schema, given ?? {}, "params");
  if (wrong.length === 0 && method === "session/prompt") wrong.push(...wrongBlocks(given as Prompt));
  if (wrong.length > 0) throw RequestError.invalidParams(undefined, wrong.join("; "));
}

type Prompt = { prompt: { type: (typeof blockTypes)[number]; resource?: object }[] };

function wrongBlocks({ prompt: given }: Prompt): string[] {
  return given.flatMap((block, index) => {
    const path = `params.prompt[${index}]`;
    const wrong = violations(blocks[block.type], block, path);
    const { resource } = block;
    const isEmpty =
      wrong.length === 0 &&
      block.type === "resource" &&
      resource &&
      !("text" in resource || "blob" in resource);
    return isEmpty ? [`${path}.resource has neither text nor blob`] : wrong;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
