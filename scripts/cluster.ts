/**
 * `npm run test:cluster`: a batch on a real Slurm of two nodes, with faults. Everything runs in namespaces of its own
 * (network, processes, mounts), which end with it: no port, no service and no folder of the machine is touched. Exit
 * code 0 with one line where something that it needs is missing.
 */

import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import build from "../test/support/build.ts";

const main = join(import.meta.dirname, "../test/cluster/main.ts");
/** The child's end, even by `kill -9` of its parent, ends every process in them. */
const apart = "--net --pid --mount --uts --ipc --fork --kill-child --mount-proc --propagation private".split(
  " ",
);
const programs = ["slurmctld", "slurmd", "munged", "sbatch", "scontrol", "unshare", "ip", "git"];

const missing = whyNot();
if (missing) process.stdout.write(`cluster: skipped: ${missing}\n`);
else process.exitCode = await run();

function whyNot(): string | undefined {
  if (process.platform !== "linux") return `it needs Linux, this is ${process.platform}`;
  const absent = programs.filter((name) => !runs("sh", ["-c", `command -v ${name}`]));
  if (absent.length > 0)
    return `not installed: ${absent.join(", ")} (Debian: slurmctld, slurmd, slurm-client, munge, iproute2)`;
  if (process.getuid?.() !== 0) return "it needs root, for namespaces of its own";
  return runs("unshare", [...apart, "true"]) ? undefined : "this machine permits no namespaces";
}

function runs(program: string, words: readonly string[]): boolean {
  return spawnSync(program, words, { stdio: "ignore" }).status === 0;
}

async function run(): Promise<number> {
  // Before, because its compiler stays for a moment.
  build();
  const child = spawn("unshare", [...apart, process.execPath, main], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
