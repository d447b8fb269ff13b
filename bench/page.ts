/** A page of 5 MB as Markdown: how long our own thread, which draws the screen, is busy with it. */

import { performance } from "node:perf_hooks";
import { contentOf } from "../src/tools/fetch/content.ts";
import { markdownOf } from "../src/tools/fetch/markdown.ts";
import { figure, type Row, ratio } from "./figures.ts";
import { inTurn } from "./programs.ts";

const part = `<h2>A title</h2><p>Some <b>words</b> with a <a href="/a?b=c">link</a>, <code>code</code>, and more of them.</p>
<ul><li>one</li><li>two</li></ul><pre><code>const a = 1;</code></pre><table><tr><th>A</th></tr><tr><td>1</td></tr></table>`;
const html = `<!doctype html><html><body><main>${part.repeat(5_000_000 / part.length)}</main></body></html>`;
const url = "https://docs.example/";

/** Milliseconds in which our thread was busy, with the page on a thread of its own; beside the conversion here. */
export async function pageOfMegabytes(): Promise<Row[]> {
  const bytes = Buffer.from(html);
  const busy = async (convert: () => Promise<unknown>): Promise<number> => {
    const before = performance.eventLoopUtilization();
    await convert();
    return performance.eventLoopUtilization(before).active;
  };
  const signal = new AbortController().signal;
  const { ours, bare } = await inTurn(5, {
    bare: () => busy(() => markdownOf(html, url)),
    ours: () => busy(() => contentOf(bytes, "text/html", { url, signal, ms: 60_000 })),
  });
  const row = { measured: figure(ours), baseline: figure(bare) };
  const aim = { text: "≤ 0.1 ×", met: ratio(row) <= 0.1 };
  return [{ name: "thread busy, 5 MB page", unit: "ms", ...row, against: "converted there", aim }];
}
