/** Finds the name that somebody may have meant. Pure. */

/** Returns the name with the fewest letters to change; undefined when there is none. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const sized = names.map((name) => ({ name, changes: distance(word, name) }));
  return sized.reduce<(typeof sized)[number] | undefined>(
    (best, one) => (best && best.changes <= one.changes ? best : one),
    undefined,
  )?.name;
}

/** Does the same, but only for a name that differs in no more than a third of its letters. */
export function similar(word: string, names: readonly string[]): string | undefined {
  const name = nearest(word, names);
  return name !== undefined && distance(word, name) <= name.length / 3 ? name : undefined;
}

/** Returns the edit distance of two words. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, char] of [...from.toLowerCase()].entries()) {
    const next = [at + 1];
    for (const [index, other] of [...to.toLowerCase()].entries()) {
      const changed = (row[index] ?? 0) + (char === other ? 0 : 1);
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
