/** The search of the Messages API's own server: its tool, what comes back with it, and what is refused. */

import { createHmac } from "node:crypto";
import type { AssistantBlock } from "../../src/core/blocks.ts";
import { ModelError } from "../../src/core/ports.ts";
import { type ScriptedReply, type ScriptedSearch, searchResult } from "../../src/models/playback/script.ts";
import { checkFields } from "./mock-fields.ts";
import { RefusedError, type WireBlock, type WireBody, type WireMessage } from "./mock-wire.ts";

export const searchTool = "web_search_20250305";

/** Returns the declared search. Throws `RefusedError`. */
export function checkSearchTool(value: unknown, path: string, names: Set<string>): WireBody["tools"][number] {
  const fields = {
    ...{ type: "string!", name: "string!", max_uses: "integer", user_location: "object" },
    ...{
      allowed_domains: "array",
      blocked_domains: "array",
      cache_control: "object",
      defer_loading: "boolean",
    },
  };
  const tool = checkFields(value, path, fields) as WireBlock & {
    name: string;
    max_uses?: number;
    allowed_domains?: string[];
    blocked_domains?: string[];
  };
  if (tool.name !== "web_search") throw new RefusedError(`${path}.name: Input should be 'web_search'`);
  if (names.has(tool.name)) throw new RefusedError("tools: Tool names must be unique.");
  names.add(tool.name);
  if (tool.max_uses !== undefined && tool.max_uses < 1)
    throw new RefusedError(`${path}.max_uses: Input should be greater than 0`);
  if (tool.allowed_domains && tool.blocked_domains)
    throw new RefusedError(`${path}: only one of allowed_domains and blocked_domains may be given`);
  for (const domain of [...(tool.allowed_domains ?? []), ...(tool.blocked_domains ?? [])])
    if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+(\/\S*)?$/.test(domain))
      throw new RefusedError(`${path}: ${domain} is not a domain without a scheme`);
  return tool;
}

/** Seals a page, so that another process can check what comes back. */
export function sealPage(page: string): string {
  return `sealed.${createHmac("sha256", "pages").update(page).digest("base64url")}`;
}

/** Throws `RefusedError` for a search without its result, a result without its search, and pages that were changed. */
export function checkSearches({ messages }: Pick<WireBody, "messages">): void {
  const replies = messages.flatMap((message, index) =>
    message.role === "assistant" ? [{ message, index }] : [],
  );
  for (const [at, { message, index }] of replies.entries()) {
    const last = at === replies.length - 1;
    checkPages(message, index);
    const found = [message, ...(replies[at + 1] ? [replies[at + 1]?.message] : [])].flatMap(foundIn);
    // The API goes on with a search that waits at the very end, or beside calls that were answered now.
    const waits =
      last && (index === messages.length - 1 || message.content.some(({ type }) => type === "tool_use"));
    const open = askedIn(message).find((id) => !found.includes(id));
    if (open !== undefined && !waits)
      throw new RefusedError(
        `messages.${index}: \`web_search\` tool use with id \`${open}\` was found without a corresponding \`web_search_tool_result\` block`,
      );
    const asked = [...askedIn(replies[at - 1]?.message), ...askedIn(message)];
    const strange = foundIn(message).find((id) => !asked.includes(id));
    if (strange !== undefined)
      throw new RefusedError(
        `messages.${index}: unexpected \`tool_use_id\` found in \`web_search_tool_result\` blocks: ${strange}`,
      );
  }
}

function checkPages({ content }: WireMessage, index: number): void {
  for (const [at, block] of content.entries()) {
    if (block.type !== "web_search_tool_result" || !Array.isArray(block.content)) continue;
    for (const [place, page] of (block.content as unknown as Record<string, string>[]).entries()) {
      const { url, title, encrypted_content } = page;
      if (encrypted_content !== sealPage(`${url} ${title}`))
        throw new RefusedError(
          `messages.${index}.content.${at}.content.${place}: Invalid \`encrypted_content\` in \`web_search_result\` block`,
        );
    }
  }
}

function askedIn(message: WireMessage | undefined): string[] {
  return message?.content.flatMap(({ type, id }) => (type === "server_tool_use" && id ? [id] : [])) ?? [];
}

function foundIn(message: WireMessage | undefined): string[] {
  return (
    message?.content.flatMap(({ type, tool_use_id }) =>
      type === "web_search_tool_result" && tool_use_id ? [tool_use_id] : [],
    ) ?? []
  );
}

export type Searches = {
  /** The results that the reply to a request begins with: of searches that waited for it. */
  resultsFor(body: WireBody): AssistantBlock[];
  /** Keeps what the searches of a reply will find that wait for the next request. */
  remember(turn: ScriptedReply, content: readonly AssistantBlock[]): void;
};

/** The searches of one server. */
export function searches(): Searches {
  const waiting = new Map<string, ScriptedSearch>();
  return {
    resultsFor({ messages }) {
      const reply = messages.findLast(({ role }) => role === "assistant");
      const found = foundIn(reply);
      return askedIn(reply).flatMap((id) => {
        const search = waiting.get(id);
        return search && !found.includes(id) ? [searchResult(id, search, sealPage)] : [];
      });
    },
    remember({ searches = [] }, content) {
      const asked = content.filter(({ type }) => type === "server_tool_use") as { id: string }[];
      for (const [index, { id }] of asked.entries()) {
        const search = searches[index];
        if (search?.waits) waiting.set(id, search);
      }
    },
  };
}

/** Throws when a script searches although the request offers no search: it plays no model. */
export function refuseSearch({ tools }: WireBody, { searches = [] }: ScriptedReply): void {
  const isOffered = tools.some(({ name, type }) => name === "web_search" && type === searchTool);
  if (searches.length > 0 && !isOffered)
    throw new ModelError("script", "it searches, and no search was offered");
}
