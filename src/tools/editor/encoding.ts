/** Bytes to text and back without losing one. What does not survive the round trip is read as plain bytes. */

import { Refusal } from "./refusal.ts";

/** `bytes`: no encoding fits; each character stands for one byte, and only ASCII may be edited. */
export type Encoding = "UTF-8" | "UTF-16LE" | "UTF-16BE" | "windows-1252" | "GBK" | "Shift_JIS" | "bytes";
/** `text` is without the byte order mark. */
export type Decoded = { text: string; encoding: Encoding; bom: boolean };

const marks: Partial<Record<Encoding, Buffer>> = {
  "UTF-8": Buffer.from([0xef, 0xbb, 0xbf]),
  "UTF-16LE": Buffer.from([0xff, 0xfe]),
  "UTF-16BE": Buffer.from([0xfe, 0xff]),
};

/** Never fails: the last resort is `bytes`. */
export async function decode(bytes: Buffer): Promise<Decoded> {
  for (const [name, mark] of Object.entries(marks)) {
    if (!bytes.subarray(0, mark.length).equals(mark)) continue;
    const encoding = name as Encoding;
    const text = await strictly(bytes.subarray(mark.length), encoding);
    if (text !== undefined) return { text, encoding, bom: true };
  }
  const wide = wideEncoding(bytes);
  for (const encoding of [...(wide ? [wide] : []), "UTF-8", likely(bytes), "windows-1252"] as const) {
    const text = await strictly(bytes, encoding);
    if (text !== undefined) return { text, encoding, bom: false };
  }
  return { text: bytes.toString("latin1"), encoding: "bytes", bom: false };
}

/** The bytes of a text in the encoding of its file. Throws a Refusal that names what cannot be written in it. */
export async function encode(text: string, { encoding, bom }: Omit<Decoded, "text">): Promise<Buffer> {
  const bytes = await toBytes(text, encoding);
  const back = await toText(bytes, encoding);
  if (back !== text) {
    const [wanted, got] = [[...text], [...back]];
    const lost = wanted.find((char, index) => char !== got[index]) ?? "";
    const code = lost.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    throw new Refusal(
      `Nothing was written: the file is encoded in ${encoding}, which has no character U+${code} (${lost.toWellFormed()}).`,
    );
  }
  return bom ? Buffer.concat([marks[encoding] ?? Buffer.alloc(0), bytes]) : bytes;
}

async function strictly(bytes: Buffer, encoding: Encoding): Promise<string | undefined> {
  const text = await toText(bytes, encoding);
  return (await toBytes(text, encoding)).equals(bytes) ? text : undefined;
}

async function toText(bytes: Buffer, encoding: Encoding): Promise<string> {
  switch (encoding) {
    case "UTF-8":
      return bytes.toString("utf8");
    case "UTF-16LE":
      return bytes.toString("utf16le");
    case "UTF-16BE":
      return bytes.length % 2 === 0 ? Buffer.from(bytes).swap16().toString("utf16le") : "";
    case "bytes":
      return bytes.toString("latin1");
    default:
      return (await codec()).decode(bytes, encoding, { stripBOM: false });
  }
}

async function toBytes(text: string, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case "UTF-8":
      return Buffer.from(text, "utf8");
    case "UTF-16LE":
      return Buffer.from(text, "utf16le");
    case "UTF-16BE":
      return Buffer.from(text, "utf16le").swap16();
    case "bytes":
      return Buffer.from(text, "latin1");
    default:
      return (await codec()).encode(text, encoding);
  }
}

/** Its tables are large and most files are UTF-8: loaded when first needed. */
async function codec() {
  return (await import("iconv-lite")).default;
}

/**
 * The likeliest encoding of bytes that are not UTF-8, by what their high bytes look like: GBK text is pairs of high
 * bytes, Shift-JIS is full of kana, Western text has single letters between ASCII ones. A wrong guess is shown wrong
 * but never written wrong, because it must survive the round trip.
 */
function likely(bytes: Buffer): Encoding {
  let [units, pairs, kana, lone] = [0, 0, 0, 0];
  for (let index = 0; index < bytes.length; index++) {
    const [lead = 0, trail = 0] = [bytes[index], bytes[index + 1]];
    if (lead < 0x80) continue;
    units += 1;
    lone += +(trail < 0x80);
    kana += +isKana(lead, trail);
    pairs += +(lead >= 0xa1 && lead <= 0xf7 && trail >= 0xa1 && !isBetweenLetters(bytes, index));
    if (trail >= 0x40) index += 1;
  }
  if (kana * 5 >= units) return "Shift_JIS";
  if (pairs * 5 >= units * 4) return "GBK";
  return lone * 2 <= units ? "Shift_JIS" : "windows-1252";
}

/** UTF-16 without a mark: ASCII in it makes every second byte zero. */
function wideEncoding(bytes: Buffer): Encoding | undefined {
  const zeros = [0, 0];
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1))
    zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (Math.max(even, odd) * 5 <= bytes.length || Math.min(even, odd) * 50 > bytes.length) return undefined;
  return odd > even ? "UTF-16LE" : "UTF-16BE";
}

function isKana(lead: number, trail: number): boolean {
  return (lead === 0x82 && trail >= 0x9f) || (lead === 0x83 && trail >= 0x40 && trail <= 0x96);
}

/** Two high bytes with a letter on both sides are accents, as in `créée`. */
function isBetweenLetters(bytes: Buffer, index: number): boolean {
  const isLetter = (byte = 0) => /[A-Za-z]/.test(String.fromCharCode(byte));
  return isLetter(bytes[index - 1]) && isLetter(bytes[index + 2]);
}
