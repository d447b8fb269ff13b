/** Finds text in a file: exactly except for line breaks, then with look-alike characters taken as equal. Pure. */

/** Offsets in the file's own text; `to` is exclusive. */
export type Span = { from: number; to: number };
/** `loose`: only look-alikes matched. */
export type Found = { spans: Span[]; loose: boolean };

/** Characters that are read as another, or as nothing. Rules cover the em dash and full-width forms. */
const readAs: readonly (readonly [characters: string, plain: string])[] = [
  ["\u00AD\u200B\u200C\u200D\u2060\uFEFF", ""],
  ["\u00A0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000", " "],
  ["\u2018\u2019\u201A\u201B\u2032\u02BC", "'"],
  ["\u201C\u201D\u201E\u201F\u2033", '"'],
  ["\u2010\u2011\u2012\u2013\u2212", "-"],
];
const plain = new Map(readAs.flatMap(([from, to]) => Array.from(from, (char) => [char, to] as const)));
/** Matches these characters, and also line breaks, combining accents, and decomposed Hangul. */
const lookAlike = new RegExp(
  `\\r\\n?|[${[...plain.keys()].join("")}\\u2014\\u2015\\uFF01-\\uFF5E]|\\P{M}\\p{M}+|[\\u1100-\\u11FF]+`,
  "gu",
);

/** Finds `old`; `breaks` matches the file's line breaks other than LF. `overlapping` counts overlapping matches too. */
export function findSpans(text: string, old: string, breaks: RegExp, overlapping = true): Found {
  const exact = fold(text, breaks, () => "\n");
  const wanted = old.replaceAll(breaks, "\n");
  const spans = occurrences(exact.text, wanted, overlapping).map((at) => exact.span(at, at + wanted.length));
  const ascii = /^[\x00-\x7f]*$/;
  if (spans.length > 0 || (ascii.test(text) && ascii.test(old))) return { spans, loose: false };
  return { spans: looseSpans(text, old), loose: true };
}

function looseSpans(text: string, old: string): Span[] {
  // In ASCII an em dash is written `-` or `--`: follow `old`.
  const dash = old.includes("--") ? "--" : "-";
  const read = (found: string): string => {
    if (found.startsWith("\r")) return "\n";
    if (/^[\u2014\u2015]$/.test(found)) return dash;
    if (/^[\uFF01-\uFF5E]$/.test(found)) return String.fromCharCode(found.charCodeAt(0) - 0xfee0);
    return plain.get(found) ?? found.normalize("NFC");
  };
  const wanted = fold(old, lookAlike, read).text;
  if (wanted.trim() === "") return [];
  const folded = fold(text, lookAlike, read);
  return occurrences(folded.text, wanted, true).map((at) => folded.span(at, at + wanted.length));
}

/** Returns the offsets of `wanted`, in order. An empty `wanted` is nowhere. */
export function occurrences(text: string, wanted: string, overlapping: boolean): number[] {
  const found: number[] = [];
  if (wanted === "") return found;
  const step = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) found.push(at);
  return found;
}

type Folded = { text: string; span(from: number, to: number): Span };
/** An offset where folding changed the length, in the folded text and in the original. */
type Shift = { from: number; to: number; originFrom: number; originTo: number };

/** Replaces every match and maps offsets in the result back to the original. */
function fold(text: string, pattern: RegExp, read: (found: string) => string): Folded {
  const shifts: Shift[] = [];
  const parts: string[] = [];
  let [done, length] = [0, 0];
  for (const match of text.matchAll(pattern)) {
    const [whole] = match;
    const made = read(whole);
    const from = length + match.index - done;
    parts.push(text.slice(done, match.index), made);
    done = match.index + whole.length;
    length = from + made.length;
    if (made.length !== whole.length)
      shifts.push({ from, to: length, originFrom: match.index, originTo: done });
  }
  if (done === 0) return { text, span: (from, to) => ({ from, to }) };
  parts.push(text.slice(done));
  return {
    text: parts.join(""),
    span: (from, to) => ({ from: startAt(shifts, from), to: endAt(shifts, to) }),
  };
}

/** Excludes characters that were folded away before the first one from the span. */
function startAt(shifts: readonly Shift[], at: number): number {
  const shift = shifts[before(shifts, (candidate) => candidate.from < at || candidate.to <= at)];
  if (!shift) return at;
  return at < shift.to ? shift.originFrom : shift.originTo + at - shift.to;
}

function endAt(shifts: readonly Shift[], at: number): number {
  const shift = shifts[before(shifts, (candidate) => candidate.from < at)];
  if (!shift) return at;
  return at < shift.to ? shift.originTo : shift.originTo + at - shift.to;
}

/** Returns the index of the last shift that passes; those that pass come first. -1 when none does. */
function before(shifts: readonly Shift[], passes: (shift: Shift) => boolean): number {
  let [low, high] = [0, shifts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const shift = shifts[middle];
    if (shift && passes(shift)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
