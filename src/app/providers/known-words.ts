/** Names that a command line takes as values: models, policy stacks, providers. */

import { stackWords } from "../../context/policies/stacks.ts";
import { cardIds } from "../../models/cards.ts";
import { providers } from "../../models/providers.ts";
import { keyRows } from "../stored-keys.ts";

/** Returns the names that are known without any setting or server. */
export function knownWords(): Record<"models" | "stacks" | "providers", string[]> {
  const local = providers.filter((row) => row.local).map(({ name }) => `${name}/`);
  return {
    models: [...cardIds(), ...local],
    stacks: [...stackWords],
    providers: [...keyRows.map(({ provider }) => provider), "chatgpt"],
  };
}
