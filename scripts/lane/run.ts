/** Runs programs to their end. */

import { spawn } from "node:child_process";
import { join } from "node:path";

/** Something that the lane needs and this machine does not have: the lane is skipped, with this line. */
export class MissingError extends Error {}

type Run = { code: number | null; stdout: string; stderr: string };

/** Throws `MissingError` when there is no such program. */
export function run(program: string, args: readonly string[], cwd?: string): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...(cwd ? { cwd } : {}), stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "ENOENT" ? new MissingError(`${program} is not installed`) : error),
    );
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** Runs a program that has to succeed. Throws an Error with the end of what it said. */
export async function must(program: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(program, args);
  if (code === 0) return;
  const said = `${stdout}${stderr}`.trim().split("\n").slice(-12).join("\n");
  throw new Error(`${program} ${args[0]} failed:\n${said}`);
}

/** Runs the tests in a folder of test/ with more variables and arguments of vitest. Returns the exit code. */
export function runTests(
  folder: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<number> {
  const root = join(import.meta.dirname, "..", "..");
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const config = join(root, "test", folder, "vitest.config.ts");
  const child = spawn(process.execPath, [vitest, "run", "--config", config, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
