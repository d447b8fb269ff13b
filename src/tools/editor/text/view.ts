/** Shows a text file to the model: numbered lines within a budget, and notes about its bytes. */

import { hasHidden } from "../../../core/text/hidden-characters.ts";
import { type Lines, Refusal } from "../refusal.ts";
import { wideEncoding } from "./encoding.ts";
import { withLf } from "./line-endings.ts";
import { linesOf, numbered } from "./lines.ts";
import type { RawFile, TextFile } from "./text-file.ts";

/** A view of a file. `complete`: nothing that was requested was left out. */
export type FileView = { text: string; complete: boolean; shown: number };

/**
 * Shows a file. `range` as given: from 1, inclusive, -1 for the end. Throws a Refusal for a range that the file does
 * not have.
 */
export function viewOf(
  file: TextFile,
  name: string,
  range: readonly number[] | undefined,
  bytes: number,
): FileView {
  const lines = linesOf(withLf(file.text, file.endings));
  if (lines.length === 0) return { text: `${name} is empty.`, complete: true, shown: 0 };
  const requested = rangeOf(range, lines.length, name);
  const { text, lines: shown, cut } = numbered(lines, requested, bytes - 700);
  const notes = [
    shown.last < requested.last
      ? `[Lines ${shown.last + 1}-${requested.last} are left out; the file has ${lines.length}. To go on: view_range [${shown.last + 1}, ${requested.last}].]`
      : "",
    cut ? `[Long lines are cut. To see one whole: cut -c or grep -o in bash.]` : "",
    oddities(file),
  ];
  return {
    text: [text, ...notes.filter((note) => note !== "")].join("\n"),
    complete: shown.last === requested.last && !cut,
    shown: shown.last - shown.first + 1,
  };
}

function rangeOf(range: readonly number[] | undefined, count: number, name: string): Lines {
  if (!range) return { first: 1, last: count };
  const [first, end] = range;
  if (range.length !== 2 || first === undefined || end === undefined)
    throw new Refusal("view_range must be two numbers: [first, last], with -1 for the end.");
  const last = end === -1 ? count : Math.min(end, count);
  if (first < 1 || first > count || (last < first && end !== -1))
    throw new Refusal(`view_range [${first}, ${end}] does not fit: ${name} has ${count} lines, from 1.`);
  return { first, last };
}

/** Returns unusual encoding and line endings in one line; empty when they are usual. */
function oddities(file: TextFile): string {
  const notes: string[] = [];
  if (file.encoding === "bytes")
    notes.push("no known encoding, other bytes shown as \uFFFD: only ASCII can be edited");
  else if (file.encoding === "damaged") notes.push("UTF-8 with damaged lines, their bytes shown as \uFFFD");
  else if (file.encoding !== "UTF-8" || file.bom)
    notes.push(`${file.encoding}${file.bom ? " with byte order mark" : ""}`);
  if (file.endings.mixed) notes.push("mixed line endings");
  else if (file.endings.ending !== "\n")
    notes.push(file.endings.ending === "\r" ? "CR line endings" : "CRLF line endings");
  if (!/[\n\r]$/.test(file.text)) notes.push("no line break at the end");
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(file.text))
    notes.push("control characters are shown as pictures like ␀");
  if (hasHidden(file.text))
    notes.push(
      "characters that hide or turn text around are shown as \\u{…}; written like that in old_str and new_str they are the characters themselves",
    );
  return notes.length === 0 ? "" : `[${notes.join("; ")}]`;
}

const kinds: [start: string, kind: string][] = [
  ["%PDF-", "a PDF document; its text: pdftotext FILE - in bash"],
  ["PK\x03\x04", "a zip archive (or an office document); its contents: unzip -l"],
  ["\x1f\x8b", "gzip data; its contents: zcat"],
  ["\x7fELF", "an ELF program or library"],
  ["SQLite format 3\0", "an SQLite database; its tables: sqlite3 FILE .schema"],
];

/**
 * Describes a file that is not text; undefined for text. Control characters decide; UTF-8 may have a few more of them.
 */
export function binaryWords({ bytes }: RawFile, name: string): string | undefined {
  const head = bytes.subarray(0, 8192);
  const start = head.toString("latin1");
  const kind = kinds.find(([magic]) => start.startsWith(magic));
  const wide = /^(\xff\xfe|\xfe\xff)/.test(start) || wideEncoding(head);
  // The last character may be cut.
  const isUtf8 = !head.toString("utf8").slice(0, -1).includes("\uFFFD");
  const controls = start.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0;
  if (!kind && (wide || controls <= head.length * (isUtf8 ? 0.2 : 0.01))) return undefined;
  return `${name} is ${kind?.[1] ?? "a binary file"} (${bytes.length} bytes). It begins with ${hex(bytes)}. To look inside use bash: file, strings, xxd | head.`;
}

function hex(bytes: Buffer): string {
  return (bytes.toString("hex", 0, 16).match(/../g) ?? []).join(" ");
}
