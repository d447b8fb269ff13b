/** The models that the strict server plays, as it knows them (provider-facts §1–§4). */

export type MockModel = {
  id: string;
  window: number;
  maxOutput: number;
  history: "free" | "prefix_bound";
  /** Shortest prefix that is cached. */
  minTokens: number;
  /** Adaptive thinking: on whatever is asked, on request, or unknown to the model. */
  adaptive: "always" | "on_request" | "refused";
  /** True when `budget_tokens` is accepted. */
  budget: boolean;
  /** True when `role: "system"` is accepted among the messages. */
  systemMessages: boolean;
  /** True when temperature, top_p and top_k may differ from their defaults. */
  sampling: boolean;
};

const newest = {
  window: 1_000_000,
  maxOutput: 128_000,
  adaptive: "always",
  budget: false,
  sampling: false,
} as const;
const bound = { ...newest, history: "prefix_bound", minTokens: 512, systemMessages: true } as const;
const five = { ...newest, history: "free" } as const;
const four = { ...five, adaptive: "on_request" } as const;
const old = { ...four, window: 200_000, maxOutput: 64_000, adaptive: "refused", budget: true } as const;

const table: Record<string, Omit<MockModel, "id">> = {
  "claude-fable-5-2": bound,
  "claude-fable-5-1": bound,
  "claude-mythos-5-2": bound,
  "claude-mythos-5-1": bound,
  "claude-opus-5-5": bound,
  "claude-sonnet-5-5": bound,
  "claude-haiku-5-5": bound,
  "claude-opus-5": { ...five, minTokens: 512, systemMessages: true },
  "claude-sonnet-5": { ...five, minTokens: 1024, systemMessages: false },
  "claude-opus-4-8": { ...four, minTokens: 1024, systemMessages: true },
  "claude-opus-4-7": { ...four, minTokens: 2048, systemMessages: false },
  "claude-opus-4-6": { ...four, minTokens: 4096, systemMessages: false, budget: true, sampling: true },
  "claude-sonnet-4-6": { ...four, minTokens: 1024, systemMessages: false, budget: true, sampling: true },
  "claude-opus-4-5": { ...old, minTokens: 4096, systemMessages: false, sampling: true },
  "claude-sonnet-4-5": { ...old, minTokens: 1024, systemMessages: false, sampling: true },
  "claude-haiku-4-5": { ...old, minTokens: 4096, systemMessages: false, sampling: true },
};

export type ModelChanges = { [id: string]: Partial<MockModel> };

/** The model with this id, changed by `changes[id]` and `changes["*"]`; an id named in `changes` is known. */
export function findModel(id: string, changes: ModelChanges = {}): MockModel | undefined {
  const known = table[id] ?? table[id.replace(/-\d{8}$/, "")] ?? (id in changes ? bound : undefined);
  return known && { id, ...known, ...changes["*"], ...changes[id] };
}

export const modelIds = Object.keys(table);
