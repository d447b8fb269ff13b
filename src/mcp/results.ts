/** Turns what a tool of a server answered into a result: a view within the budget, and everything else in artifacts. */

import { writeFileSync } from "node:fs";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { ImageBlock } from "../core/blocks.ts";
import type { Artifacts, ToolContext, ToolOutput } from "../core/ports.ts";
import { truncateOutput } from "../core/text/truncate-output.ts";
import { imageOf, isImage } from "../tools/editor/images/image.ts";
import { Refusal } from "../tools/editor/refusal.ts";
import { shownLine } from "./shown.ts";

/** Limit on a view in bytes, whatever the budget. */
const hardViewBytes = 30_000;
/** Images of one result that are shown; the others stay in their files. */
const mostImages = 5;

/** Signals, the room for a view in tokens, and where everything else is kept. */
type Budget = Pick<ToolContext, "artifacts" | "budgetTokens" | "signal">;

type Parts = { texts: string[]; images: ImageBlock[] };

/** Returns the result of a call. `want`: words to look for where it is too long. */
export async function resultOf(
  result: CallToolResult,
  { context, want, name }: { context: Budget; want: string | undefined; name: string },
): Promise<ToolOutput> {
  const parts: Parts = { texts: [], images: [] };
  for (const [index, part] of result.content.entries())
    await take(part, { parts, context, name: `${name} part ${index + 1}` });
  addStructured(result, parts, context);
  const whole = parts.texts.join("\n") || (parts.images.length > 0 ? "" : "(no output)");
  const artifact = context.artifacts.write("txt", whole);
  const maxBytes = Math.max(500, Math.min(hardViewBytes, context.budgetTokens * 4));
  const view = truncateOutput(whole, { maxBytes, path: artifact, want });
  const content =
    parts.images.length === 0
      ? view.text
      : [...(view.text === "" ? [] : [{ type: "text" as const, text: view.text }]), ...parts.images];
  return {
    content,
    ...(result.isError ? { isError: true } : {}),
    artifact,
    stats: { ...view.total },
  };
}

type Part = CallToolResult["content"][number];
type Place = { parts: Parts; context: Budget; name: string };

async function take(part: Part, place: Place): Promise<void> {
  const { texts } = place.parts;
  switch (part.type) {
    case "text":
      texts.push(part.text);
      return;
    case "image":
    case "audio":
      return takeBinary(part.data, part.mimeType, place);
    case "resource_link":
      texts.push(`[resource ${shownLine(part.name, 200)}: ${shownLine(part.uri, 1000)}]`);
      return;
    case "resource": {
      const { resource } = part;
      if ("text" in resource) texts.push(`[${shownLine(resource.uri, 1000)}]`, resource.text);
      else return takeBinary(resource.blob, resource.mimeType ?? "", place);
    }
  }
}

/** Keeps the bytes in an artifact, and shows them where they are an image. */
async function takeBinary(base64: string, mimeType: string, { parts, context, name }: Place): Promise<void> {
  const { bytes, line } = saveData(base64, mimeType, context.artifacts);
  parts.texts.push(line);
  if (!isImage(bytes) || parts.images.length >= mostImages) return;
  try {
    for (const block of await imageOf({ bytes }, name, context.signal))
      if (block.type === "text") parts.texts.push(block.text);
      else parts.images.push(block);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    parts.texts.push(error.message);
  }
}

/** Writes data into an artifact. `line`: what it is, and where. */
export function saveData(
  base64: string,
  mimeType: string,
  artifacts: Artifacts,
): { bytes: Buffer; line: string } {
  const bytes = Buffer.from(base64, "base64");
  const file = artifacts.create(/\/([a-z0-9]{1,8})\b/.exec(mimeType)?.[1] ?? "bin");
  writeFileSync(file, bytes);
  return { bytes, line: `[${shownLine(mimeType, 100) || "data"}, ${bytes.length} bytes: ${file}]` };
}

/** Keeps structured content as JSON; it is shown where no text says the same. */
function addStructured({ structuredContent }: CallToolResult, { texts }: Parts, { artifacts }: Budget): void {
  if (typeof structuredContent !== "object" || structuredContent === null) return;
  const json = JSON.stringify(structuredContent, null, 1);
  if (texts.some((text) => saysTheSame(text, structuredContent))) return;
  if (texts.length === 0) texts.push(json);
  else texts.push(`[as data: ${artifacts.write("json", json)}]`);
}

function saysTheSame(text: string, value: object): boolean {
  const [only, another] = Object.values(value) as unknown[];
  if (only === text && another === undefined) return true;
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
