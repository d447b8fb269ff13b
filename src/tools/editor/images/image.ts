/** Images for the model: recognised by their bytes, checked, and scaled down before they enter the history. */

import type { ResultContent } from "../../../core/blocks.ts";
import { Refusal } from "../refusal.ts";
import type { RawFile } from "../text/text-file.ts";
import { scaledOnThread } from "./scale-thread.ts";

export type ImageKind = "png" | "jpeg" | "gif" | "webp";
/** Kind and size of an image. `whole` is false when the data is damaged or cut off. */
export type Picture = { kind: ImageKind; width: number; height: number; whole: boolean };

/**
 * With more than 20 images in a request the API takes no side above 2000; base64 of 5 MB is 3.75 MB of bytes. Decoding
 * takes about 16 bytes of memory a pixel.
 */
const limits = { side: 2000, bytes: 3_750_000, pixels: 40_000_000 };

export function isImage(bytes: Buffer): boolean {
  return kindOf(bytes) !== undefined;
}

/**
 * Returns a line of words and the image. Throws a Refusal for one that is damaged or cannot be brought under the
 * limits.
 */
export async function imageOf(
  { bytes }: Pick<RawFile, "bytes">,
  name: string,
  signal: AbortSignal,
  scale = scaledOnThread,
): Promise<Exclude<ResultContent, string>> {
  const picture = pictureOf(bytes);
  if (!picture?.whole)
    throw new Refusal(`${name} is a damaged or incomplete image (${kindOf(bytes)}). It was not shown.`);
  const { kind, width, height } = picture;
  const size = `${name}: ${kind} image, ${width}x${height}, ${bytes.length} bytes`;
  if (Math.max(width, height) <= limits.side && bytes.length <= limits.bytes)
    return [{ type: "text", text: size }, block(kind, bytes)];
  if ((kind !== "png" && kind !== "jpeg") || width * height > limits.pixels)
    throw new Refusal(
      `${size}: too large to be shown (at most ${limits.side} pixels a side and ${limits.bytes} bytes). Make a smaller copy with bash, for instance: convert FILE -resize ${limits.side}x${limits.side} /tmp/small.png, and view that.`,
    );
  const small = await scale({ bytes, kind, limits }, signal).catch(() => undefined);
  if (signal.aborted) throw new Refusal("[cancelled by user]");
  if (!small) throw new Refusal(`${name} is a damaged image (${kind}). It was not shown.`);
  return [
    { type: "text", text: `${size}; shown at ${small.width}x${small.height}` },
    block(small.kind, Buffer.from(small.bytes)),
  ];
}

function block(kind: ImageKind, bytes: Buffer) {
  const source = { type: "base64" as const, media_type: `image/${kind}`, data: bytes.toString("base64") };
  return { type: "image" as const, source };
}

function kindOf(bytes: Buffer): ImageKind | undefined {
  const start = bytes.toString("latin1", 0, 12);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (start.startsWith("\xff\xd8\xff")) return "jpeg";
  if (/^GIF8[79]a/.test(start)) return "gif";
  return /^RIFF[\s\S]{4}WEBP/.test(start) ? "webp" : undefined;
}

/**
 * Reads kind and size from the file's own header; undefined when it is none of the four kinds or its header is cut.
 * Ours, because image-size 2.1.0 reads a size from 104 of 10,000 mutated files whose header is cut off or has a side of
 * 0 (1x1 from a WebP of 16 bytes), and does not tell whether the data behind the header is whole.
 */
export function pictureOf(bytes: Buffer): Picture | undefined {
  const kind = kindOf(bytes);
  try {
    const picture = kind && { png, jpeg, gif, webp }[kind](bytes);
    return kind && picture && picture.width > 0 && picture.height > 0 ? { kind, ...picture } : undefined;
  } catch (error) {
    // Reading past the end: the file is cut off within its header.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Measures = Omit<Picture, "kind"> | undefined;

/**
 * Reads a PNG. Every chunk carries a checksum; the first one is IHDR, which holds the size, and the last one IEND. A
 * chunk whose name begins with a small letter adds nothing that a decoder needs, so its checksum may be wrong.
 */
function png(bytes: Buffer): Measures {
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || bytes.readUInt32BE(8) !== 13) return undefined;
  let [at, data] = [8, false];
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > bytes.length) break;
    const type = bytes.toString("latin1", at + 4, at + 8);
    // Loaded by the first picture: few sessions see one.
    const sum = process.getBuiltinModule("node:zlib").crc32(bytes.subarray(at + 4, end));
    if (sum !== bytes.readUInt32BE(end) && !/^[a-z]/.test(type)) break;
    data ||= type === "IDAT";
    at = end + 4;
    if (type === "IEND")
      return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), whole: data };
  }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), whole: false };
}

/**
 * Reads a JPEG. The frame header (SOF0 to SOF15 except the three tables among them) holds the size; the end is marked.
 */
function jpeg(bytes: Buffer): Measures {
  const whole = bytes.lastIndexOf("\xff\xd9", undefined, "latin1") > bytes.length - 1024;
  for (let at = 2; bytes[at] === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7), whole };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function gif(bytes: Buffer): Measures {
  const whole = bytes.subarray(-16).includes(0x3b);
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), whole };
}

function webp(bytes: Buffer): Measures {
  const whole = bytes.readUInt32LE(4) + 8 <= bytes.length;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff, whole };
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      if (bytes[20] !== 0x2f) return undefined;
      return { width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1, whole };
    }
    case "VP8X":
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1, whole };
    default:
      return undefined;
  }
}
