/** The search of OpenAI's own server at the strict Responses server: its tool, its items, and what is refused. */

import { checkFields, type Item, oneOf, Refused, type ResponsesBody } from "./mock-responses-fields.ts";

/**
 * One step on the web: a search, or a page that is opened, or looked through. `queries`: several at once. `status`: not
 * completed.
 */
export type TurnSearch = {
  query?: string;
  queries?: string[];
  open?: string;
  find?: string;
  sources?: string[];
  status?: string;
};

const mostDomains = 100;

/** Throws `Refused`. */
export function checkSearchTool(tool: Item, path: string, { reasoning }: ResponsesBody): void {
  const fields = {
    type: "string",
    external_web_access: "boolean",
    filters: "object",
    search_context_size: "string",
    user_location: "object",
  };
  checkFields(tool, fields, path, ["type"]);
  const filters = (tool.filters ?? {}) as Record<string, string[]>;
  checkFields(filters, { allowed_domains: "object", blocked_domains: "object" }, `${path}.filters`);
  for (const [name, domains] of Object.entries(filters)) {
    if (domains.length > mostDomains)
      throw new Refused(`Invalid '${path}.filters.${name}': array too long. At most ${mostDomains} domains.`);
    const wrong = domains.find((domain) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain));
    if (wrong !== undefined) throw new Refused(`Invalid '${path}.filters.${name}': '${wrong}' is no domain.`);
  }
  if (reasoning?.effort === "minimal")
    throw new Refused("The following tools cannot be used with reasoning.effort 'minimal': web_search.");
}

/** Fields of the items of searches, as of the others. */
export const searchItem = { type: "string", id: "string", status: "string", action: "object" };

const actionFields: Record<string, Record<string, string>> = {
  search: { type: "string", query: "string", queries: "object", sources: "object" },
  open_page: { type: "string", url: "string" },
  find_in_page: { type: "string", url: "string", pattern: "string" },
};

/** Throws `Refused`. */
export function checkSearchItem({ status, action }: Item, path: string): void {
  oneOf(status, ["in_progress", "searching", "completed", "failed", "incomplete"], `${path}.status`);
  const { type = "" } = action as Item;
  oneOf(type, Object.keys(actionFields), `${path}.action.type`);
  checkFields(action as Item, actionFields[type] ?? {}, `${path}.action`, ["type"]);
}

/** The item of a search, `told` what it found where the request includes that. */
export function searchCall(search: TurnSearch, id: string, told: boolean): Item {
  const { query, queries, open, find, sources = [], status = "completed" } = search;
  const found = told ? { sources: sources.map((url) => ({ type: "url", url })) } : {};
  const searched = {
    type: "search",
    ...(queries ? { queries } : {}),
    query: query ?? queries?.[0],
    ...found,
  };
  const page =
    find === undefined
      ? { type: "open_page", url: open }
      : { type: "find_in_page", url: open, pattern: find };
  return { id, type: "web_search_call", status, action: open === undefined ? searched : page };
}

/** Returns true when the request has what its items may tell. */
export function tellsSources({ include = [] }: ResponsesBody): boolean {
  return (include as string[]).includes("web_search_call.action.sources");
}

export function offersSearch({ tools = [] }: Pick<ResponsesBody, "tools">): boolean {
  return tools.some(({ type }) => type === "web_search");
}

/** The events of a search up to the end of its item. */
export function searchEvents({ action: _, ...begun }: Item, output_index: number): { type: string }[] {
  const item = { ...begun, status: "in_progress" };
  const states = ["in_progress", "searching", "completed"].map((state) => ({
    type: `response.web_search_call.${state}`,
    ...{ output_index, item_id: begun.id },
  }));
  return [{ type: "response.output_item.added", output_index, item } as { type: string }, ...states];
}

/** The citations of a text, which are of its whole length. */
export function annotationsOf(text = "", cited: readonly { url: string; title: string }[] = []): object[] {
  const place = { start_index: 0, end_index: text.length };
  return cited.map(({ url, title }) => ({ type: "url_citation", ...place, url, title }));
}

export function annotationEvents(annotations: readonly object[] = [], place: object): { type: string }[] {
  return annotations.map((annotation, annotation_index) => ({
    type: "response.output_text.annotation.added",
    ...{ ...place, content_index: 0, annotation_index, annotation },
  }));
}

/** Tells which of the items are billed: pages that are opened are free. */
export function searchUsage(items: readonly Item[]): object {
  const searched = items.filter(
    ({ type, action }) => type === "web_search_call" && (action as Item).type === "search",
  );
  return { tool_usage: { web_search: { num_requests: searched.length } } };
}
