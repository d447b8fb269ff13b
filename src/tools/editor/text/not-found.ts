/** Messages for an old_str that is nowhere, or in several places: hints for writing the right one. */

import { type Lines, Refusal } from "../refusal.ts";
import { fitting, lineNumbers, linesOf, visible } from "./lines.ts";
import type { Span } from "./match.ts";
import { nearestBlock } from "./nearest.ts";

const maxShown = 160;
const maxBlockBytes = 1200;

/** Explains an old_str that was not found. `text`: the file's text with LF. */
export async function notFound(path: string, text: string, old: string): Promise<Refusal> {
  const lines = linesOf(text);
  const wanted = linesOf(withoutNumbers(old) ?? old);
  const message = [`old_str was not found in ${path}.`];
  if (withoutNumbers(old) !== undefined)
    message.push("It begins with line numbers; they are not part of the file: leave them out.");
  if (old.endsWith("\n") && !text.endsWith("\n") && text.endsWith(old.slice(0, -1)))
    message.push("It ends with a line break, but the file does not: leave the last line break out.");
  const block = nearestBlock(lines, wanted);
  if (block) {
    const [from, to] = [block.first, block.last];
    message.push(
      `Nearest is ${from === to ? `line ${from}` : `lines ${from}-${to}`} (- old_str, + the file):`,
    );
    message.push(await comparison(wanted, lines.slice(from - 1, to)));
  } else message.push(...longLine(lines, old));
  if (message.length === 1) message.push("Nothing in it is like it: view the file, or search it with bash.");
  return new Refusal(message.join("\n"), block);
}

/**
 * Explains an old_str with several matches, by offsets in the file's own text. `loose`: they match only by look-alikes.
 */
export function severalFound(path: string, text: string, spans: readonly Span[], loose: boolean): Refusal {
  const numbers = [
    ...new Set(
      lineNumbers(
        text,
        spans.map(({ from }) => from),
      ),
    ),
  ];
  const listed = numbers.slice(0, 150).join(", ") + (numbers.length > 150 ? ", and more" : "");
  const first = numbers[0] ?? 1;
  const context: Lines = { first: Math.max(1, first - 5), last: first + 5 };
  if (loose)
    return new Refusal(
      `old_str was not found in ${path}. With look-alike characters (quotes, dashes, spaces) it is in ${spans.length} places, lines ${listed}. Copy the one you mean exactly as the file has it, with lines around it.`,
      context,
    );
  return new Refusal(
    `old_str occurs ${spans.length} times in ${path}, in lines ${listed}. Add lines around the one you mean, or set replace_all.`,
    context,
  );
}

/** Returns `old` without the line numbers of a view, if it has them. */
function withoutNumbers(old: string): string | undefined {
  const lines = old.split("\n");
  return lines.every((line) => /^ *\d+\t/.test(line) || line === "")
    ? lines.map((line) => line.replace(/^ *\d+\t/, "")).join("\n")
    : undefined;
}

/** Returns a diff from `wanted` to `found`, with white space made visible where only that differs. */
async function comparison(wanted: readonly string[], found: readonly string[]): Promise<string> {
  const { diffArrays } = await import("diff");
  const bare = (lines: readonly string[]) => lines.join("\n").replaceAll(/[^\S\n]+/g, "");
  const blanks = bare(wanted) === bare(found);
  const spelled = (line: string) =>
    blanks ? line.replaceAll(" ", "·").replaceAll("\t", "→") : visible(line);
  const lines = (diffArrays([...wanted], [...found], { timeout: 200 }) ?? []).flatMap(
    ({ value, added, removed }) =>
      value.map((line) => {
        const cut = line.length > maxShown ? "…" : "";
        return (added ? "+" : removed ? "-" : " ") + spelled(line.slice(0, maxShown)) + cut;
      }),
  );
  const shown = fitting(lines, maxBlockBytes);
  return [
    ...(blanks ? ["(only white space differs: · is a space, → a tab)"] : []),
    ...shown,
    ...(shown.length < lines.length ? ["[cut]"] : []),
  ].join("\n");
}

/** Returns the longest word of `old` in context, for lines too long to be compared. */
function longLine(lines: readonly string[], old: string): string[] {
  const words = (old.match(/[\p{L}\p{N}_]{3,}/gu) ?? []).sort((a, b) => b.length - a.length).slice(0, 5);
  for (const word of words) {
    const index = lines.findIndex((line) => line.length > 240 && line.includes(word));
    const line = lines[index];
    if (line === undefined) continue;
    const at = line.indexOf(word);
    const context = visible(line.slice(Math.max(0, at - 150), at + 250));
    return [
      `Line ${index + 1} (${line.length} characters) has this around its character ${at + 1}:`,
      context,
    ];
  }
  return [];
}
