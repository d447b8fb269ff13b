/** Runs the built agent, and what it is compared with, in a home of their own. */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Folder of the agent under measurement, with its `dist/`. */
export const agentFolder = join(import.meta.dirname, "..");

/** Words that start the agent, after `node`. */
export const agent = [join(agentFolder, "bin/sawtooth.js")];
/** Words that start the bare client: the same requests and the same durable lines, and nothing else. */
export const bareClient = [join(agentFolder, "bench/bare-client.ts")];

/** Words that start the program that sends one request, and nothing else: then the file with its body, and the way. */
export const plainRequest = [join(agentFolder, "bench/plain-request.mjs")];

export type Home = { folder: string; env: NodeJS.ProcessEnv };

/** Gives `use` a temporary, empty home, with an environment that points there and to the server at `url`. */
export async function inHome<T>(use: (home: Home) => Promise<T>, url = "http://127.0.0.1:9"): Promise<T> {
  if (!existsSync(join(agentFolder, "dist/main.js")))
    throw new Error("dist/ is missing: run `npm install` first");
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bench-"));
  mkdirSync(join(folder, "work"));
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    SAWTOOTH_HOME: join(folder, "state"),
    ANTHROPIC_API_KEY: "bench-key",
    ANTHROPIC_BASE_URL: url,
  };
  try {
    return await use({ folder, env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type Ran = { startedAt: number; ms: number; peakMb: number };

/** Runs Node with these words. `watch` reads the peak of its memory all the while, which costs a little time. */
export async function runNode(words: readonly string[], home: Home, watch = false): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, words, {
    cwd: join(home.folder, "work"),
    env: home.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let peakMb = 0;
  const watcher = watch ? setInterval(() => (peakMb = Math.max(peakMb, peakOf(child.pid))), 5) : undefined;
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(watcher);
  if (code !== 0) throw new Error(`${words.slice(0, 3).join(" ")} ended with ${code}: ${stderr.trim()}`);
  return { startedAt, ms: performance.now() - startedAt, peakMb };
}

/** The most memory a process has held, in MB (10⁶ bytes), as Linux counts it; 0 where it cannot be read. */
function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return (Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}

/** Runs each of the given things in turn, `rounds` times after one round of warming up; what each gave, by name. */
export async function inTurn<T, K extends string>(
  rounds: number,
  things: Record<K, () => Promise<T>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(things) as K[];
  const given = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, T[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const one = await things[name]();
      if (round > 0) given[name].push(one);
    }
  }
  return given;
}
