/** Turns the body of an answer into text: HTML becomes Markdown without its navigation, text stays as it is. */

import { isUtf8 } from "node:buffer";
import { onThread } from "../on-thread.ts";
import { markdownOf } from "./markdown.ts";
import type { MarkdownRequest } from "./markdown-worker.ts";

/**
 * Text, or bytes that are only kept. `bytes`: size of what is kept; `media`: the type, for people; `raw`: HTML that could
 * not be converted.
 */
export type Content =
  | { type: "text"; text: string; bytes: number; extension: string; raw?: true }
  | { type: "bytes"; media: string; bytes: number; extension: string };

/** `ms`: the longest that a conversion may take. */
type Source = { url: string; signal: AbortSignal; ms: number };

/** Reads a body. `header`: the Content-Type, if there is one. Rejects when the signal fires. */
export async function contentOf(body: Buffer, header: string | undefined, source: Source): Promise<Content> {
  const media = (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const kind = kindOf(media, body);
  if (kind === "bytes")
    return {
      ...{ type: "bytes", media: /^[\w.+-]+\/[\w.+-]+$/.test(media) ? media : "unknown type" },
      ...{ bytes: body.length, extension: extensions[media] ?? "bin" },
    };
  const text = decode(body, header, kind);
  if (kind === "html") return convertedOrRaw(text, source);
  return { type: "text", text, bytes: Buffer.byteLength(text), extension: extensions[media] ?? "txt" };
}

const extensions: Readonly<Record<string, string>> = {
  "application/json": "json",
  "text/markdown": "md",
  "text/csv": "csv",
  "application/pdf": "pdf",
  "application/zip": "zip",
  "application/gzip": "gz",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

function kindOf(media: string, body: Buffer): "html" | "text" | "bytes" {
  const head = body.subarray(0, 8_192);
  const isHtml = /^\s*(?:<!--[\s\S]*?-->\s*)?<(?:!doctype\s+html|html)\b/i.test(
    head.toString("latin1").replace(/^ï»¿/, ""),
  );
  if (media === "text/html" || media === "application/xhtml+xml") return "html";
  const isText =
    media === "" ||
    media.startsWith("text/") ||
    /^application\/(?:.*\+)?(?:json|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|x-sh|x-ndjson|jsonl|graphql|sql)$/.test(
      media,
    ) ||
    media === "image/svg+xml";
  if (!isText || (head.includes(0) && !hasUtf16Mark(head))) return "bytes";
  return isHtml && (media === "" || media === "text/plain") ? "html" : "text";
}

function hasUtf16Mark(body: Buffer): boolean {
  return (body[0] === 0xff && body[1] === 0xfe) || (body[0] === 0xfe && body[1] === 0xff);
}

/** Decodes by the mark at the beginning, the header, the page's own words, or as UTF-8 or Windows-1252. */
function decode(body: Buffer, header: string | undefined, kind: "html" | "text"): string {
  if (hasUtf16Mark(body)) return new TextDecoder(body[0] === 0xff ? "utf-16le" : "utf-16be").decode(body);
  const said = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(header ?? "")?.[1];
  const head = kind === "html" ? body.toString("latin1", 0, 4_096) : "";
  const own = /<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1];
  for (const label of [said, own]) {
    try {
      if (label !== undefined) return new TextDecoder(label).decode(body);
    } catch {
      // No such encoding.
    }
  }
  return new TextDecoder(isUtf8(body) || body.length > 4_000_000 ? "utf-8" : "windows-1252").decode(body);
}

/** Characters of a page that is converted on our own thread: starting another takes longer than this does. */
const mostHere = 200_000;

/** Hostile HTML can keep a converter busy, or be nested too deeply for it: then it stays as it is. */
async function convertedOrRaw(html: string, source: Source): Promise<Content> {
  const limit = AbortSignal.timeout(source.ms);
  const signal = AbortSignal.any([source.signal, limit]);
  const request: MarkdownRequest = { html, url: source.url };
  try {
    const text =
      html.length <= mostHere
        ? await markdownOf(html, source.url, signal)
        : await onThread<string>(["markdown-worker", import.meta.url], request, { signal, heapMb: 1024 });
    return { type: "text", text, bytes: Buffer.byteLength(text), extension: "md" };
  } catch (error) {
    if (source.signal.aborted) throw error;
    return { type: "text", text: html, bytes: Buffer.byteLength(html), extension: "html", raw: true };
  }
}
