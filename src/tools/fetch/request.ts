/** Sends one GET over a connection that was permitted, and reads the answer within its bounds. */

import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable, Transform } from "node:stream";
import { connect as connectTls } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { isAddress } from "../../permissions/sandbox/addresses.ts";

/** Not by `import`, which would load the built-in `fetch`: see `models/http/post.ts`. */
const { request } = process.getBuiltinModule("node:http");

/** Markdown costs least; servers that have it send it. */
const accepted = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

/** Sends the request and waits for the head of the answer. Rejects with what failed, or when the signal fires. */
export async function answerTo(
  { url, host }: { url: URL; host: string },
  upstream: Duplex,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const stream = url.protocol === "https:" ? await secured(upstream, host, signal) : upstream;
  return new Promise((resolve, reject) => {
    const asked = request({
      createConnection: () => stream,
      path: `${url.pathname}${url.search}`,
      setHost: false,
      headers: {
        ...{ Host: url.host, Accept: accepted, "Accept-Encoding": "gzip, br, deflate" },
        ...{ "User-Agent": "sawtooth", Connection: "close" },
      },
      signal,
    });
    asked.on("response", resolve);
    // A server that switches protocols was not asked to.
    asked.on("upgrade", () => reject(new Error("it answered with another protocol")));
    asked.on("error", reject);
    asked.end();
  });
}

function secured(upstream: Duplex, host: string, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const name = isAddress(host) ? {} : { servername: host };
    const socket = connectTls({ socket: upstream, host, ...name, ALPNProtocols: ["http/1.1"] });
    const end = (): void => void socket.destroy(new Error("given up"));
    signal.addEventListener("abort", end, { once: true });
    socket.once("close", () => {
      signal.removeEventListener("abort", end);
      reject(new Error("the connection was closed"));
    });
    socket.on("error", reject);
    socket.once("secureConnect", () => resolve(socket));
  });
}

/** `end`: why there is no more, where the body is not whole. */
export type Body = { bytes: Buffer; end?: "too_large" | "broken" };

/** Reads the body, unpacked, up to a number of bytes; those that came count also where it breaks off. */
export async function bodyOf(answer: IncomingMessage, mostBytes: number): Promise<Body> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of unpacked(answer, mostBytes) as AsyncIterable<Buffer>) {
      const room = mostBytes - size;
      parts.push(part.subarray(0, room));
      size += part.length;
      if (size > mostBytes) return { bytes: Buffer.concat(parts), end: "too_large" };
    }
    return { bytes: Buffer.concat(parts) };
  } catch {
    return { bytes: Buffer.concat(parts), end: "broken" };
  } finally {
    answer.destroy();
  }
}

function unpacked(answer: IncomingMessage, mostBytes: number): Readable {
  const encoding = (answer.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const unpack = {
    gzip: createGunzip,
    "x-gzip": createGunzip,
    br: createBrotliDecompress,
    deflate: createInflate,
  };
  const create = Object.hasOwn(unpack, encoding) ? unpack[encoding as keyof typeof unpack] : undefined;
  if (!create) return answer;
  let packed = 0;
  // Packed bytes may unpack to nothing, without end.
  const counted = new Transform({
    transform(part: Buffer, _encoding, done) {
      packed += part.length;
      done(packed > mostBytes ? new Error("too large") : null, part);
    },
  });
  return pipeline(answer, counted, create(), () => {});
}
