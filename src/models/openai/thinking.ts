/** Gathers the thinking of a reply over chat completions, under each of the names that servers have for it. */

import type { AssistantBlock, ThinkingWire } from "../../core/blocks.ts";
import type { ModelCard } from "../../core/model-card.ts";
import type { ModelPart } from "../../core/ports.ts";

/** The thoughts of open models, and OpenRouter's form for those of all; OpenAI's own host sends none. */
export type ThinkingDelta = {
  content?: unknown;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_details?: Detail[] | null;
};

/** A detail of OpenRouter's, or a piece of one. `index`: pieces of one type and index are one detail. */
type Detail = {
  type?: string;
  index?: number;
  text?: string | null;
  summary?: string | null;
  signature?: unknown;
};

/** Tells of thinking as it comes, and keeps it where its maker wants it back. */
export function gatherThinking({ card, onPart }: { card: ModelCard; onPart(part: ModelPart): void }) {
  let text = "";
  let field: "reasoning_content" | "reasoning" | undefined;
  const details: Detail[] = [];
  const wire = (): ThinkingWire | undefined => {
    if (details.length === 0) return field && { api: "chat", field };
    // Claude signs them over all that was before: an edit of the history would make the request invalid.
    if (details.some(({ signature }) => signature)) return undefined;
    return { api: "chat", field: "reasoning_details", details };
  };
  return {
    take(delta: ThinkingDelta): string {
      const { reasoning_content, reasoning, reasoning_details } = delta;
      const thought = reasoning_content || reasoning || thoughtIn(delta.content);
      if (typeof reasoning_content === "string") field ??= "reasoning_content";
      else if (typeof reasoning === "string") field ??= "reasoning";
      for (const detail of reasoning_details ?? []) addDetail(details, detail);
      text += thought;
      if (thought) onPart({ type: "thinking_delta", text: thought });
      return thought;
    },
    blocks(): AssistantBlock[] {
      const own = card.contract.thinking === "carried" ? wire() : undefined;
      return own ? [{ type: "thinking", thinking: text, signature: "", wire: own }] : [];
    },
  };
}

/** Adds a piece to the newest detail where that is the same one; a server refuses one that comes back in pieces. */
function addDetail(details: Detail[], piece: Detail): void {
  const last = details.at(-1);
  const same = last && last.index !== undefined && last.index === piece.index && last.type === piece.type;
  if (!same || piece.type === "reasoning.encrypted") details.push({ ...piece });
  else {
    const joined = (of: "text" | "summary") =>
      typeof piece[of] === "string" ? { [of]: (last[of] ?? "") + piece[of] } : {};
    Object.assign(last, piece, joined("text"), joined("summary"));
  }
}

/** The thoughts among the parts of a reply of Mistral's. */
function thoughtIn(content: unknown): string {
  if (!Array.isArray(content)) return "";
  const thoughts = content.flatMap((part) => (part?.type === "thinking" ? part.thinking : []));
  return thoughts.map((part) => (typeof part?.text === "string" ? part.text : "")).join("");
}
