/** Texts by key with the revision of their newest change: whoever has an earlier revision gets what changed since. Pure. */

/** A change as it goes to a page: an id and its HTML, or `list/n` and the HTML of that row. */
export type Change = [key: string, value: string];

export type Changes = {
  /** Sets a text; nothing happens when it is the same as before. */
  set(key: string, value: string): void;
  revision(): number;
  /** The texts whose keys begin with `list/`, in their order. */
  list(name: string): string[];
  get(key: string): string;
  /**
   * Returns the changes after a revision, as many as fit in `mostBytes` of JSON (one at least), and the revision that
   * one has with it.
   */
  since(revision: number, mostBytes: number): { to: number; changes: Change[] };
};

/** Costs of a change do not grow with the number of texts; the journal stays in proportion to them. */
export function changeLog(): Changes {
  const texts = new Map<string, { value: string; revision: number }>();
  const lists = new Map<string, number>();
  let journal: { key: string; revision: number }[] = [];
  let newest = 0;
  const isCurrent = ({ key, revision }: { key: string; revision: number }) =>
    texts.get(key)?.revision === revision;
  return {
    set(key, value) {
      if (texts.get(key)?.value === value) return;
      const [list = "", index] = key.split("/");
      if (index !== undefined) lists.set(list, Math.max(lists.get(list) ?? 0, Number(index) + 1));
      newest += 1;
      texts.set(key, { value, revision: newest });
      journal.push({ key, revision: newest });
      if (journal.length > 1000 + 2 * texts.size) journal = journal.filter(isCurrent);
    },
    revision: () => newest,
    get: (key) => texts.get(key)?.value ?? "",
    list: (name) =>
      Array.from({ length: lists.get(name) ?? 0 }, (_, index) => texts.get(`${name}/${index}`)?.value ?? ""),
    since(revision, mostBytes) {
      const changes: Change[] = [];
      let [to, bytes] = [revision, 0];
      for (let index = after(journal, revision); index < journal.length; index++) {
        const entry = journal[index] as (typeof journal)[number];
        const change: Change = [entry.key, texts.get(entry.key)?.value ?? ""];
        if (isCurrent(entry)) {
          bytes += 1 + Buffer.byteLength(JSON.stringify(change));
          if (bytes > mostBytes && changes.length > 0) break;
          changes.push(change);
        }
        to = entry.revision;
      }
      return { to, changes };
    },
  };
}

/** Index of the first entry after a revision, by bisection. */
function after(journal: readonly { revision: number }[], revision: number): number {
  let [low, high] = [0, journal.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((journal[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
