/** What was typed before: up and down through it, and Ctrl-R to search it. Pure. */

/** `at`: index of the entry that is shown; `draft`: what was being written before. Oldest first. */
export type Recall = { items: readonly string[]; at?: number; draft: string };
/** `at`: index of the entry found, when there is one. */
export type Search = { query: string; at?: number };

const kept = 1000;

export function recallOf(items: readonly string[]): Recall {
  return { items: items.slice(-kept), draft: "" };
}

/** With one more entry; the same one again is kept once. */
export function remembered({ items }: Recall, text: string): Recall {
  return text.trim() === ""
    ? { items, draft: "" }
    : recallOf([...items.filter((each) => each !== text), text]);
}

/** The entry before or after the one shown; undefined when there is none. Leaving the newest gives the draft back. */
export function step(
  recall: Recall,
  by: 1 | -1,
  current: string,
): { recall: Recall; text: string } | undefined {
  const { items, at = items.length, draft } = recall;
  const next = at + by;
  if (next < 0 || next > items.length) return undefined;
  const kept = at === items.length ? current : draft;
  if (next === items.length) return { recall: { items, draft: "" }, text: kept };
  return { recall: { items, at: next, draft: kept }, text: items[next] ?? "" };
}

/** The newest entry before `before` that holds the query, whatever its case. */
export function search({ items }: Recall, query: string, before = items.length): Search {
  const wanted = query.toLowerCase();
  const at = items.findLastIndex((item, index) => index < before && item.toLowerCase().includes(wanted));
  return at < 0 || query === "" ? { query } : { query, at };
}
