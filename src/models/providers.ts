/** The table of providers, one row each. Pure. */

/** The API that a provider speaks. */
export type Wire = "messages" | "chat" | "responses";

/** How a server says which models it has and how large their windows are. */
export type Asking = "ollama" | "lmstudio" | "llamacpp" | "models";

export type Provider = {
  /** The first part of a model's name: `ollama` in `ollama/qwen3-coder`. */
  name: string;
  /** The name for people. */
  title: string;
  wire: Wire;
  /** The base URL; `{region}` and `{project}` stand for what the environment says. */
  url: string;
  /** Variables that hold the key; the first that is set wins. None: the server asks for no key. */
  keys: readonly string[];
  /** The variable with another base URL, where it is not the name in capitals and `_BASE_URL`. */
  urlVariable?: string;
  /** The contract of models without a card, by its name in cards.json. */
  contract: string;
  /** Set where models without a card have the card of the same model at its maker. */
  borrows?: true;
  asks?: Asking;
  /** Dollars for 1,000 searches of its own server, where Sawtooth uses them: for the models that have a card of their own. */
  webSearch?: number;
  /** Set where a ChatGPT plan pays, with the token of a sign-in as its key. */
  plan?: true;
  /** Signs its requests by another scheme than a key in a header. */
  signer?: "aws" | "google";
  /** Set for servers on this machine: no key, no price, found by their usual address. */
  local?: true;
};

const chat = { wire: "chat", contract: "automatic" } as const;
const carried = { wire: "chat", contract: "automatic_carried" } as const;
const local = { ...chat, keys: [], local: true } as const;
const claude = { wire: "messages", contract: "claude_unknown" } as const;

/** The providers that are known without any setting, in the order in which they are listed. */
export const providers: readonly Provider[] = [
  {
    ...claude,
    ...{ name: "anthropic", title: "Anthropic", url: "https://api.anthropic.com" },
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    // A third party's figure (integrations.md, section 8), not checked at the API.
    webSearch: 10,
  },
  {
    ...{
      ...{ wire: "responses", contract: "responses_automatic" },
      name: "openai",
      title: "OpenAI",
      url: "https://api.openai.com/v1",
      keys: ["OPENAI_API_KEY"],
    },
    ...{ borrows: true, asks: "models" },
    // What OpenAI's price page says of `web_search` for all models, as its forum quotes it (thread 1363698, read in 2026-11).
    webSearch: 10,
  },
  {
    ...{ wire: "responses", contract: "responses_automatic", name: "chatgpt", title: "ChatGPT" },
    ...{ url: "https://api.openai.com/v1", keys: ["CHATGPT_ACCESS_TOKEN"] },
    ...{ borrows: true, asks: "models", plan: true },
  },
  {
    ...{ ...chat, name: "gemini", title: "Google Gemini" },
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  {
    ...carried,
    name: "deepseek",
    title: "DeepSeek",
    url: "https://api.deepseek.com/v1",
    keys: ["DEEPSEEK_API_KEY"],
  },
  {
    ...carried,
    name: "moonshot",
    title: "Moonshot (Kimi)",
    url: "https://api.moonshot.ai/v1",
    keys: ["MOONSHOT_API_KEY"],
  },
  {
    ...carried,
    name: "zai",
    title: "Z.ai (GLM)",
    url: "https://api.z.ai/api/paas/v4",
    keys: ["ZAI_API_KEY"],
  },
  {
    ...{ ...chat, name: "qwen", title: "Alibaba Cloud (Qwen)", keys: ["DASHSCOPE_API_KEY"] },
    url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  },
  { ...chat, name: "mistral", title: "Mistral", url: "https://api.mistral.ai/v1", keys: ["MISTRAL_API_KEY"] },
  { ...chat, name: "xai", title: "xAI (Grok)", url: "https://api.x.ai/v1", keys: ["XAI_API_KEY"] },
  { ...chat, name: "groq", title: "Groq", url: "https://api.groq.com/openai/v1", keys: ["GROQ_API_KEY"] },
  {
    ...{ ...chat, name: "cerebras", title: "Cerebras", url: "https://api.cerebras.ai/v1" },
    ...{ keys: ["CEREBRAS_API_KEY"] },
  },
  {
    ...{ ...carried, name: "openrouter", title: "OpenRouter", url: "https://openrouter.ai/api/v1" },
    ...{ keys: ["OPENROUTER_API_KEY"], asks: "models" },
  },
  { ...local, name: "ollama", title: "Ollama", url: "http://127.0.0.1:11434/v1", asks: "ollama" },
  { ...local, name: "lmstudio", title: "LM Studio", url: "http://127.0.0.1:1234/v1", asks: "lmstudio" },
  { ...local, name: "llamacpp", title: "llama.cpp", url: "http://127.0.0.1:8080/v1", asks: "llamacpp" },
  {
    ...local,
    name: "vllm",
    title: "vLLM",
    url: "http://127.0.0.1:8000/v1",
    keys: ["VLLM_API_KEY"],
    asks: "models",
  },
  {
    ...{ ...claude, name: "bedrock", title: "Claude on Amazon Bedrock", signer: "aws", borrows: true },
    url: "https://bedrock-mantle.{region}.api.aws/anthropic",
    urlVariable: "ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
  },
  {
    ...{
      ...claude,
      name: "vertex",
      title: "Claude on Google Vertex AI",
      signer: "google",
      borrows: true,
      keys: [],
    },
    url: "https://{region}-aiplatform.googleapis.com/v1",
    urlVariable: "ANTHROPIC_VERTEX_BASE_URL",
  },
];

/** Splits `provider/id`; a name without a provider that begins with `claude-` is Anthropic's. */
export function splitName(name: string): { provider: string; id: string } {
  const slash = name.indexOf("/");
  if (slash < 0) return { provider: name.startsWith("claude-") ? "anthropic" : "", id: name };
  return { provider: name.slice(0, slash), id: name.slice(slash + 1) };
}
