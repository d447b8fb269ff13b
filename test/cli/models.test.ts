/** `sawtooth models`: what can be used now, and how it was found. */

import { expect, test } from "vitest";
import { ollamaRoutes, openRouterRoutes, startListServer, vllmRoutes } from "../support/mock-servers.ts";
import { sawtooth } from "../support/sawtooth.ts";
import { tempWorkspace } from "../support/served.ts";

const key = "sk-canary-7f3a9c1e";

async function models(env: Record<string, string>, ...words: string[]) {
  const nowhere = { OLLAMA_HOST: "127.0.0.1:1", LMSTUDIO_BASE_URL: "http://127.0.0.1:1/v1" };
  const others = { LLAMACPP_BASE_URL: "http://127.0.0.1:1/v1", VLLM_BASE_URL: "http://127.0.0.1:1/v1" };
  return sawtooth(tempWorkspace(), ["models", ...words], { env: { ...nowhere, ...others, ...env } });
}

test("a provider is listed by the variable that holds its key, never by the key", async () => {
  const { code, stdout } = await models({ DEEPSEEK_API_KEY: key });
  expect(code).toBe(0);
  expect(stdout).toContain("DeepSeek (deepseek/…): key in DEEPSEEK_API_KEY\n");
  expect(stdout).toMatch(
    /deepseek\/deepseek-flash +1\.0M +\$0\.3 in, \$1\.2 out, \$0\.006 cached +free history/,
  );
  expect(stdout).toMatch(/Not usable now: anthropic \(set ANTHROPIC_API_KEY/);
  expect(stdout).not.toContain("canary");
});

test("servers of this machine are listed with the windows that they tell, gateways with their prices", async () => {
  const ollama = await startListServer(ollamaRoutes({ loaded: 4096 }));
  const vllm = await startListServer(vllmRoutes);
  const router = await startListServer(openRouterRoutes);
  const { stdout } = await models({
    OLLAMA_HOST: ollama.url,
    VLLM_BASE_URL: `${vllm.url}/v1`,
    OPENROUTER_BASE_URL: `${router.url}/v1`,
  });
  expect(stdout).toContain(`Ollama (ollama/…): answers at ${ollama.url}/v1\n`);
  expect(stdout).toMatch(/ollama\/qwen3-coder:latest +4\.1k +no price is known/);
  expect(stdout).toMatch(/vllm\/Qwen\/Qwen3-Coder-30B-A3B-Instruct +66k/);
  expect(stdout).toMatch(/openrouter\/z-ai\/glm-5\.3 +1\.0M +\$1\.4 in, \$4\.4 out, \$0\.26 cached/);
  expect(stdout).toMatch(/No server\s+answers of lmstudio, llamacpp\./);
});

test("a search looks through all known models, and says what theirs need", async () => {
  const { stdout } = await models({}, "glm", "flash");
  expect(stdout).toBe(
    "Z.ai (GLM) (zai/…): not usable now: set ZAI_API_KEY\n" +
      "  zai/glm-5.3-flash  1.0M  $0.15 in, $0.5 out, $0.03 cached      free history, automatic cache\n",
  );
  expect(await models({}, "claude-sonet-5-5")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("did you mean anthropic/claude-sonnet-5-5?"),
  });
});

test("JSON has the same for programs", async () => {
  const { stdout } = await models({ XAI_API_KEY: key }, "xai", "--output-format", "json");
  const { providers } = JSON.parse(stdout) as { providers: { models: object[] }[] };
  expect(providers).toMatchObject([
    { provider: "xai", usable: true, found: { by: "variable", variable: "XAI_API_KEY" } },
  ]);
  expect(providers[0]?.models[0]).toMatchObject({ id: "xai/grok-4.7", window: 500_000 });
});
