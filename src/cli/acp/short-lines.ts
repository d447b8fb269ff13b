/** Reads lines of bytes, and leaves out those that are too long to be held. */

/** Bytes of a long line that `onLong` gets. */
const beginningBytes = 4096;

/**
 * Yields lines with their line feed, and at the end what stands behind the last one. A line of more than `most` bytes is
 * never held as a whole: `onLong` gets its beginning.
 */
export async function* shortLines(
  input: AsyncIterable<Buffer>,
  most: number,
  onLong: (beginning: string) => void,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (bytes: Buffer): void => {
    length += bytes.length;
    if (length <= most) parts.push(bytes);
    // The beginning is kept, the rest is dropped.
    else if (parts.length > 0) parts = [Buffer.concat(parts).subarray(0, beginningBytes)];
    else parts = [bytes.subarray(0, beginningBytes)];
  };
  const line = (): Buffer | undefined => {
    const whole = Buffer.concat(parts);
    const isLong = length > most;
    [parts, length] = [[], 0];
    if (!isLong) return whole.length > 0 ? whole : undefined;
    onLong(whole.toString());
    return undefined;
  };
  for await (const chunk of input) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      take(chunk.subarray(from, at + 1));
      from = at + 1;
      const found = line();
      if (found) yield found;
    }
    if (from < chunk.length) take(chunk.subarray(from));
  }
  const rest = line();
  if (rest) yield rest;
}
