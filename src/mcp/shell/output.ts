/** Prints what a tool of a server answered: data as JSON, else text; images and other data as files. */

import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Artifacts } from "../../core/ports.ts";
import { saveData } from "../results.ts";
import { shownLine } from "../shown.ts";
import type { Printed } from "./listener.ts";

/** Returns what a call prints. Where it answered data, standard output is that JSON and nothing else. */
export function printedResult(result: CallToolResult, artifacts: Artifacts): Printed {
  const { structuredContent, isError } = result;
  const [texts, notes] = [[] as string[], [] as string[]];
  for (const part of result.content) {
    const { text, note } = printedPart(part, artifacts);
    if (text !== undefined) texts.push(text);
    if (note !== undefined) notes.push(note);
  }
  if (isError) return { out: "", errors: lines([...texts, ...notes]), code: 1 };
  if (typeof structuredContent === "object" && structuredContent !== null)
    return { out: `${JSON.stringify(structuredContent, null, 1)}\n`, errors: lines(notes), code: 0 };
  return { out: lines([...texts, ...notes]), errors: "", code: 0 };
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => (text === "" || text.endsWith("\n") ? text : `${text}\n`)).join("");
}

type Part = CallToolResult["content"][number];

/** `note`: a line about what is no text. */
function printedPart(part: Part, artifacts: Artifacts): { text?: string; note?: string } {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "image":
    case "audio":
      return { note: saveData(part.data, part.mimeType, artifacts).line };
    case "resource_link":
      return { note: `[resource ${shownLine(part.name, 200)}: ${shownLine(part.uri, 1000)}]` };
    case "resource": {
      const { resource } = part;
      if ("text" in resource) return { text: resource.text };
      return { note: saveData(resource.blob, resource.mimeType ?? "", artifacts).line };
    }
  }
}
