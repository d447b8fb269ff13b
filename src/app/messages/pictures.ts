/** Pictures in a message: what `@name` and a pasted path name is attached, checked and scaled. */

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { UserBlock } from "../../core/blocks.ts";
import { UsageError } from "../../core/errors.ts";
import { imageOf, isImage } from "../../tools/editor/images/image.ts";
import { Refusal } from "../../tools/editor/refusal.ts";
import { readRaw } from "../../tools/editor/text/text-file.ts";

export type PictureSource = {
  /** Absolute folder that names are relative to. */
  cwd: string;
  /** Absolute folder of pictures from the clipboard, looked in first. */
  pasted?: string | undefined;
};

/** More in one message are left as text. */
const mostPictures = 20;

/** `@` and a name that ends as pictures do; in quotes where it has blanks. */
const mention =
  /(?<=^|[\s([{])@(?:"([^"\n]{1,1000}\.(?:png|jpe?g|gif|webp))"|([^\s"]{1,1000}\.(?:png|jpe?g|gif|webp))(?=$|[\s)\]},;:!?]|\.(?:\s|$)))/gi;

/** Returns the names of pictures in a text, each once, in order. */
export function mentionedPictures(text: string): string[] {
  const names = Array.from(text.matchAll(mention), ([, quoted, plain]) => quoted ?? plain ?? "");
  return [...new Set(names)];
}

/**
 * Adds the pictures that the texts name, each as a line about it and the picture. A name that is no file is left as
 * text; for a file that cannot be shown there is a line which says why.
 */
export async function withPictures(
  content: readonly UserBlock[],
  source: PictureSource,
  signal: AbortSignal = new AbortController().signal,
): Promise<UserBlock[]> {
  const names = content.flatMap((block) => (block.type === "text" ? mentionedPictures(block.text) : []));
  if (names.length === 0) return [...content];
  const found = [...new Set(names)].flatMap((name) => {
    const path = fileOf(name, source);
    return path === undefined ? [] : [{ name, path }];
  });
  const shown: UserBlock[] = [];
  for (const { name, path } of found.slice(0, mostPictures))
    shown.push(...(await blocksOf(name, path, signal)));
  for (const { name } of found.slice(mostPictures))
    shown.push(notShown(name, `a message takes ${mostPictures}`));
  return [...content, ...shown];
}

function fileOf(name: string, { cwd, pasted }: PictureSource): string | undefined {
  const own = pasted === undefined || name.includes("/") ? [] : [join(pasted, name)];
  const home = name.replace(/^~(?=\/)/, process.env.HOME || homedir());
  return [...own, resolve(cwd, home)].find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

async function blocksOf(name: string, path: string, signal: AbortSignal): Promise<UserBlock[]> {
  try {
    const raw = await readRaw(path);
    if (!isImage(raw.bytes)) return [notShown(name, "it is no PNG, JPEG, GIF or WebP image")];
    return await imageOf(raw, name, signal);
  } catch (error) {
    return [
      error instanceof Refusal ? { type: "text", text: `[${error.message}]` } : notShown(name, String(error)),
    ];
  }
}

/** Returns true for the bytes of a PNG, JPEG, GIF or WebP, damaged ones included. */
export const isPicture: (bytes: Buffer) => boolean = isImage;

/** Returns the blocks of a picture that somebody gave. Throws `UsageError` for one that cannot be shown. */
export async function givenPicture(bytes: Buffer, name: string, signal: AbortSignal): Promise<UserBlock[]> {
  if (!isImage(bytes)) throw new UsageError(`${name} is no PNG, JPEG, GIF or WebP image`);
  try {
    return await imageOf({ bytes }, name, signal);
  } catch (error) {
    throw error instanceof Refusal ? new UsageError(error.message) : error;
  }
}

function notShown(name: string, why: string): UserBlock {
  return { type: "text", text: `[${name} was not attached: ${why}]` };
}
