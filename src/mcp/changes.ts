/** Compares what a server offers with what a person saw of it: an offer that changes later could be a trap. */

import { type Catalogue, fileText, type RemoteTool } from "./catalogue.ts";
import { shown } from "./shown.ts";

/** Returns true when a tool is new or described otherwise, or the server's words about itself are. One that is gone is no danger. */
export function isChanged(before: Catalogue, after: Catalogue): boolean {
  // As a rule nothing is, and that is seen sooner.
  if (offerText(before) === offerText(after)) return false;
  if (shown(before.instructions) !== shown(after.instructions)) return true;
  const known = new Map(before.tools.map((tool) => [tool.name, claimsOf(tool)]));
  return after.tools.some((tool) => known.get(tool.name) !== claimsOf(tool));
}

function offerText({ instructions, tools }: Catalogue): string {
  return JSON.stringify([instructions, tools]);
}

/** Returns the difference in lines that begin with `+`, `-` or a blank; a line without names the tool. */
export async function changeLines(before: Catalogue, after: Catalogue): Promise<string[]> {
  const { diffArrays } = await import("diff");
  const differing = (old: string, now: string): string[] =>
    diffArrays(old.split("\n"), now.split("\n")).flatMap(({ value, added, removed }) =>
      added || removed ? value.map((line) => `${added ? "+" : "-"} ${line}`) : [],
    );
  const known = new Map(before.tools.map((tool) => [tool.name, claimsOf(tool)]));
  const words = differing(shown(before.instructions), shown(after.instructions));
  const gone = before.tools.filter(({ name }) => !after.tools.some((tool) => tool.name === name));
  return [
    ...(words.length > 0 ? ["its words about itself", ...words] : []),
    ...after.tools.flatMap((tool) => {
      const old = known.get(tool.name);
      const now = claimsOf(tool);
      if (old === now) return [];
      const lines = old === undefined ? now.split("\n").map((line) => `+ ${line}`) : differing(old, now);
      return [`${shown(tool.name)}${old === undefined ? ", which is new" : ""}`, ...lines];
    }),
    ...gone.map(({ name }) => `${shown(name)}, which is gone`),
  ];
}

/** The text that the model may read of a tool, and what the server claims of it. */
function claimsOf(tool: RemoteTool): string {
  return `${fileText(tool).trimEnd()}${tool.readOnly ? "\nsaid to read only" : ""}`;
}
