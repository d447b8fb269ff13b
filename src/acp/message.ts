/** The message of a prompt: its blocks as the model gets them, checked and scaled. */

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { UserBlock } from "../core/blocks.ts";
import { UsageError } from "../core/errors.ts";
import type { Artifacts } from "../core/ports.ts";
import { enclosed } from "../core/text/tags.ts";
import { commandIn } from "../tui/input/command-line.ts";

type Place = { artifacts: Artifacts; signal: AbortSignal };

/** Returns the blocks of a user message. Throws a `RequestError` that names the block which cannot be used. */
export async function messageOf(prompt: readonly ContentBlock[], place: Place): Promise<UserBlock[]> {
  const blocks: UserBlock[] = [];
  for (const [index, block] of prompt.entries())
    blocks.push(...(await blocksOf(block, `block ${index + 1}`, place)));
  if (!blocks.some((block) => block.type === "image" || block.text.trim() !== ""))
    throw RequestError.invalidParams(undefined, "the prompt is empty: describe the task");
  return blocks;
}

/** Returns the words of a prompt that is nothing but text, where it could be a command. */
export function commandLine(prompt: readonly ContentBlock[]): { name: string; argument: string } | undefined {
  const texts = prompt.map((block) => (block.type === "text" ? block.text : undefined));
  if (texts.includes(undefined)) return undefined;
  return commandIn(texts.join("\n").trimStart());
}

async function blocksOf(block: ContentBlock, called: string, place: Place): Promise<UserBlock[]> {
  switch (block.type) {
    case "text":
      return [text(block.text)];
    case "image":
      return shownImage(bytesIn(block.data, called), called, place);
    case "resource_link":
      return [text(linkText(block.name, block.uri))];
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return [text(enclosed("attached", resource.text, attribute(resource.uri)))];
      const bytes = bytesIn(resource.blob, called);
      if ((await images()).isImage(bytes)) return shownImage(bytes, nameOf(resource.uri), place);
      const file = place.artifacts.create(/\.(\w{1,8})$/.exec(resource.uri)?.[1] ?? "bin");
      writeFileSync(file, bytes);
      return [text(`[attached ${nameOf(resource.uri)}, ${bytes.length} bytes: ${file}]`)];
    }
    case "audio":
      throw RequestError.invalidParams(undefined, `${called} is audio, which is not read: send text`);
  }
}

function text(content: string): UserBlock {
  return { type: "text", text: content.toWellFormed() };
}

/** Loaded with the first image: it belongs to what is loaded after the first request. */
const images = () => import("../tools/editor/images/image.ts");

async function shownImage(bytes: Buffer, called: string, { signal }: Place): Promise<UserBlock[]> {
  const { givenPicture } = await import("../app/messages/pictures.ts");
  try {
    return await givenPicture(bytes, called, signal);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw RequestError.invalidParams(undefined, error.message);
  }
}

function bytesIn(base64: string, called: string): Buffer {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > 0) return bytes;
  throw RequestError.invalidParams(undefined, `${called} holds no data in base64`);
}

/** A file is named by its path, which the model can view; anything else by its name and address. */
function linkText(name: string, uri: string): string {
  const path = pathOf(uri);
  return path === undefined ? `[${name}](${uri})` : `@${path}`;
}

function attribute(uri: string): string {
  return ` ${pathOf(uri) === undefined ? "uri" : "path"}=${JSON.stringify(nameOf(uri))}`;
}

function nameOf(uri: string): string {
  return pathOf(uri) ?? uri;
}

/** Returns the path of a file's address, with the fragment that editors use for lines. */
function pathOf(uri: string): string | undefined {
  if (!uri.startsWith("file://")) return undefined;
  try {
    const { hash, href } = new URL(uri);
    return fileURLToPath(href.slice(0, href.length - hash.length)) + decodeURIComponent(hash);
  } catch {
    return undefined;
  }
}
