/** Searches of the web that OpenAI's server makes: their blocks, and how many of them are billed. Pure. */

import type {
  Response,
  ResponseFunctionWebSearch,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import type { AssistantBlock, FoundPage } from "../../core/blocks.ts";

/** The item as streams bring it: before it is done, and on other hosts, the action may be missing. */
type SearchItem = Omit<ResponseFunctionWebSearch, "action"> & {
  action?: ResponseFunctionWebSearch["action"];
};

/** An item of the output among those before it. `titles`: of pages that texts cite, by address. */
type Place = { reasoned: boolean; titles: ReadonlyMap<string, string> };

/** The two blocks of a search: what was asked, which holds the item whole, and what was found. */
export function searchBlocks(item: SearchItem, { reasoned, titles }: Place): AssistantBlock[] {
  const { id, action, status } = item;
  const wire = { api: "responses" as const, item, ...(reasoned ? { reasoned: true as const } : {}) };
  const found = { type: "web_search_tool_result" as const, tool_use_id: id };
  const failure = { type: "web_search_tool_result_error" as const, error_code: status };
  const content = status === "completed" ? pagesOf(action, titles) : failure;
  return [
    { type: "server_tool_use", id, name: "web_search", input: askedBy(action), wire },
    { ...found, content, wire: { api: "responses" } },
  ];
}

/** The action without what it found: the addresses in it would count as the model's own words. */
function askedBy(action: SearchItem["action"]): object {
  if (action?.type !== "search") return action ?? {};
  const { sources: _, ...asked } = action;
  return asked;
}

/** The pages that a search found, or the one that was opened. */
function pagesOf(action: SearchItem["action"], titles: Place["titles"]): FoundPage[] {
  const urls = action?.type === "search" ? (action.sources ?? []).map(({ url }) => url) : [action?.url];
  return urls.flatMap((url) => {
    if (!url) return [];
    const title = titles.get(bareUrl(url)) ?? "";
    return [{ type: "web_search_result" as const, url, title, encrypted_content: "" }];
  });
}

/** Reads the titles of the pages that the texts of a response cite. */
export function citedTitles(output: readonly ResponseOutputItem[]): Map<string, string> {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  const cited = parts.flatMap((part) => (part.type === "output_text" ? (part.annotations ?? []) : []));
  return new Map(
    cited.flatMap((one) => (one.type === "url_citation" ? [[bareUrl(one.url), one.title] as const] : [])),
  );
}

/** The address without the mark that OpenAI adds where it cites. */
function bareUrl(url: string): string {
  return url.replace(/[?&]utm_source=openai$/, "");
}

/**
 * Searches that are billed: as many as the server says. Where it does not, each query of each search: a search of
 * several may be billed for each, and a page that was opened for none.
 */
export function searchCount({ tool_usage }: Response, output: readonly ResponseOutputItem[]): number {
  const told = tool_usage?.web_search?.num_requests;
  if (told !== undefined) return told;
  return output.reduce((sum, item) => {
    if (item.type !== "web_search_call" || item.action?.type !== "search") return sum;
    return sum + Math.max(1, item.action.queries?.length ?? 0);
  }, 0);
}
