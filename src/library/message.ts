/** A message of a program as the session gets it: texts, and pictures checked and scaled. */

import type { UserBlock } from "../core/blocks.ts";
import { UsageError } from "../core/errors.ts";
import type { JsonSchema } from "../core/request.ts";
import { closedObject, violations } from "../core/schema.ts";
import type { Message, Picture } from "./surface.ts";

const schema: JsonSchema = {
  type: "array",
  items: closedObject({ type: { enum: ["text", "image"] }, text: { type: "string" }, data: {}, name: {} }, [
    "type",
  ]),
};

/** Checks a message for `method`. Throws `UsageError` for one that says nothing, or holds something else. */
export function checkMessage(message: Message, method: "prompt" | "steer"): void {
  if (typeof message === "string") {
    if (message.trim() !== "") return;
    throw new UsageError(`${method} needs a text that says something`);
  }
  const [wrong] = violations(schema, message, `${method}: the message`);
  if (wrong) throw new UsageError(wrong);
  message.forEach((part, index) => {
    if (part.type === "text" ? typeof part.text === "string" : part.data instanceof Uint8Array) return;
    const needs = part.type === "text" ? "text, a string" : "data, a Uint8Array";
    throw new UsageError(`${method}: part ${index + 1} of the message needs ${needs}`);
  });
  if (!message.some((part) => part.type === "image" || part.text.trim() !== ""))
    throw new UsageError(`${method} needs a text that says something, or a picture`);
}

/** Returns the blocks of a checked message. Throws `UsageError` for a picture that cannot be shown. */
export async function messageBlocks(message: Message, signal: AbortSignal): Promise<UserBlock[]> {
  if (typeof message === "string") return [{ type: "text", text: message.toWellFormed() }];
  const blocks: UserBlock[] = [];
  for (const [index, part] of message.entries())
    blocks.push(
      ...(part.type === "text"
        ? [{ type: "text" as const, text: part.text.toWellFormed() }]
        : await pictureBlocks(part, `picture ${index + 1}`, signal)),
    );
  return blocks;
}

async function pictureBlocks({ data, name }: Picture, usual: string, signal: AbortSignal) {
  // Loaded with the first picture: most messages have none.
  const { givenPicture } = await import("../app/messages/pictures.ts");
  const called = typeof name === "string" && name.trim() !== "" ? name.toWellFormed() : usual;
  return givenPicture(Buffer.from(data.buffer, data.byteOffset, data.byteLength), called, signal);
}
