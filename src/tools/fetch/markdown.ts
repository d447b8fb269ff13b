/** Converts HTML to Markdown: the main part of a page, without its navigation. */

import { setImmediate } from "node:timers/promises";
import { streamHtmlToMarkdown } from "@mdream/js";
import { withMinimalPreset } from "@mdream/js/preset/minimal";

/** Converts a page. Rejects when the signal fires. `url`: what its relative links start from. */
export async function markdownOf(html: string, url: string, signal?: AbortSignal): Promise<string> {
  const main = await converted(html, withMinimalPreset({ origin: url }), signal);
  if (body(main).trim().length >= 200) return main;
  // The page has no part that stands out as its main one.
  const whole = await converted(html, { origin: url, clean: true }, signal);
  return body(whole).trim().length > 4 * body(main).trim().length ? whole : main;
}

/** A page without its front matter. */
function body(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---\n/, "");
}

/** Characters between two looks at whether somebody stopped it. */
const sliceLength = 64 * 1024;

async function converted(
  html: string,
  options: Parameters<typeof streamHtmlToMarkdown>[1],
  signal: AbortSignal | undefined,
): Promise<string> {
  let at = 0;
  const slices = new ReadableStream<string>(
    {
      async pull(controller) {
        await setImmediate();
        signal?.throwIfAborted();
        if (at >= html.length) return controller.close();
        const end = sliceEnd(html, at + sliceLength);
        controller.enqueue(html.slice(at, end));
        at = end;
      },
    },
    { highWaterMark: 0 },
  );
  let text = "";
  for await (const part of streamHtmlToMarkdown(slices, options)) text += part;
  return `${text.trimEnd()}\n`;
}

/** Ends a slice before a tag: what is not complete in one is read again with each of the next. */
function sliceEnd(html: string, from: number): number {
  const tag = /<[a-z/!]/gi;
  tag.lastIndex = from;
  return tag.exec(html)?.index ?? html.length;
}
