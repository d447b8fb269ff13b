/** Detects a stream that repeats a short text over and over. Pure; keeps the newest 2,000 characters. */

export type RepetitionWatch = {
  /** Takes the next piece of the stream. Returns the sequence once it has repeated too long, else undefined. */
  feed(text: string): string | undefined;
};

/** Limits: UTF-8 bytes of repetition (about 2,000 tokens), or rounds of a sequence of a few letters. */
const maxBytes = 8_000;
const maxRounds = 2_000;
/** Characters searched for a sequence, which can be half as long. */
const windowLength = 2_000;
/** Characters between two searches, each of which is a pass over the window. */
const lookEvery = 200;

/** Watches one reply. */
export function watchRepetition(): RepetitionWatch {
  const ring = new Uint16Array(windowLength);
  let chars = 0;
  /** Length of the sequence that repeats; 0 while none does. */
  let period = 0;
  let bytes = 0;
  const at = (index: number): number => ring[index % windowLength] ?? 0;
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
        if (!take(text.charCodeAt(index))) continue;
        const codes = Array.from({ length: period }, (_, each) => at(chars - period + each));
        return String.fromCharCode(...codes).toWellFormed();
      }
      return undefined;
    },
  };
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
