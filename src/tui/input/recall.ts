/** Earlier input: up and down move through it, Ctrl-R searches it. Pure. */

/** `at`: index of the shown entry; `draft`: the text that was being written. Oldest first. */
export type Recall = { items: readonly string[]; at?: number; draft: string };
/** `at`: index of the entry found, when there is one. */
export type Search = { query: string; at?: number };

const mostRecalled = 1000;

export function recallOf(items: readonly string[]): Recall {
  return { items: items.slice(-mostRecalled), draft: "" };
}

/** Adds an entry; a repetition of the last one is dropped. */
export function remembered({ items }: Recall, text: string): Recall {
  return text.trim() === ""
    ? { items, draft: "" }
    : recallOf([...items.filter((each) => each !== text), text]);
}

/**
 * Returns the entry before or after the shown one; undefined when there is none. Leaving the newest restores the draft.
 */
export function step(
  recall: Recall,
  by: 1 | -1,
  current: string,
): { recall: Recall; text: string } | undefined {
  const { items, at = items.length, draft } = recall;
  const next = at + by;
  if (next < 0 || next > items.length) return undefined;
  const saved = at === items.length ? current : draft;
  if (next === items.length) return { recall: { items, draft: "" }, text: saved };
  return { recall: { items, at: next, draft: saved }, text: items[next] ?? "" };
}

/** Finds the newest entry before `before` that contains the query, ignoring case. */
export function search({ items }: Recall, query: string, before = items.length): Search {
  const wanted = query.toLowerCase();
  const at = items.findLastIndex((item, index) => index < before && item.toLowerCase().includes(wanted));
  return at < 0 || query === "" ? { query } : { query, at };
}
