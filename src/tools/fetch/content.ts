/** Turns the body of an answer into text: HTML becomes Markdown without its navigation, text stays as it is. */

import { isUtf8 } from "node:buffer";
import { setImmediate } from "node:timers/promises";
import { streamHtmlToMarkdown } from "@mdream/js";
import { withMinimalPreset } from "@mdream/js/preset/minimal";

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

/** Hostile HTML can keep a converter busy, or be nested too deeply for it: then it stays as it is. */
async function convertedOrRaw(html: string, source: Source): Promise<Content> {
  const limit = AbortSignal.timeout(source.ms);
  const both = AbortSignal.any([source.signal, limit]);
  try {
    const text = await markdownOf(html, { ...source, signal: both });
    return { type: "text", text, bytes: Buffer.byteLength(text), extension: "md" };
  } catch (error) {
    if (source.signal.aborted) throw error;
    return { type: "text", text: html, bytes: Buffer.byteLength(html), extension: "html", raw: true };
  }
}

/** Characters between two looks at whether somebody stopped it. */
const sliceLength = 64 * 1024;

async function markdownOf(html: string, source: Source): Promise<string> {
  const main = await converted(html, source, withMinimalPreset({ origin: source.url }));
  if (body(main).trim().length >= 200) return main;
  // The page has no part that stands out as its main one.
  const whole = await converted(html, source, { origin: source.url, clean: true });
  return body(whole).trim().length > 4 * body(main).trim().length ? whole : main;
}

/** A page without its front matter. */
function body(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---\n/, "");
}

async function converted(
  html: string,
  { signal }: Source,
  options: Parameters<typeof streamHtmlToMarkdown>[1],
): Promise<string> {
  let at = 0;
  const slices = new ReadableStream<string>(
    {
      async pull(controller) {
        await setImmediate();
        signal.throwIfAborted();
        if (at >= html.length) return controller.close();
        controller.enqueue(html.slice(at, at + sliceLength));
        at += sliceLength;
      },
    },
    { highWaterMark: 0 },
  );
  let text = "";
  for await (const part of streamHtmlToMarkdown(slices, options)) text += part;
  return `${text.trimEnd()}\n`;
}
