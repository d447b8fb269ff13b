/**
 * Mutated images, the same in every run. `node test/support/image-fuzz.ts <files of each kind>` (`npm run fuzz:images`)
 * shows them all to the editor and says what became of them; a process that survives it has shown that no image ends
 * it.
 */

import { crc32, deflateSync, inflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { type ImageKind, imageOf } from "../../src/tools/editor/images/image.ts";
import { scaled } from "../../src/tools/editor/images/scale.ts";
import { scaledOnThread } from "../../src/tools/editor/images/scale-thread.ts";
import { Refusal } from "../../src/tools/editor/refusal.ts";
import { seededRandom } from "./random.ts";

type Random = () => number;

export const imageKinds: readonly ImageKind[] = ["png", "jpeg", "gif", "webp"];

/** File number `index` of a kind: a valid image, then between one and eight things are changed in it. */
export function mutatedImage(kind: ImageKind, index: number): Buffer {
  const random = seededRandom(1_000_003 * (imageKinds.indexOf(kind) + 1) + index);
  const whole = samples[kind][Math.floor(random() * samples[kind].length)] ?? Buffer.alloc(0);
  // With its checksums right, what is wrong in a PNG is met only by the decoder.
  const mutate = kind === "png" && random() < 0.7 ? mutatedChunks : mutatedBytes;
  return mutate(whole, random);
}

/** Throws when the editor does. `scale`: how what is too large is scaled. */
export async function shown(bytes: Buffer, scale = scaledOnThread): Promise<"image" | "refused"> {
  try {
    await imageOf({ bytes }, "picture", new AbortController().signal, scale);
    return "image";
  } catch (error) {
    if (error instanceof Refusal) return "refused";
    throw error;
  }
}

/** A PNG of RGBA pixels whose rows all begin with this filter byte; its checksums are right. */
export function pngOfRows(width: number, height: number, filter: number, interlace = 0): Buffer {
  const rows = Buffer.alloc(height * (1 + 4 * width), 90);
  for (let y = 0; y < height; y++) rows[y * (1 + 4 * width)] = filter;
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, interlace]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return pngOf([
    ["IHDR", header],
    ["IDAT", deflateSync(rows)],
    ["IEND", Buffer.alloc(0)],
  ]);
}

/** A PNG of these chunks. */
export function pngOf(chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer {
  const made = chunks.map(([type, data]) => {
    const chunk = Buffer.alloc(12 + data.length);
    chunk.writeUInt32BE(data.length, 0);
    chunk.write(type, 4, "latin1");
    data.copy(chunk, 8);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
    return chunk;
  });
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...made]);
}

function chunksOf(png: Buffer): [string, Buffer][] {
  const chunks: [string, Buffer][] = [];
  for (let at = 8; at + 12 <= png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + length)]);
    at += 12 + length;
  }
  return chunks;
}

/** Below the compression or in a header, with the checksums made anew. */
function mutatedChunks(png: Buffer, random: Random): Buffer {
  const chunks = chunksOf(png).map(([type, data]): [string, Buffer] => {
    if (type === "IEND" || random() < 0.3) return [type, data];
    if (type === "IDAT" && random() < 0.6)
      return [type, deflateSync(mutatedBytes(inflateSync(data), random))];
    return [type, type === "IHDR" ? mutatedHeader(data, random) : mutatedBytes(data, random)];
  });
  if (random() < 0.1) chunks.splice(Math.floor(random() * chunks.length), 1);
  if (random() < 0.1)
    chunks.splice(1, 0, chunks[Math.floor(random() * chunks.length)] ?? ["tRNS", Buffer.alloc(2)]);
  return pngOf(chunks);
}

/** Mostly legal values in other combinations, so that the decoder goes far. */
function mutatedHeader(header: Buffer, random: Random): Buffer {
  const changed = Buffer.from(header);
  const pick = (values: readonly number[]) => values[Math.floor(random() * values.length)] ?? 0;
  if (random() < 0.4) changed[8] = pick([1, 2, 4, 8, 16, 3]);
  if (random() < 0.4) changed[9] = pick([0, 2, 3, 4, 6, 5]);
  if (random() < 0.3) changed[12] = pick([0, 1, 2]);
  if (random() < 0.3)
    changed.writeUInt32BE(pick([1, 2001, 4000, 70_000, 2 ** 31, 2 ** 32 - 1]), random() < 0.5 ? 0 : 4);
  return changed;
}

function mutatedBytes(whole: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(whole);
  const at = () => Math.floor(random() * bytes.length);
  for (let left = 1 + Math.floor(random() * 8); left > 0 && bytes.length > 16; left--) {
    const kind = random();
    if (kind < 0.5) bytes[at()] = Math.floor(random() * 256);
    else if (kind < 0.65) bytes[at()] = random() < 0.5 ? 0 : 255;
    else if (kind < 0.8) bytes.copy(bytes, at(), at(), at());
    else if (kind < 0.9) bytes = Buffer.concat([bytes.subarray(0, at()), bytes.subarray(at())]);
    else if (kind < 0.95) bytes = bytes.subarray(0, 12 + at());
    else bytes.writeUInt16BE(Math.floor(random() * 65_536), Math.min(at(), bytes.length - 2));
  }
  return bytes;
}

function pixels(width: number, height: number): { width: number; height: number; data: Buffer } {
  const random = seededRandom(width * height);
  return {
    width,
    height,
    data: Buffer.from(Array.from({ length: width * height * 4 }, () => random() * 256)),
  };
}

function encodedPng(
  width: number,
  height: number,
  options: { colorType?: 0 | 2 | 4 | 6; bitDepth?: 8 | 16 } = {},
): Buffer {
  const image = new PNG({ width, height });
  image.data = pixels(width, height).data;
  return PNG.sync.write(image, options);
}

const samples: Record<ImageKind, readonly Buffer[]> = {
  // Above 2,000 pixels a side all are decoded.
  png: [
    encodedPng(2001, 2),
    encodedPng(2100, 1, { colorType: 0 }),
    encodedPng(3, 2050, { colorType: 2 }),
    encodedPng(20, 10, { colorType: 4 }),
    pngOfRows(2004, 9, 4, 1),
  ],
  jpeg: [
    jpeg.encode(pixels(2008, 8), 80).data,
    jpeg.encode(pixels(8, 2400), 50).data,
    jpeg.encode(pixels(40, 16), 95).data,
  ],
  gif: [
    Buffer.from("R0lGODlhAwACAIAAAAAAAP///yH5BAEAAAAALAAAAAADAAIAAAIDhAkFADs=", "base64"),
    Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64"),
  ],
  webp: [
    Buffer.from("UklGRh4AAABXRUJQVlA4TBEAAAAvAUAAAAfQ//73v/+BiOh/AAA=", "base64"),
    Buffer.from("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAQAcJaQAA3AA/v3AgAA=", "base64"),
    Buffer.from(
      "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
      "base64",
    ),
  ],
};

type Escapes = { count: number; hear: () => void };

/**
 * A thread for each of 20,000 images would take an hour. So decoders run in this process, and only what escapes them
 * (an error that nobody can catch, or no answer in 250 ms) is scaled once more, as the editor does it.
 */
function scaledHere(escapes: Escapes): typeof scaledOnThread {
  return async (request, signal) => {
    const { bytes, kind, limits } = request;
    const escaped = Promise.withResolvers<"escaped">();
    const onEscape = () => escaped.resolve("escaped");
    escapes.hear = onEscape;
    const timer = setTimeout(onEscape, 250);
    try {
      const made = await Promise.race([scaled(Buffer.from(bytes), kind, limits), escaped.promise]);
      if (made !== "escaped") return made;
    } finally {
      clearTimeout(timer);
    }
    escapes.count += 1;
    return scaledOnThread(request, signal);
  };
}

async function main(count: number): Promise<void> {
  for (const kind of imageKinds) {
    const began = Date.now();
    const counts = { image: 0, refused: 0 };
    const escapes: Escapes = { count: 0, hear: () => {} };
    // Of one image there can be several errors.
    process.removeAllListeners("uncaughtException").on("uncaughtException", () => escapes.hear());
    for (let index = 0; index < count; index++)
      counts[await shown(mutatedImage(kind, index), scaledHere(escapes))] += 1;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    process.stdout.write(
      `${kind}: ${count} files, ${counts.image} shown, ${counts.refused} refused, ` +
        `${escapes.count} of them after an error that nobody could catch or no answer, ${seconds} s\n`,
    );
  }
}

if (import.meta.main) await main(Number(process.argv[2] ?? 10_000));
