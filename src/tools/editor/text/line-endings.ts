/** Detects the line endings of a file, and converts text to them line by line. Pure but for loading the differ. */

export type Ending = "\n" | "\r\n" | "\r";
/** Line endings of a file. `ending`: the commonest one. A lone CR ends a line only in files that have no LF at all. */
export type Endings = { ending: Ending; mixed: boolean };

export function endingsOf(text: string): Endings {
  let [total, withReturn] = [0, 0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    total += 1;
    if (text[at - 1] === "\r") withReturn += 1;
  }
  if (total === 0) return { ending: text.includes("\r") ? "\r" : "\n", mixed: false };
  return { ending: withReturn * 2 > total ? "\r\n" : "\n", mixed: withReturn > 0 && withReturn < total };
}

/** Matches the file's own line breaks, except plain LF. */
export function foreignBreaks({ ending }: Endings): RegExp {
  return ending === "\r" ? /\r\n?/g : /\r\n/g;
}

/** Returns the text as the model sees it: every line ends with LF. */
export function withLf(text: string, endings: Endings): string {
  return text.includes("\r") ? text.replaceAll(foreignBreaks(endings), "\n") : text;
}

/** The text of a file between `from` and `to` (exclusive), about to be replaced. */
export type Region = { text: string; from: number; to: number; endings: Endings };

/**
 * Returns `replacement` in the endings of its file. In a mixed file an unchanged line keeps its own ending, and a new
 * one takes its neighbour's.
 */
export async function inEndingsOf(region: Region, replacement: string): Promise<string> {
  const { endings } = region;
  const lines = replacement.replaceAll("\r\n", "\n").split("\n");
  if (!endings.mixed) return lines.join(endings.ending);
  const { diffArrays } = await import("diff");
  const old = pieces(region.text.slice(region.from, region.to));
  const changes = diffArrays(
    old.map(({ line }) => line),
    lines,
    { timeout: 300 },
  ) ?? [{ value: lines, added: true, removed: false }];
  const queue: Ending[] = [];
  let [at, near, made] = [0, neighbour(region), ""];
  for (const { value, added, removed } of changes) {
    for (const line of value) {
      const own = added ? queue.shift() : old[at++]?.ending;
      if (removed && own) queue.push(own);
      if (removed) continue;
      near = own ?? near;
      made += line + near;
    }
    if (!removed) queue.length = 0;
  }
  return made.slice(0, made.length - near.length);
}

function pieces(text: string): { line: string; ending: Ending | undefined }[] {
  return text.split("\n").map((line, index, all) => {
    if (index === all.length - 1) return { line, ending: undefined };
    return line.endsWith("\r") ? { line: line.slice(0, -1), ending: "\r\n" } : { line, ending: "\n" };
  });
}

/** Returns the ending of the line above the region; for the first line, that of the line where the region ends. */
function neighbour({ text, from, to, endings }: Region): Ending {
  const above = from > 0 ? text.lastIndexOf("\n", from - 1) : -1;
  const at = above >= 0 ? above : text.indexOf("\n", to);
  if (at < 0) return endings.ending;
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}
