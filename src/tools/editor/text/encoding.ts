/**
 * Decodes bytes to text and encodes them back without losing one. An encoding that fails the round trip is not used.
 */

import { isAscii, isUtf8 } from "node:buffer";
import { Refusal } from "../refusal.ts";

/**
 * A file's encoding. `damaged`: UTF-8 except for some lines. `bytes`: no encoding fits, and only ASCII may be edited.
 * In both the high bytes of a line that is not UTF-8 are lone surrogates (U+DC80 to U+DCFF), as in Python's
 * `surrogateescape`.
 */
export type Encoding =
  | "UTF-8"
  | "UTF-16LE"
  | "UTF-16BE"
  | "windows-1252"
  | "GBK"
  | "Shift_JIS"
  | "EUC-JP"
  | "EUC-KR"
  | "Big5"
  | "damaged"
  | "bytes";
/** `text` is without the byte order mark. */
export type Decoded = { text: string; encoding: Encoding; bom: boolean };

const marks: Partial<Record<Encoding, Buffer>> = {
  "UTF-8": Buffer.from([0xef, 0xbb, 0xbf]),
  "UTF-16LE": Buffer.from([0xff, 0xfe]),
  "UTF-16BE": Buffer.from([0xfe, 0xff]),
};

/** Decodes a file. Never fails: the last resort is `bytes`. */
export async function decode(bytes: Buffer): Promise<Decoded> {
  for (const [name, mark] of Object.entries(marks)) {
    if (!bytes.subarray(0, mark.length).equals(mark)) continue;
    const marked = await firstThatFits(bytes.subarray(mark.length), [name as Encoding]);
    if (marked) return { ...marked, bom: true };
  }
  const wide = wideEncoding(bytes);
  return (
    (await firstThatFits(bytes, wide ? [wide, "UTF-8"] : ["UTF-8"])) ??
    (await firstThatFits(bytes, [await likely(bytes), "windows-1252"])) ?? {
      text: await toText(bytes, "bytes"),
      encoding: "bytes",
      bom: false,
    }
  );
}

/** Returns the text in the first encoding that gives the same bytes back. */
async function firstThatFits(bytes: Buffer, encodings: readonly Encoding[]): Promise<Decoded | undefined> {
  for (const encoding of encodings) {
    const text = await toText(bytes, encoding);
    if ((await toBytes(text, encoding)).equals(bytes)) return { text, encoding, bom: false };
  }
  return undefined;
}

/** Encodes a text in the encoding of its file. Throws a Refusal that names a character that cannot be written in it. */
export async function encode(text: string, { encoding, bom }: Omit<Decoded, "text">): Promise<Buffer> {
  const bytes = await toBytes(text, encoding);
  const back = await toText(bytes, encoding);
  if (back !== text) {
    const [wanted, got] = [[...text], [...back]];
    const lost = wanted.find((char, index) => char !== got[index]) ?? "";
    const code = lost.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    const where =
      encoding === "damaged"
        ? "the line holds bytes that are no UTF-8, and takes no"
        : `the file is encoded in ${encoding}, which has no`;
    throw new Refusal(`Nothing was written: ${where} character U+${code} (${lost.toWellFormed()}).`);
  }
  return bom ? Buffer.concat([marks[encoding] ?? Buffer.alloc(0), bytes]) : bytes;
}

async function toText(bytes: Buffer, encoding: Encoding): Promise<string> {
  switch (encoding) {
    case "UTF-8":
      return bytes.toString("utf8");
    case "UTF-16LE":
      return bytes.toString("utf16le");
    case "UTF-16BE":
      return bytes.length % 2 === 0 ? Buffer.from(bytes).swap16().toString("utf16le") : "";
    case "damaged":
    case "bytes":
      return splitLines(bytes).map(escaped).join("");
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
    case "damaged":
    case "bytes":
      return Buffer.concat(text.split(/(?<=\n)/).map(unescaped));
    default:
      return (await codec()).encode(text, encoding);
  }
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += lines.at(-1)?.length ?? 1) {
    const end = bytes.indexOf(10, at);
    lines.push(bytes.subarray(at, end < 0 ? bytes.length : end + 1));
  }
  return lines;
}

function escaped(line: Buffer): string {
  if (isUtf8(line)) return line.toString("utf8");
  return line
    .toString("latin1")
    .replace(/[\x80-\xff]/g, (char) => String.fromCharCode(0xdc00 + char.charCodeAt(0)));
}

/** Restores the bytes of such a line; other new characters come out wrong here and fail the round trip. */
function unescaped(line: string): Buffer {
  if (line.isWellFormed()) return Buffer.from(line, "utf8");
  return Buffer.from(
    line.replace(/[\uDC80-\uDCFF]/g, (char) => String.fromCharCode(char.charCodeAt(0) & 0xff)),
    "latin1",
  );
}

/** Loads iconv-lite when first needed: its tables are large, and most files are UTF-8. */
async function codec() {
  return (await import("iconv-lite")).default;
}

const asian = new Map<string, Encoding>(
  (["Shift_JIS", "EUC-JP", "EUC-KR", "Big5"] as const).map((name) => [name, name]),
).set("GB18030", "GBK");
/** Confidence out of 100. Below it, and for single bytes, the detector guesses: it takes `©2020 café` for Polish. */
const certain = 50;
/** Bytes read by the detector: more cost time without improving its answer. */
const detectedBytes = 64 * 1024;

/**
 * Guesses the encoding of bytes that are not UTF-8. A wrong guess is shown wrong but never written wrong, because it
 * must survive the round trip.
 */
async function likely(bytes: Buffer): Promise<Encoding> {
  if (isMostlyUtf8(bytes)) return "damaged";
  const { analyse } = await import("chardet");
  const [best] = analyse(bytes.subarray(0, detectedBytes));
  const known = best && best.confidence >= certain ? asian.get(best.name) : undefined;
  return known ?? likelyOfFew(bytes);
}

/**
 * Guesses one of three encodings, for texts too short for the detector, by the high bytes: GBK text is pairs of high
 * bytes, Shift-JIS is full of kana, Western text has single letters between ASCII ones.
 */
function likelyOfFew(bytes: Buffer): Encoding {
  let [units, pairs, kana, accents] = [0, 0, 0, 0];
  for (let index = 0; index < bytes.length; index++) {
    const [lead = 0, trail = 0] = [bytes[index], bytes[index + 1]];
    if (lead < 0x80) continue;
    units += 1;
    const accent = trail < 0x80 || isBetweenLetters(bytes, index);
    accents += +accent;
    kana += +isKana(lead, trail);
    pairs += +(!accent && lead >= 0xa1 && lead <= 0xf7 && trail >= 0xa1);
    if (trail >= 0x40) index += 1;
  }
  if (kana * 5 >= units) return "Shift_JIS";
  if (pairs * 5 >= units * 4) return "GBK";
  return accents * 2 <= units ? "Shift_JIS" : "windows-1252";
}

/** Returns true when, beyond ASCII, at least as many lines are UTF-8 as are not. */
function isMostlyUtf8(bytes: Buffer): boolean {
  const lines = splitLines(bytes).filter((line) => !isAscii(line));
  const valid = lines.filter((line) => isUtf8(line)).length;
  return valid > 0 && valid * 2 >= lines.length;
}

/** Recognises UTF-16 without a mark: ASCII in it makes every second byte zero. */
export function wideEncoding(bytes: Buffer): Encoding | undefined {
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

/** Returns true for two high bytes with a letter on both sides, which are accents, as in `créée`. */
function isBetweenLetters(bytes: Buffer, index: number): boolean {
  const isLetter = (byte = 0) => /[A-Za-z]/.test(String.fromCharCode(byte));
  return isLetter(bytes[index - 1]) && isLetter(bytes[index + 2]);
}
