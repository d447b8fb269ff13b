/** The forms of API keys, by which a key of another provider is told before it is sent anywhere. Pure. */

/** Beginnings of keys, as the providers' own documentation shows them; the first that fits decides. */
const beginnings: readonly [beginning: string, provider: string][] = [
  ["sk-ant-", "anthropic"],
  ["sk-proj-", "openai"],
  ["sk-svcacct-", "openai"],
  ["sk-or-", "openrouter"],
  ["AIza", "gemini"],
  ["gsk_", "groq"],
  ["xai-", "xai"],
  ["csk-", "cerebras"],
];

/** Returns the provider whose form a key has; undefined for a form that several use. */
export function providerOfKey(key: string): string | undefined {
  return beginnings.find(([beginning]) => key.startsWith(beginning))?.[1];
}

/** Says why a key is not one of this provider's; undefined when it may be. It never quotes the key. */
export function formProblem(provider: string, key: string): string | undefined {
  if (key.startsWith("sk-ant-oat"))
    return "this is a token of a Claude subscription, which Anthropic does not allow in other programs; an API key works";
  const of = providerOfKey(key);
  if (of !== undefined && of !== provider) return `this has the form of a key of ${of}, not of ${provider}`;
  if (provider === "anthropic" && of === undefined && key.startsWith("sk-"))
    return "a key of anthropic begins with sk-ant-";
  return undefined;
}
