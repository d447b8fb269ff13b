/** The strict server on images: weight, size, number, and whether they are images at all. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { post, requestOf, step } from "./mock-request.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";

let server: MockServer;
beforeAll(async () => {
  server = await startMockServer({ turns: () => ({ text: "fine" }) });
});
afterAll(() => server.close());

/** The header of a PNG of this size, filled up to so many bytes. */
function png(width: number, height: number, bytes = 48): Buffer {
  const file = Buffer.alloc(bytes);
  file.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file;
}

/** A JPEG's first segments: a comment, then the frame with its size. */
function jpeg(width: number, height: number): Buffer {
  const file = Buffer.alloc(48);
  file.write("\xff\xd8\xff\xfe\0\x04hi\xff\xc0\0\x11\x08", "latin1");
  file.writeUInt16BE(height, 13);
  file.writeUInt16BE(width, 15);
  return file;
}

const image = (file: Buffer, media_type = "image/png") => ({
  type: "image",
  source: { type: "base64", media_type, data: file.toString("base64") },
});

async function send(content: unknown[]): Promise<[number, string]> {
  const { status, message } = await post(server, requestOf({ messages: [{ role: "user", content }] }));
  return [status, message];
}

const refused = (words: string | RegExp) => [400, expect.stringMatching(words)];
const accepted = [200, ""];

test("an image of more than 5 MB in base64 is refused", async () => {
  const limit = (5 * 1024 * 1024 * 3) / 4;
  expect(await send([image(png(10, 10, limit + 3))])).toEqual(
    refused(/exceeds 5 MB maximum: 5242884 bytes > 5242880/),
  );
  expect(await send([image(png(10, 10, limit))])).toEqual(accepted);
});

test("an image of more than 8000 pixels a side is refused", async () => {
  expect(await send([image(png(8001, 10))])).toEqual(refused("8000 pixels"));
  expect(await send([image(jpeg(10, 8001), "image/jpeg")])).toEqual(refused("8000 pixels"));
  expect(await send([image(png(8000, 8000)), image(jpeg(8000, 10), "image/jpeg")])).toEqual(accepted);
});

test("more than 20 images may have 2000 pixels a side", async () => {
  const images = (count: number, pixels: number) =>
    Array.from({ length: count }, () => image(png(pixels, 10)));
  expect(await send(images(21, 2001))).toEqual(refused("2000 pixels"));
  expect(await send(images(20, 2001))).toEqual(accepted);
  expect(await send(images(21, 2000))).toEqual(accepted);
});

test("what is no image, or another one than it says, is refused", async () => {
  expect(await send([image(Buffer.from("<html>".repeat(10)))])).toEqual(refused("Could not process image"));
  expect(await send([image(png(10, 10), "image/jpeg")])).toEqual(refused("appears to be a image/png image"));
  expect(await send([image(png(10, 10), "image/tiff")])).toEqual(refused("media_type: Input should be"));
});

test("images in tool results are looked at as well", async () => {
  const [call] = step("a");
  const result = (file: Buffer) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "a", content: [image(file)] }],
  });
  const go = { role: "user", content: "go" };
  const answer = await post(server, requestOf({ messages: [go, call, result(png(9000, 100))] }));
  expect([answer.status, answer.message]).toEqual(
    refused(/^messages\.2\.content\.0\.content\.0.*8000 pixels/),
  );
  expect(await post(server, requestOf({ messages: [go, call, result(png(900, 100))] }))).toMatchObject({
    status: 200,
  });
});
