/** Finds text in a file: exactly but for line breaks, then with look-alike characters taken as equal. Pure. */

/** Offsets in the file's own text; `to` is exclusive. */
export type Span = { from: number; to: number };
/** `loose`: only look-alikes matched. */
export type Found = { spans: Span[]; loose: boolean };

const lookAlikes =
  /(?<break>\r\n)|(?<none>[\u00AD\u200B-\u200D\u2060\uFEFF]+)|(?<space>[\u00A0\u2000-\u200A\u202F\u205F\u3000])|(?<single>[\u2018-\u201B\u2032\u02BC])|(?<double>[\u201C-\u201F\u2033])|(?<long>[\u2014\u2015])|(?<dash>[\u2010-\u2013\u2212])|(?<wide>[\uFF01-\uFF5E])|(?<marked>\P{M}\p{M}+|[\u1100-\u11FF]+)/gu;

/** Where `old` stands; `breaks` are the file's line breaks that are no LF. `overlapping` also counts those. */
export function findSpans(text: string, old: string, breaks: RegExp, overlapping = true): Found {
  const exact = fold(text, breaks, () => "\n");
  const wanted = old.replaceAll(breaks, "\n");
  const spans = occurrences(exact.text, wanted, overlapping).map((at) => exact.span(at, at + wanted.length));
  const ascii = /^[\x00-\x7f]*$/;
  if (spans.length > 0 || (ascii.test(text) && ascii.test(old))) return { spans, loose: false };
  return { spans: looseSpans(text, old), loose: true };
}

/** An em dash is written `--` or `-` in ASCII: as `old` has it. */
function looseSpans(text: string, old: string): Span[] {
  const long = old.includes("--") ? "--" : "-";
  const likeness = (groups: Record<string, string | undefined>): string => {
    if (groups.break) return "\n";
    if (groups.none) return "";
    if (groups.space) return " ";
    if (groups.single) return "'";
    if (groups.double) return '"';
    if (groups.long) return long;
    if (groups.dash) return "-";
    if (groups.wide) return String.fromCharCode(groups.wide.charCodeAt(0) - 0xfee0);
    return (groups.marked ?? "").normalize("NFC");
  };
  const wanted = fold(old.normalize("NFC"), lookAlikes, likeness).text;
  if (wanted.trim() === "") return [];
  const folded = fold(text, lookAlikes, likeness);
  return occurrences(folded.text, wanted, true).map((at) => folded.span(at, at + wanted.length));
}

/** Offsets of `wanted`, in order. An empty `wanted` is nowhere. */
export function occurrences(text: string, wanted: string, overlapping: boolean): number[] {
  const found: number[] = [];
  if (wanted === "") return found;
  const step = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) found.push(at);
  return found;
}

type Folded = { text: string; span(from: number, to: number): Span };
/** A place where folding changed the length: offsets in the folded text and in the original. */
type Shift = { from: number; to: number; originFrom: number; originTo: number };

/** The text with every match replaced, and the way back from offsets in it to the original. */
function fold(
  text: string,
  pattern: RegExp,
  replacement: (groups: Record<string, string | undefined>) => string,
): Folded {
  const shifts: Shift[] = [];
  const parts: string[] = [];
  let [done, length] = [0, 0];
  for (const match of text.matchAll(pattern)) {
    const [whole] = match;
    const made = replacement(match.groups ?? {});
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

/** Nothing that was folded away before the first character belongs to the span. */
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

/** The index of the last shift that passes; those that pass come first. -1 when none does. */
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
