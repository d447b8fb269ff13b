/** Reads the characters of a text as bytes, several times as fast as from the text itself. Pure. */

/** Texts up to this many characters share one array. */
const most = 0x10000;

/**
 * Returns a function that gives the low byte of each character at the same index: enough to rule out quickly that
 * a text contains something. The array is valid until the next call, and may be longer than the text.
 */
export function lowByteReader(): (text: string) => Uint8Array {
  let shared: Buffer | undefined;
  return (text) => {
    if (text.length > most) return Buffer.from(text, "latin1");
    shared ??= Buffer.allocUnsafe(most);
    shared.write(text, 0, "latin1");
    return shared;
  };
}
