/** Sandboxes for tests: the engine of this machine, or one clear line that there is none. */

import { mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox, SandboxPlan } from "../../src/core/sandbox.ts";
import { type Engine, findEngine } from "../../src/sandbox/engine.ts";
import { type InsideOptions, sandboxOf } from "../../src/sandbox/inside.ts";

const found = await findEngine({
  env: process.env,
  writable: [],
  cache: join(tmpdir(), `sawtooth-test-engine-${process.getuid?.()}`, "probe.json"),
});

/** The engine, where one works. */
export const engine: Engine | undefined = "name" in found && found.name === "namespaces" ? found : undefined;

if (!engine) console.warn(`sandbox: its tests are skipped, no engine works here: ${found.status.reason}`);

export type TestFolders = {
  /** The workspace and the session's folder. */
  work: string;
  state: string;
};

/** The sandbox of a session in two folders, as the program opens it. Only with an engine. */
export function insideOf(
  { work, state }: TestFolders,
  more: Partial<InsideOptions> = {},
  onPlan: (plan: SandboxPlan) => void = () => {},
): Sandbox {
  if (!engine) throw new Error("there is no engine: skip the test");
  const places = {
    readable: [join(state, "shell", "in"), join(state, "artifacts")],
    writable: [join(state, "shell", "state"), join(state, "out")],
    ...{ temp: join(state, "temp"), caches: join(state, "caches"), copies: join(state, "shell", "copies") },
  };
  for (const folder of [...places.readable, ...places.writable])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  return sandboxOf({
    ...{ engine, env: process.env, workspace: [work], home: homedir(), own: [state], places, onPlan },
    ...{
      main: undefined,
      mode: () => "accept-edits" as const,
      rules: () => ({ allow: [], deny: [] }),
      ...more,
    },
  });
}
