/** Searches of a provider's own server: found in a reply, and in words for people and for other models. Pure. */

import type { AssistantBlock, Block, FoundPage, Search, TextBlock, WebSearchResultBlock } from "../blocks.ts";
import { isSearch } from "../blocks.ts";
import { memoizeBy } from "../memoize.ts";
import { enclosed } from "./tags.ts";

/** The searches of a reply, in order. */
export function searchesIn(content: readonly Block[]): Search[] {
  const results = content.filter((block) => block.type === "web_search_tool_result");
  const asked = new Set<string>();
  const own = content.flatMap((block): Search[] => {
    if (block.type !== "server_tool_use") return [];
    asked.add(block.id);
    const result = results.find(({ tool_use_id }) => tool_use_id === block.id);
    return [{ id: block.id, ...askedIn(block.input), ...foundIn(result) }];
  });
  const earlier = results.filter(({ tool_use_id }) => !asked.has(tool_use_id));
  return [...own, ...earlier.map((result) => ({ id: result.tool_use_id, query: "", ...foundIn(result) }))];
}

/** Several queries of one search are joined. */
function askedIn(input: unknown): Pick<Search, "query" | "opened"> {
  const { type, query, queries, pattern, url } = (input ?? {}) as Record<string, unknown>;
  const words = Array.isArray(queries) && queries.length > 0 ? queries : [query ?? pattern];
  const asked = words.filter((one) => typeof one === "string").join("; ");
  if (type !== "open_page" && type !== "find_in_page") return { query: asked };
  return { query: asked, opened: typeof url === "string" ? url : "" };
}

/** Reads the result of a search; one that is none yet has the error "none". */
function foundIn(result: WebSearchResultBlock | undefined): Pick<Search, "pages" | "error"> {
  if (!result) return { pages: [], error: "none" };
  const { content } = result;
  return isPages(content) ? { pages: content } : { pages: [], error: content.error_code };
}

function isPages(content: WebSearchResultBlock["content"]): content is readonly FoundPage[] {
  return Array.isArray(content);
}

/** Most hosts that a line names. */
const namedHosts = 4;

/** Words a search in one line: its query, how many pages it found, and their hosts. */
export function searchLine({ query, opened, pages, error }: Search): string {
  const quoted = query === "" ? "" : ` ${JSON.stringify(query)}`;
  if (opened !== undefined) return pageLine(opened, { quoted, error });
  const about = `web search${quoted}`;
  if (error === "none") return `${about}: no result yet`;
  if (error !== undefined) return `${about}: failed (${error})`;
  const hosts = [...new Set(pages.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).host] : [])))];
  const named = hosts.slice(0, namedHosts).join(", ");
  const more = hosts.length > namedHosts ? ` and ${hosts.length - namedHosts} more` : "";
  const count = `${pages.length} ${pages.length === 1 ? "result" : "results"}`;
  return `${about}: ${count}${named ? ` (${named}${more})` : ""}`;
}

function pageLine(page: string, { quoted, error }: { quoted: string; error: string | undefined }): string {
  const done = quoted === "" ? "web page opened" : `web page searched for${quoted}`;
  const address = URL.canParse(page) ? new URL(page).href : JSON.stringify(page);
  const name = page === "" ? "" : `: ${address}`;
  return `${done}${name}${error === undefined ? "" : ` – failed (${error})`}`;
}

/** Lists the pages of a search, a line for each: title, where one is known, and address. */
export function pageLines({ pages }: Search): string {
  return pages.map(({ title, url }) => `${title} ${url}`.replaceAll(/\s+/g, " ").trim()).join("\n");
}

/**
 * A reply without what only the provider's search reads, for a model that has none: its searches as text between tags,
 * and no citations. The same blocks give the same result.
 */
export const withoutSearches: (blocks: Block[]) => Block[] = memoizeBy((blocks: Block[]): Block[] => {
  const searches = searchesIn(blocks);
  return blocks.flatMap((block): Block[] => {
    if (block.type === "text" && block.citations) {
      const { citations: _, ...rest } = block;
      return [rest];
    }
    if (!isSearch(block)) return [block];
    const id = block.type === "server_tool_use" ? block.id : block.tool_use_id;
    const search = searches.find((one) => one.id === id);
    // Once for each: in the place of its result.
    if (!search || (block.type === "server_tool_use" && search.error !== "none")) return [];
    const text = search.error === undefined ? pageLines(search) : searchLine(search);
    return [{ type: "text", text: enclosed("web_search", text, ` query=${JSON.stringify(search.query)}`) }];
  });
});

/** Joins the texts of a reply: those with citations are parts of one text, others begin a line. */
export function spokenText(content: readonly AssistantBlock[]): string {
  let [spoken, said] = ["", false];
  for (const [at, block] of content.entries()) {
    if (block.type !== "text") continue;
    spoken += said && !continues(block, content[at - 1]) ? `\n${block.text}` : block.text;
    said = true;
  }
  return spoken;
}

/**
 * Returns true for a text that goes on in the middle of the one before it: the Messages API splits a text where it cites;
 * Responses does not.
 */
export function continues(block: TextBlock, before: Block | undefined): boolean {
  if (block.wire) return false;
  return before?.type === "text" && Boolean(block.citations?.length || before.citations?.length);
}
