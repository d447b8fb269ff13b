/** Images are checked and scaled down before they enter history (T35). */

import { execFile } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { crc32, deflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { ImageBlock } from "../../../src/core/blocks.ts";
import { imageOf, pictureOf } from "../../../src/tools/editor/images/image.ts";
import { editorHere } from "../../support/editor.ts";
import { imageKinds, pngOf, pngOfRows } from "../../support/image-fuzz.ts";

function png(width: number, height: number, noise = false): Buffer {
  const image = new PNG({ width, height });
  if (noise) randomFillSync(image.data);
  else image.data.fill(Buffer.from([90, 90, 90, 255]));
  // By default it tries every filter on every row.
  return PNG.sync.write(image, { filterType: 0 });
}

function photo(width: number, height: number): Buffer {
  return jpeg.encode({ width, height, data: randomFillSync(Buffer.alloc(width * height * 4)) }, 90).data;
}

const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.from([3, 0, 2, 0, 0, 0, 0]), Buffer.from([0x3b])]);
const webp = Buffer.from("UklGRh4AAABXRUJQVlA4TBEAAAAvAUAAAAfQ//73v/+BiOh/AAA=", "base64");

const small = (kind: string, width: number, height: number) => ({ kind, width, height, whole: true });

async function viewed(name: string, bytes: Buffer) {
  const editor = editorHere();
  editor.write(name, bytes);
  const output = await editor.run({ command: "view", path: name });
  const blocks = typeof output.content === "string" ? [] : output.content;
  const image = blocks.find((block): block is ImageBlock => block.type === "image");
  return { output, image, said: blocks[0]?.type === "text" ? blocks[0].text : String(output.content) };
}

test.each([
  ["png", png(20, 10), "20x10"],
  ["jpeg", photo(16, 8), "16x8"],
  ["gif", gif, "3x2"],
  ["webp", webp, "2x2"],
])("a small %s is shown as it is, whatever its name", async (kind, bytes, size) => {
  const { image, said } = await viewed("picture.txt", bytes);
  expect(image?.source).toEqual({
    type: "base64",
    media_type: `image/${kind}`,
    data: bytes.toString("base64"),
  });
  expect(said).toContain(size);
});

test.each([
  ["a PNG that is too wide", png(9000, 100), "2000x22"],
  ["a PNG of more than 2000 pixels a side", png(2500, 2500), "2000x2000"],
  ["a JPEG that is too high", photo(100, 9000), "22x2000"],
])("%s is scaled down, and the size is told", async (_what, bytes, size) => {
  const { image, said } = await viewed("f", bytes);
  expect(said).toContain(`shown at ${size}`);
  const shown = pictureOf(Buffer.from(image?.source.data ?? "", "base64"));
  expect(`${shown?.width}x${shown?.height}`).toBe(size);
});

test("a PNG of 6 MB comes under the limit of the API", async () => {
  const bytes = png(1300, 1250, true);
  expect(bytes.length).toBeGreaterThan(6_000_000);
  const { image } = await viewed("f", bytes);
  expect(image?.source.data.length).toBeLessThanOrEqual(5_000_000);
  expect(pictureOf(Buffer.from(image?.source.data ?? "", "base64"))?.whole).toBe(true);
});

test("scaling keeps colours and transparency", async () => {
  const source = new PNG({ width: 4000, height: 10 });
  for (let at = 0; at < source.data.length; at += 4)
    source.data.set(at % 16000 < 8000 ? [200, 100, 50, 255] : [9, 9, 9, 0], at);
  const { image } = await viewed("f", PNG.sync.write(source));
  const { data } = PNG.sync.read(Buffer.from(image?.source.data ?? "", "base64"));
  expect([...data.subarray(0, 4)]).toEqual([200, 100, 50, 255]);
  expect(data[1500 * 4 + 3]).toBe(0);
});

const whole = png(60, 60, true);
test.each([
  ["cut off", whole.subarray(0, 2000)],
  ["cut off within its header", whole.subarray(0, 18)],
  ["damaged", Buffer.concat([whole.subarray(0, 500), Buffer.alloc(10, 7), whole.subarray(510)])],
  ["a JPEG without its end", photo(64, 64).subarray(0, 3000)],
  ["a JPEG that begins and ends, with nothing between", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xd9])],
])("an image that is %s is refused in words", async (_what, bytes) => {
  const { output, said } = await viewed("f.png", bytes);
  expect(output.isError).toBe(true);
  expect(said).toContain("damaged");
});

test("a size is read only where the format has it", () => {
  const header = Buffer.from([0, 0, 0, 7, 0, 0, 0, 5, 8, 6, 0, 0, 0]);
  const rest = [
    ["IDAT", deflateSync(Buffer.alloc(145))],
    ["IEND", Buffer.alloc(0)],
  ] as const;
  expect(pictureOf(pngOf([["IHDR", header], ...rest]))).toEqual(small("png", 7, 5));
  expect(pictureOf(pngOf([["tEXt", header], ["IHDR", header], ...rest]))).toBeUndefined();
  expect(pictureOf(pngOf([["IHDR", header.subarray(0, 9)], ...rest]))).toBeUndefined();
  expect(pictureOf(webp)).toEqual(small("webp", 2, 2));
  const unsigned = Buffer.from(webp);
  unsigned[20] = 0;
  expect(pictureOf(unsigned)).toBeUndefined();
  const lossy = Buffer.from("RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a\x09\0\x04\0", "latin1");
  expect(pictureOf(lossy)).toEqual(small("webp", 9, 4));
  lossy[23] = 0;
  expect(pictureOf(lossy)).toBeUndefined();
});

test("a GIF that is too large is refused with the way to a smaller copy", async () => {
  const large = Buffer.from(gif);
  large.writeUInt16LE(9000, 6);
  const { output, said } = await viewed("f.gif", large);
  expect(output.isError).toBe(true);
  expect(said).toContain("-resize 2000x2000");
});

test("a bomb of pixels is refused without decoding it", async () => {
  const bomb = Buffer.from(png(10, 10));
  bomb.writeUInt32BE(60_000, 16);
  bomb.writeUInt32BE(60_000, 20);
  bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
  const { output, said } = await viewed("f.png", bomb);
  expect(output.isError).toBe(true);
  expect(said).toContain("60000x60000");
});

test.each([
  ["whose rows name a filter that does not exist", pngOfRows(2500, 20, 85)],
  ["that has fewer rows than it says", pngOfRows(2500, 4, 0).fill(21, 23, 24)],
  ["whose header says a colour type that does not exist", pngOfRows(2500, 4, 0).fill(5, 25, 26)],
])("a PNG %s is refused in words, and the process lives", async (_what, bytes) => {
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  const { output, said } = await viewed("f.png", bytes);
  expect(output.isError).toBe(true);
  expect(said).toBe("f.png is a damaged image (png). It was not shown.");
});

test("an image whose data goes on for 256 MB behind its last row costs no more than its rows", async () => {
  const rows = deflateSync(Buffer.alloc(2 ** 28), { level: 1 });
  const header = Buffer.from([0, 0, 0x0b, 0xb8, 0, 0, 0, 10, 8, 6, 0, 0, 1]);
  const bytes = pngOf([
    ["IHDR", header],
    ["IDAT", rows],
    ["IEND", Buffer.alloc(0)],
  ]);
  const before = process.resourceUsage().maxRSS;
  const { said } = await viewed("f.png", bytes);
  expect(said).toContain("shown at 2000x7");
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(150_000);
});

test("scaling ends at once when the person interrupts", async () => {
  const stop = new AbortController();
  stop.abort();
  await expect(imageOf({ bytes: png(2500, 20) }, "f.png", stop.signal)).rejects.toThrow("cancelled by user");
});

test("no mutated image of any kind ends the process (a sample of npm run fuzz:images)", async () => {
  const fuzz = fileURLToPath(new URL("../../support/image-fuzz.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [fuzz, "20"]);
  expect(stdout.match(/^\w+: 20 files/gm)).toEqual(imageKinds.map((kind) => `${kind}: 20 files`));
});

test("a .png that is HTML is shown as the text it is", async () => {
  const { image, said } = await viewed("f.png", Buffer.from("<html>\n"));
  expect(image).toBeUndefined();
  expect(said).toContain("<html>");
});
