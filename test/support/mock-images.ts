/** Checks the images of a request: what they are, how many bytes and how many pixels. */

import { checkFields, checkOneOf } from "./mock-fields.ts";
import { RefusedError, type WireBlock, type WireMessage } from "./mock-wire.ts";

/** Bytes of the base64 text, as the API counts. */
const maxBytes = 5 * 1024 * 1024;
const kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Throws `RefusedError` when an image is no image, is too heavy, or is too large for the number of them. */
export function checkImages(messages: readonly WireMessage[]): void {
  const images = messages.flatMap((message, index) =>
    message.content.flatMap((block, at) => imagesIn(block, `messages.${index}.content.${at}`)),
  );
  const maxPixels = images.length > 20 ? 2000 : 8000;
  const many = images.length > 20 ? " for many-image requests" : "";
  for (const { block, path } of images) {
    const { width, height } = checkImage(block, path);
    if (Math.max(width, height) <= maxPixels) continue;
    throw new RefusedError(
      `${path}.image.source.base64.data: At least one of the image dimensions exceed max allowed size${many}: ${maxPixels} pixels`,
    );
  }
}

function imagesIn(block: WireBlock, path: string): { block: WireBlock; path: string }[] {
  if (block.type === "image") return [{ block, path }];
  if (!Array.isArray(block.content)) return [];
  return block.content.flatMap((inner, index) => imagesIn(inner, `${path}.content.${index}`));
}

type Size = { kind: string; width: number; height: number };

function checkImage(block: WireBlock, path: string): Size {
  const source = checkFields(block.source, `${path}.source`, {
    type: "string!",
    media_type: "string!",
    data: "string!",
  }) as { type: string; media_type: string; data: string };
  checkOneOf(source.type, `${path}.source.type`, ["base64"]);
  checkOneOf(source.media_type, `${path}.source.base64.media_type`, kinds);
  if (!isBase64(source.data)) {
    throw new RefusedError(`${path}.source.base64: invalid base64 data`);
  }
  if (source.data.length > maxBytes) {
    const bytes = source.data.length;
    throw new RefusedError(
      `${path}.image.source.base64: image exceeds 5 MB maximum: ${bytes} bytes > ${maxBytes} bytes`,
    );
  }
  const size = sizeOf(Buffer.from(source.data, "base64"));
  if (!size) throw new RefusedError("Could not process image");
  if (size.kind === source.media_type) return size;
  throw new RefusedError(
    `${path}.source.base64: The image was specified using the ${source.media_type} media type, but the image appears to be a ${size.kind} image`,
  );
}

/**
 * Searches for what does not belong: a pattern of the whole text would need a step back for each of millions of
 * letters.
 */
function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  return !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ""));
}

/** Read off the file's header; undefined when it is none of the four kinds. */
function sizeOf(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  if (bytes.readUInt32BE(0) === 0x89504e47) {
    return { kind: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes.toString("latin1", 0, 4) === "GIF8") {
    return { kind: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  }
  if (bytes.toString("latin1", 8, 12) === "WEBP") return webpSize(bytes);
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : undefined;
}

function webpSize(bytes: Buffer): Size | undefined {
  const kind = "image/webp";
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return { kind, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return { kind, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return { kind, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}

/** Walks the segments to the frame header. */
function jpegSize(bytes: Buffer): Size | undefined {
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const code = bytes.readUInt8(at + 1);
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const isFrame = code >= 0xc0 && code <= 0xcf && code !== 0xc4 && code !== 0xc8 && code !== 0xcc;
    if (isFrame)
      return { kind: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return undefined;
}
