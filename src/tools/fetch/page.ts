/** Fetches a page: redirects by hand, the whole in an artifact, and a view of it that is framed as data. */

import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type Egress, egressReason, formatBytes, hostRule, hostText } from "../../core/network/egress.ts";
import type { ToolContext, ToolOutput } from "../../core/ports.ts";
import { enclosed } from "../../core/text/tags.ts";
import { fetchTarget } from "../../permissions/fetch.ts";
import { followOutput } from "../bash/output-file.ts";
import { type Content, contentOf } from "./content.ts";
import type { FetchLimits, FetchParts } from "./parts.ts";
import { answerTo, type Body, bodyOf } from "./request.ts";

/** Not by `import`, which would load the built-in `fetch`: see `models/http/post.ts`. */
const { STATUS_CODES } = process.getBuiltinModule("node:http");

type Input = { url: string; want?: string };
type Parts = FetchParts & { limits: FetchLimits };

const mostRedirects = 5;
/** Milliseconds for the connection of a redirect, which a person may be asked about. */
const redirectMs = 45_000;
const hardViewBytes = 30_000;
/** Bytes reserved for the frame and the lines beside it. */
const frameBytes = 600;

type Fetching = {
  context: ToolContext;
  parts: Parts;
  /** Milliseconds left for the network. */
  left: number;
  /** The addresses so far. */
  path: string[];
};

/** An answer whose body was read. `url`: where it came from in the end. */
type Page = { url: string; answer: IncomingMessage; body: Body; timedOut: boolean };
type Stop = { stop: string };

/** Fetches a page for the model. Every failure is a result. */
export async function fetchPage(input: Input, context: ToolContext, parts: Parts): Promise<ToolOutput> {
  const began = performance.now();
  const fetching: Fetching = { context, parts, left: parts.limits.ms, path: [] };
  const page = await follow(fetching, input.url).finally(() => parts.flush());
  if (context.signal.aborted) return failure("[cancelled by user]");
  if ("stop" in page) return failure([...redirectLines(fetching.path), page.stop].join("\n"));
  try {
    const output = await resultOf(page, fetching, input.want);
    return { ...output, stats: { durationMs: Math.round(performance.now() - began), ...output.stats } };
  } catch (error) {
    if (context.signal.aborted) return failure("[cancelled by user]");
    return failure(`the page could not be kept: ${(error as Error).message}`);
  }
}

async function follow(fetching: Fetching, start: string): Promise<Page | Stop> {
  let url = start;
  for (;;) {
    const target = fetchTarget(url);
    if ("problem" in target) return { stop: `${shown(url)} cannot be fetched: ${target.problem}` };
    const { href } = target.url;
    if (fetching.parts.holdsSecret(url) || fetching.parts.holdsSecret(decoded(url)))
      return { stop: "the address has a secret in it, which is not sent anywhere" };
    fetching.path.push(href);
    const got = await get(fetching, target);
    if (!("location" in got)) return got;
    if (fetching.path.length > mostRedirects)
      return { stop: `more than ${mostRedirects} redirects: given up` };
    if (!URL.canParse(got.location, href)) return { stop: "the redirect leads to no address" };
    url = new URL(got.location, href).href;
  }
}

type Target = Exclude<ReturnType<typeof fetchTarget>, { problem: string }>;

/** Sends one request; a redirect is not followed here. */
async function get(fetching: Fetching, target: Target): Promise<Page | Stop | { location: string }> {
  const { context, parts, path } = fetching;
  const first = path.length === 1;
  const limit = new AbortController();
  const signal = AbortSignal.any([context.signal, limit.signal]);
  let timer = setTimeout(() => limit.abort(), first ? fetching.left : redirectMs);
  const place = hostText(target);
  const { host, port } = target;
  const call = context.toolUseId;
  // A yes to the call holds for its host; the address of a redirect is the server's.
  const facts = {
    invented: first && parts.isInvented(target.url.href),
    confirmed: host === hostOf(path[0]) && parts.isConfirmed(call),
  };
  const began = performance.now();
  const opened = await parts.connect({ host, port, url: target.url.href, call, ...facts }, signal);
  clearTimeout(timer);
  if ("refused" in opened)
    return { stop: limit.signal.aborted ? timeText(parts) : refusedText(target, opened.refused) };
  if (first) fetching.left -= performance.now() - began;
  const sent = performance.now();
  timer = setTimeout(() => limit.abort(), Math.max(0, fetching.left));
  try {
    const answer = await answerTo(target, opened.upstream, signal);
    const { statusCode = 0, headers } = answer;
    if ([301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined)
      return { location: headers.location };
    const body = await bodyOf(answer, parts.limits.bytes);
    return { url: target.url.href, answer, body, timedOut: limit.signal.aborted };
  } catch (error) {
    if (opened.meter.isCut()) return { stop: refusedText(target, "budget") };
    if (limit.signal.aborted) return { stop: timeText(parts) };
    return { stop: `${place} gave no answer: ${(error as Error).message}` };
  } finally {
    clearTimeout(timer);
    opened.upstream.destroy();
    fetching.left -= performance.now() - sent;
  }
}

function hostOf(url = ""): string | undefined {
  const target = fetchTarget(url);
  return "problem" in target ? undefined : target.host;
}

function timeText({ limits }: Parts): string {
  return `[timed out after ${limits.ms / 1000} s]`;
}

function refusedText({ host, port }: Target, reason: Egress["reason"] & string): string {
  const entry: Egress = {
    ...{ host, port, decision: "deny", reason, bytesUp: 0, bytesDown: 0, connections: 0, ms: 0 },
  };
  const rule = hostRule(entry);
  const way = rule === undefined ? "" : ` It would be allowed by --allow '${rule}'.`;
  return `no connection to ${hostText(entry)}: ${egressReason(entry)}.${way}`;
}

/** Keeps the page whole, and returns the view of it. */
async function resultOf(page: Page, { context, path, parts }: Fetching, want?: string): Promise<ToolOutput> {
  const { answer, body, url } = page;
  const source = { url, signal: context.signal, ms: parts.limits.ms };
  const content = await contentOf(body.bytes, answer.headers["content-type"], source);
  const file = context.artifacts.create(content.extension);
  writeFileSync(file, content.type === "text" ? content.text : body.bytes);
  const status = answer.statusCode ?? 0;
  const lines = [
    ...(status >= 200 && status < 300 ? [] : [`[status ${status} ${STATUS_CODES[status] ?? ""}]`]),
    ...cutLines(page, parts),
    ...(content.type === "text" && content.raw
      ? ["[this HTML could not be converted and is shown as it is]"]
      : []),
  ];
  const view = await viewOf(content, { file, context, url, ...(want ? { want } : {}) });
  return {
    content: [...redirectLines(path), view.text, ...lines].join("\n"),
    ...(status >= 400 ? { isError: true } : {}),
    artifact: file,
    stats: view.total,
  };
}

type Viewed = { file: string; context: ToolContext; url: string; want?: string };

async function viewOf(content: Content, { file, context, url, want }: Viewed) {
  const source = ` url="${shown(url)}"`;
  const { bytes } = content;
  if (content.type === "bytes") {
    const text = `[${content.media}, ${formatBytes(bytes)}, saved in ${file}]`;
    return { text, total: { lines: 0, bytes } };
  }
  if (content.text.trim() === "")
    return { text: enclosed("web_page", "(no text)", source), total: { lines: 0, bytes } };
  const maxBytes = Math.max(
    500,
    Math.min(hardViewBytes, context.budgetTokens * 4) - frameBytes - source.length,
  );
  const output = followOutput(file, want ? { want } : {});
  try {
    const view = await output.view({ maxBytes, path: file });
    return { text: enclosed("web_page", view.text.trimEnd(), source), total: view.total };
  } finally {
    output.close();
  }
}

function cutLines({ body, timedOut, answer }: Page, { limits }: Parts): string[] {
  if (body.end === undefined) return [];
  if (timedOut) return [`[timed out after ${limits.ms / 1000} s; what came until then is kept]`];
  if (body.end === "broken") return ["[the answer broke off; what came until then is kept]"];
  const length = Number(answer.headers["content-length"]);
  const of = length > limits.bytes ? ` of ${formatBytes(length)}` : "";
  return [`[only the first ${formatBytes(limits.bytes)}${of} were read]`];
}

function redirectLines(path: readonly string[]): string[] {
  return path.slice(1).map((url) => `[redirected to ${shown(url)}]`);
}

/** An address in a line of its own. */
function shown(url: string): string {
  const text = url.replace(/[\s"<>\x00-\x1f\x7f]/g, (character) => encodeURIComponent(character));
  return text.length > 300 ? `${text.slice(0, 299).toWellFormed()}…` : text;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function failure(content: string): ToolOutput {
  return { content, isError: true };
}
