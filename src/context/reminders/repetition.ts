/** Detects a stream that repeats a short text over and over, or nearly so. Pure; keeps the newest 3,000 bytes. */

export type RepetitionWatch = {
  /** Takes the next piece of the stream. Returns what has repeated too long, else undefined. */
  feed(text: string): string | undefined;
};

/** Limits of a sequence: UTF-8 bytes (about 2,000 tokens where it holds no words), or rounds of a few signs. */
const maxBytes = 8_000;
const maxRounds = 2_000;
/** Characters searched for a sequence, which can be half as long. */
const windowLength = 2_000;
/** Characters between two searches, each of which is a pass over the window. */
const lookEvery = 200;

/** Watches one reply. */
export function watchRepetition(): RepetitionWatch {
  const ring = new Uint16Array(windowLength);
  const words = watchWords();
  let chars = 0;
  /** Length of the sequence that repeats; 0 while none does. */
  let period = 0;
  let bytes = 0;
  const at = (index: number): number => ring[index % windowLength] ?? 0;
  const sequence = (): string => {
    const codes = Array.from({ length: period }, (_, each) => at(chars - period + each));
    return fromLineStart(String.fromCharCode(...codes)).toWellFormed();
  };
  const take = (code: number): boolean => {
    if (period > 0 && at(chars - period) !== code) period = 0;
    ring[chars++ % windowLength] = code;
    if (period > 0) bytes += bytesOf(code);
    else if (chars >= windowLength && chars % lookEvery === 0) {
      const newest = inOrder(ring, chars % windowLength);
      period = periodOf(newest);
      if (period > 0) bytes = newest.reduce((sum, each) => sum + bytesOf(each), 0);
    }
    return period > 0 && bytes >= enough(period);
  };
  return {
    feed(text) {
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index);
        if (take(code)) return sequence();
        if (words.take(text[index] ?? "", bytesOf(code))) return period > 0 ? sequence() : words.newest();
      }
      return undefined;
    },
  };
}

/** A sequence that goes on and on can be told from any of its characters. */
function fromLineStart(sequence: string): string {
  const start = sequence.lastIndexOf("\n") + 1;
  return sequence.slice(start) + sequence.slice(0, start);
}

/** Bytes of words said before, less what was new, that are too many: about 1,000 tokens. */
const maxOldBytes = 3_200;
/** Bytes of old words that a byte of a new one makes up for: text of which a tenth is new is never too much. */
const newCounts = 9;
/** A word is old when it stands after the same words as lately, as many as make up so many bytes. */
const contextBytes = 20;
/** "Lately": at least so many bytes of words back, at most twice as many. A text quoted in full is farther away. */
const lately = 1_500;

/** Patterns of signs, made for a reply: to read such names takes half a millisecond, which no start waits for. */
function signs() {
  return {
    inWords: /[\p{L}\p{N}\p{M}_]/u,
    /** In these scripts nothing stands between words: each sign counts as one. */
    alone: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
  };
}

type Word = { text: string; bytes: number };

/**
 * Watches for lines that are nearly the same, such as those that differ in a word or in their number. What carries
 * something new in each line, such as the rows of a table, a log or a list of data, is left alone: a new word makes
 * the words after it new as well.
 */
function watchWords({ inWords, alone } = signs()) {
  let recent = new Set<string>();
  let earlier = new Set<string>();
  let sinceTurn = 0;
  let context: Word[] = [];
  let word: Word = { text: "", bytes: 0 };
  let startsLine = true;
  let old = 0;
  const end = ({ text, bytes }: Word): boolean => {
    context = [...context.slice(-19), { text, bytes }];
    const key = keyOf(context);
    const isOld = recent.has(key) || earlier.has(key);
    old = Math.max(0, old + (isOld ? bytes : -newCounts * bytes));
    recent.add(key);
    sinceTurn += bytes;
    if (sinceTurn >= lately) [earlier, recent, sinceTurn] = [recent, new Set(), 0];
    return old >= maxOldBytes;
  };
  return {
    /** Takes the next code unit. Returns true when nearly the same was said for too long. */
    take(char: string, bytes: number): boolean {
      const goes = inWords.test(char) || (char >= "\ud800" && char <= "\udfff");
      if (goes && !alone.test(char)) {
        word = { text: word.text + char, bytes: word.bytes + bytes };
        return false;
      }
      const [ended, atStart] = [word, startsLine];
      word = { text: "", bytes: 0 };
      startsLine = char === "\n" || (atStart && ended.text === "" && !goes);
      const isNumber = atStart && (char === "." || char === ")") && /^\d+$/.test(ended.text);
      const tooLong = ended.text !== "" && !isNumber && end({ text: ended.text, bytes: ended.bytes + 1 });
      return goes ? end({ text: char, bytes }) || tooLong : tooLong;
    },
    newest: () =>
      context
        .map(({ text }) => text)
        .join(" ")
        .toWellFormed(),
  };
}

/** The newest words, as many as make up a context. */
function keyOf(words: readonly Word[]): string {
  let bytes = 0;
  const first = words.findLastIndex((word) => {
    bytes += word.bytes;
    return bytes >= contextBytes;
  });
  return words
    .slice(Math.max(0, first))
    .map(({ text }) => text)
    .join(" ");
}

/** Returns a copy of the ring that begins with its oldest element. */
function inOrder(ring: Uint16Array, oldest: number): Uint16Array {
  const ordered = new Uint16Array(ring.length);
  ordered.set(ring.subarray(oldest));
  ordered.set(ring.subarray(0, oldest), ring.length - oldest);
  return ordered;
}

/** Returns the limit for a period; runs of one character get more, because many of them are one token. */
function enough(period: number): number {
  return period === 1 ? maxBytes : Math.min(maxBytes, maxRounds * period);
}

/** Returns the UTF-8 bytes of a code unit; half a surrogate pair counts as two. */
function bytesOf(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
}

/** Returns the shortest period of the whole window, at most half of it; 0 if there is none. */
function periodOf(window: Uint16Array): number {
  const borders = new Uint16Array(window.length);
  for (let index = 1, border = 0; index < window.length; index++) {
    while (border > 0 && window[index] !== window[border]) border = borders[border - 1] ?? 0;
    if (window[index] === window[border]) border++;
    borders[index] = border;
  }
  const period = window.length - (borders.at(-1) ?? 0);
  return 2 * period <= window.length ? period : 0;
}
