/** A Slurm of two nodes on one machine. Each node has its own processes, name and local disk, as a machine has. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { childrenOf } from "../../src/disk/process-stat.ts";
import { until } from "../support/until.ts";

export type NodeName = "a" | "b";
export type Slurm = ReturnType<typeof startSlurm>;
/** A job as `squeue` has it. `part`: its index in the array. */
export type QueuedJob = { id: string; part: number; state: string; reason: string; node: string };

export const nodeNames: readonly NodeName[] = ["a", "b"];
/** No loopback address: the programs take none for a network. */
const address = "10.77.0.1";
const localMegabytes = 64;

/** Starts everything under `root`; `env`: of the jobs. Their local disk is `local`, another one on each node. */
export function startSlurm(root: string, local: string, env: Record<string, string>) {
  for (const name of ["munge", "state", "log", "spool", "run"])
    mkdirSync(join(root, name), { recursive: true, mode: 0o700 });
  writeFileSync(join(root, "munge/key"), randomBytes(1024), { mode: 0o400 });
  writeFileSync(join(root, "slurm.conf"), configuration(root));
  mkdirSync(local, { recursive: true });
  execFileSync("ip", ["link", "set", "lo", "up"]);
  execFileSync("ip", ["address", "add", `${address}/24`, "dev", "lo"]);
  const whole = { ...env, SLURM_CONF: join(root, "slurm.conf") };
  execFileSync("munged", mungeWords(join(root, "munge")), { stdio: "ignore" });
  const background = (name: string, program: string, words: string[]): ChildProcess => {
    const log = openSync(join(root, "log", `${name}.log`), "a");
    const child = spawn(program, words, { env: whole, stdio: ["ignore", log, log] });
    closeSync(log);
    return child;
  };
  const controller = () => background("controller", "slurmctld", ["-D"]);
  const node = (name: NodeName) => background(`node-${name}`, "unshare", machineWords(name, local));
  const running = { controller: controller(), a: node("a"), b: node("b") };
  const ask = (program: string, ...words: string[]): string =>
    execFileSync(program, words, { env: whole, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const tell = (program: string, ...words: string[]): boolean =>
    spawnSync(program, words, { env: whole, stdio: "ignore" }).status === 0;
  return {
    ...{ ask, tell, env: whole },
    /** True when both nodes take jobs. */
    isReady: () =>
      (tell("scontrol", "ping") ? ask("sinfo", "-h", "-N", "-o", "%T").match(/idle|mix|alloc/g) : null)
        ?.length === 2,
    /** All jobs that are not over; undefined while the controller does not answer. */
    jobs(): QueuedJob[] | undefined {
      if (!tell("scontrol", "ping")) return undefined;
      return ask("squeue", "-h", "-r", "-o", "%A|%K|%T|%r|%N").split("\n").filter(Boolean).map(jobIn);
    },
    /** Ends a node as a power cut does, with everything on it; monitoring marks it as down, and it starts again. */
    async powerCut(name: NodeName): Promise<void> {
      await killed(running[name]);
      ask("scontrol", "update", `NodeName=${name}`, "State=DOWN", "Reason=power");
      running[name] = node(name);
    },
    async restartController(): Promise<void> {
      await killed(running.controller);
      running.controller = controller();
      await until(() => tell("scontrol", "ping"), "the controller");
    },
    /** Fills the local disk of a node to the last byte. Returns its bytes. */
    fillDisk: (name: NodeName): number => fill(join(placeOf(running[name]), local, "full")),
    emptyDisk: (name: NodeName): void => rmSync(join(placeOf(running[name]), local, "full")),
    /** Returns the files on the local disk of a node. */
    localOf: (name: NodeName): string => join(placeOf(running[name]), local),
    async stop(): Promise<void> {
      await Promise.all([running.a, running.b, running.controller].map(killed));
      process.kill(Number(readFileSync(join(root, "munge/pid"), "utf8")), "SIGKILL");
    },
  };
}

/** Begins a node as a machine of its own. */
function machineWords(name: NodeName, local: string): string[] {
  const apart = "--pid --uts --mount --fork --kill-child --mount-proc".split(" ");
  const disk = `mount -t tmpfs -o size=${localMegabytes}m disk ${local}`;
  // The first process of a machine reaps what others leave. slurmd does not, and takes a process that nobody reaps for one at work.
  const begin = `hostname ${name} && ${disk} && { slurmd -D -N ${name} & wait; }`;
  return [...apart, "sh", "-c", begin];
}

function jobIn(line: string): QueuedJob {
  const [id = "", part, state = "", reason = "", node = ""] = line.split("|");
  return { id, part: Number(part), state, reason, node };
}

/** The root folder of a node, seen from here. */
function placeOf(child: ChildProcess): string {
  return `/proc/${childrenOf(child.pid ?? 0)[0]}/root`;
}

function fill(file: string): number {
  const fd = openSync(file, "w");
  let bytes = 0;
  try {
    for (let size = 1 << 20; size >= 1; size = Math.floor(size / 2))
      for (;;)
        try {
          bytes += writeSync(fd, Buffer.alloc(size));
        } catch {
          break;
        }
  } finally {
    closeSync(fd);
  }
  return bytes;
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await until(() => child.exitCode !== null || child.signalCode !== null);
}

function mungeWords(folder: string): string[] {
  const file = (name: string) => join(folder, name);
  return [
    ...["--force", "--num-threads=2", `--socket=${file("socket")}`, `--key-file=${file("key")}`],
    ...[`--pid-file=${file("pid")}`, `--seed-file=${file("seed")}`, `--log-file=${file("log")}`],
  ];
}

function configuration(root: string): string {
  const nodes = nodeNames.map(
    (name, index) =>
      `NodeName=${name} NodeHostname=${name} NodeAddr=${address} Port=${7001 + index} CPUs=6 RealMemory=64000`,
  );
  return `ClusterName=test
SlurmctldHost=main(${address})
SlurmctldPort=6817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=${root}/munge/socket
StateSaveLocation=${root}/state
SlurmdSpoolDir=${root}/spool/%n
SlurmctldPidFile=${root}/run/controller.pid
SlurmdPidFile=${root}/run/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1,sched_min_interval=0
SwitchType=switch/none
MpiDefault=none
KillWait=20
ReturnToService=2
${nodes.join("\n")}
PartitionName=all Nodes=a,b Default=YES MaxTime=INFINITE State=UP
`;
}
