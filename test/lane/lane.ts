/** The servers of the lane, and sessions of the program on each of the wires that they speak. */

import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Llama } from "../../scripts/lane/server.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { jsonLines, makeWorkspace, type Workspace } from "../support/sawtooth.ts";

type Server = Omit<Llama, "stop">;

/** `narrow`: a window of 2,048 tokens, `wide`: of 8,192. Throws an Error outside of `npm run lane`. */
export function servers(): { narrow: Server; wide: Server } {
  const told = process.env.SAWTOOTH_LANE_SERVERS;
  if (!told) throw new Error("there is no server: these tests are run by `npm run lane`");
  return JSON.parse(told) as { narrow: Server; wide: Server };
}

/** A wire of ours: the name of the model on it, and what leads to a server at `url`. */
type Wire = {
  name: string;
  model: string;
  env?(url: string): Record<string, string>;
  settings?(url: string): object;
};

export const chat: Wire = {
  name: "chat completions",
  model: "llamacpp/tinyllama",
  env: (url) => ({ LLAMACPP_BASE_URL: `${url}/v1` }),
};
/** A row of one's own: the server is asked for its window there too. */
const messages: Wire = {
  name: "Messages",
  model: "mine/tinyllama",
  settings: (url) => ({ providers: { mine: { wire: "messages", url, asks: "llamacpp" } } }),
};
const responses: Wire = {
  name: "Responses",
  model: "mine/tinyllama",
  settings: (url) => ({ providers: { mine: { wire: "responses", url: `${url}/v1`, asks: "llamacpp" } } }),
};
/** As a gateway is used: the server is not asked. */
export const gateway: Wire = {
  name: "ANTHROPIC_BASE_URL",
  model: "anthropic/tinyllama",
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "any" }),
};
export const wires = [chat, messages, responses];

/** The words of a run that asks for nothing. */
export function task({ model }: Wire, prompt: string): string[] {
  return ["-p", prompt, "--model", model, "--permission-mode", "auto"];
}

/** A workspace whose program talks to the server at `url`. `settings`: of the user. */
export function laneWorkspace(wire: Wire, url: string, settings: object = {}): Workspace {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  Object.assign(workspace.env, wire.env?.(url), { SAWTOOTH_IDLE_TIMEOUT: "10m" });
  const config = join(workspace.home, "sawtooth", "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify({ ...wire.settings?.(url), ...settings }));
  return workspace;
}

/** The log of the workspace's only session. */
export function events({ home }: Workspace): LogEvent[] {
  const files = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: home });
  if (files.length !== 1) throw new Error(`${files.length} sessions`);
  return jsonLines(readFileSync(join(home, files[0] ?? ""), "utf8")) as LogEvent[];
}

/** Waits as long as the test may take: the model is slow. */
export async function patiently(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(100);
}
