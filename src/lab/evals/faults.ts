/** Breaks the engine on purpose, one fault at a time, to prove that each eval can fail. Pure. */

import type { ContextEdit, EventBody } from "../../core/events.ts";

type Break = (text: string) => string;

const breaks: Record<string, Break> = {
  /** Originals of forgotten content can no longer be found. */
  pointers: (text) =>
    text
      .replace(/ — \/?[^\]]*\]/g, "]")
      .replace(/Full history: \S+\]/, "]")
      .replace(/(their outputs|its output|full history): [^\]]*\]/, "]"),
  /** The handoff does not say what is done. */
  tasks: (text) => text.replace(/## Task list[^#]*/, "").replace(/ It does: [^\]]*/, ""),
  /** A failure leaves no trace. */
  errors: (text) => text.replace(/(: exit \d+, ").*(" — )/, "$2").replace(/## Failed attempts[^#]*/, ""),
  /** The person's first words are forgotten. */
  words: (text) => text,
};

export const faultNames: readonly string[] = Object.keys(breaks);

/** Returns the event to log in place of `body`; `firstSaid`: seq and last block of the user's first message. */
export function withFault(
  body: EventBody,
  name: string,
  firstSaid: { seq: number; block: number },
): EventBody {
  const change = breaks[name];
  if (!change || body.type !== "context_edited") return body;
  const edits = body.edits.map(
    (edit): ContextEdit => (edit.type === "drop_thinking" ? edit : { ...edit, text: change(edit.text) }),
  );
  const gone: ContextEdit = { type: "replace", ...firstSaid, text: "[left out]" };
  return { ...body, edits: name === "words" ? [...edits, gone] : edits };
}
