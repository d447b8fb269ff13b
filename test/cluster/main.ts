/** The scene of `npm run test:cluster`: a batch on a real Slurm, five faults, and what became of every task. */

import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { spentIn } from "../../src/app/stored-sessions.ts";
import { commandWords, processIds } from "../../src/disk/process-stat.ts";
import { until } from "../support/until.ts";
import { type NodeName, nodeNames, type QueuedJob, type Slurm, startSlurm } from "./slurm.ts";
import { linesOf, makeWork, parts, partsIn, patchesIn, type Work } from "./tasks.ts";

const source = join(import.meta.dirname, "../..");
const began = performance.now();
/** Milliseconds for what takes a batch its time: two nodes and a run beside them share one machine. */
const batchMs = 10 * 60_000;

function say(text: string): void {
  process.stdout.write(
    `cluster: ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}\n`,
  );
}

const root = mkdtempSync(join(tmpdir(), "sawtooth-cluster-"));
try {
  await scene(root);
} catch (error) {
  process.exitCode = 1;
  say(`${error}; processes, and the last lines of each log:`);
  for (const pid of processIds()) process.stdout.write(`${pid} ${commandWords(pid)}\n`);
  const logs = ["shared/sawtooth-*.log", "slurm/log/*.log"].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  );
  for (const name of logs)
    process.stdout.write(
      `--- ${name}\n${readFileSync(join(root, name), "utf8").split("\n").slice(-25).join("\n")}`,
    );
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
// What still runs after an error ends with these namespaces.
process.exit();

async function scene(root: string): Promise<void> {
  execFileSync("hostname", ["main"]);
  const env = environment(root);
  const work = makeWork(root, env);
  const { shared } = work;
  const results = join(shared, "results");
  copyFileSync(join(source, "examples/batch/slurm.sh"), join(shared, "slurm.sh"));
  process.chdir(shared);

  const jobEnv = { ...env, TMPDIR: join(root, "local") };
  const slurm = startSlurm(join(root, "slurm"), join(root, "local"), jobEnv);
  await until(slurm.isReady, "two nodes");
  say(`${slurm.ask("sinfo", "--version").trim()}: nodes a and b are up`);
  slurm.ask("sbatch", `--array=1-${parts}`, "slurm.sh");
  await until(() => work.done().length === parts && isHeld(results), "a first task of each part", batchMs);
  const at = new Map((slurm.jobs() ?? []).map(({ part, node }) => [part, node]));
  const of = (name: NodeName) => [...at].flatMap(([part, node]) => (node === name ? [part] : [])).sort();
  say(`24 tasks in 6 parts: ${of("a")} on a, ${of("b")} on b; 6 tasks are done, 12 at work, 6 wait`);
  const words = ["batch", "tasks.jsonl", "--out", "results", "--jobs", "2"];
  const one = spawn("sawtooth", words, { cwd: work.alone, env, stdio: "ignore" });
  await faults(slurm, work, of);
  const [copy, submit, sum] = shownCommands();
  const shell = (command: string) =>
    execFileSync("bash", ["-c", command], { cwd: root, env: slurm.env, encoding: "utf8" });
  say(`the commands of docs/batch.md: ${shell(`${copy} && ${submit}`).trim()}`);
  // Parts of node b that begin on node a would be sent away from there too, and Slurm takes a minute for each.
  await until(() => partsIn(results).filter(hasFault).length >= 2, "parts that meet the full disk", batchMs);
  slurm.emptyDisk("a");
  say("the disk of node a has room again");
  await finish(slurm);
  check(`${sum}: 4 done`, shell(`cd examples/batch && { ${sum} || true; }`).includes("4 tasks: 4 done"));
  await until(() => one.exitCode !== null, "the run on one machine", batchMs);
  check("on one machine, without faults, all 24 tasks are done", one.exitCode === 0);
  report(results);
  await verdict({ slurm, work, results });
}

/** A task of this part ended without room. */
function hasFault(out: string): boolean {
  return linesOf(out).some(({ state }) => state === "error");
}

/** A task is at its gate in both places of each part. */
function isHeld(results: string): boolean {
  const waiting = (out: string) =>
    execFileSync("sh", ["-c", `cat ${out}/tasks/*/run-*/stream.jsonl | grep -c '"I wait."' || true`], {
      encoding: "utf8",
    });
  return partsIn(results).length === parts && partsIn(results).every((out) => Number(waiting(out)) >= 2);
}

async function faults(slurm: Slurm, work: Work, of: (name: NodeName) => number[]): Promise<void> {
  const [again = 0, cancelled = 0] = of("a");
  say(`fault 1: part ${again} is queued again while it works (scontrol requeue)`);
  slurm.ask("scontrol", "requeue", jobOf(slurm, again));
  say(
    `fault 2: part ${cancelled} is cancelled and submitted once more (scancel, sbatch --array=${cancelled})`,
  );
  slurm.ask("scancel", jobOf(slurm, cancelled));
  slurm.ask("sbatch", `--array=${cancelled}`, "slurm.sh");
  say("fault 3: the controller is killed and started again");
  await slurm.restartController();
  await until(slurm.isReady, "two nodes");
  say(`fault 4: power cut of node b, with parts ${of("b")} at work; it is marked as down and starts again`);
  await slurm.powerCut("b");
  await until(slurm.isReady, "two nodes");
  say(`fault 5: the local disk of node a is full (${slurm.fillDisk("a")} bytes)`);
  await sleep(1500);
  work.openGates();
}

/** Returns the id of the job of a part. */
function jobOf(slurm: Slurm, part: number): string {
  return slurm.jobs()?.find((job) => job.part === part)?.id ?? "";
}

/** Waits for the last job. Slurm lets two minutes pass before a job begins again; nobody needs to wait for that here. */
async function finish(slurm: Slurm): Promise<void> {
  const seen = new Map<string, string>();
  await until(
    () => {
      const jobs = slurm.jobs();
      for (const { id, state, reason } of jobs ?? [])
        if (reason === "BeginTime" && state === "PENDING")
          slurm.tell("scontrol", "update", `JobId=${id}`, "StartTime=now");
      if (jobs) tell(jobs, seen);
      return jobs?.length === 0;
    },
    "the end of all jobs",
    batchMs,
  );
}

/** Says what has changed. */
function tell(jobs: readonly QueuedJob[], seen: Map<string, string>): void {
  for (const id of [...seen.keys()])
    if (!jobs.some((job) => job.id === id) && seen.delete(id)) say(`  job ${id}: over`);
  for (const { id, part, state, node } of jobs) {
    const now = `part ${part}, ${state.toLowerCase()}${node ? ` on ${node}` : ""}`;
    if (seen.get(id) !== now) say(`  job ${id}: ${now}`);
    seen.set(id, now);
  }
}

/** The commands of docs/batch.md for Slurm but the first, which installs, and the fourth, which looks. */
function shownCommands(): [copy: string, submit: string, sum: string] {
  const text = readFileSync(join(source, "docs/batch.md"), "utf8");
  const [, block = ""] = /### Slurm\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(text) ?? [];
  const [, copy = "", submit = "", , sum = ""] = block.split("\n");
  return [copy, submit, sum];
}

function report(results: string): void {
  for (const out of partsIn(results).sort()) {
    const lines = linesOf(out).map(
      ({ id, state, errors }) => `${id} ${state}${errors[0] ? ` (${errors[0]})` : ""}`,
    );
    say(`${out.slice(results.length + 1)}: ${lines.join(", ")}`);
  }
}

type Outcome = { slurm: Slurm; work: Work; results: string };

async function verdict({ slurm, work, results }: Outcome): Promise<void> {
  const outs = partsIn(results);
  const lines = outs.flatMap(linesOf);
  const [same, whole] = [patchesIn([join(work.alone, "results")]), patchesIn(outs)];
  const summary = JSON.parse(
    execFileSync("sawtooth", ["batch", "--summary", ...outs, "--output-format", "json"], {
      env: slurm.env,
      encoding: "utf8",
    }),
  ) as { tasks: number; done: number; total_cost_usd: number };
  check("all 24 tasks are done in the sum", summary.tasks === 24 && summary.done === 24);
  const once = work.ids.every((id) => {
    const runs = lines.filter((line) => line.id === id);
    return runs.filter(({ state }) => state === "done").length === 1 && runs.at(-1)?.state === "done";
  });
  check("each task is done exactly once, and not run again after that", once);
  // Where a run ended without room on the disk its work does not count, though some of it was done.
  const twice = work.ids.filter((id) => {
    const noRoom = lines.filter((line) => line.id === id && line.state === "error").length;
    return work.done().filter((done) => done === id).length - noRoom > 1;
  });
  check(
    `the work of no finished task was done, and billed, twice${twice.length > 0 ? `: ${twice}` : ""}`,
    twice.length === 0,
  );
  const spent = outs.reduce((sum, out) => sum + costOf(join(out, "tasks")), 0);
  check(
    `every dollar of every session is in the sum: $${spent.toFixed(4)}`,
    Math.abs(spent - summary.total_cost_usd) < 1e-9,
  );
  check(
    "patches are byte for byte those of one machine",
    work.ids.every((id) => whole.get(id)?.equals(same.get(id) ?? Buffer.alloc(0))),
  );
  const left = nodeNames.flatMap((name) =>
    readdirSync(slurm.localOf(name)).filter((file) => file !== "node-compile-cache"),
  );
  check(
    `no files are left on the disks of the nodes${left.length > 0 ? `: ${left}` : ""}`,
    left.length === 0,
  );
  // A session that was killed keeps its claim beside its log until somebody opens it.
  const claims = readdirSync(results, { recursive: true, encoding: "utf8" }).filter(
    (path) => /(^|\/)claim\./.test(path) && !existsSync(join(results, dirname(path), "events.jsonl")),
  );
  check(
    `no claim is left but of killed sessions${claims.length > 0 ? `: ${claims}` : ""}`,
    claims.length === 0,
  );
  await slurm.stop();
  const others = () => processIds().filter((pid) => pid !== process.pid && commandWords(pid) !== "");
  await until(() => others().length === 0, "the end of all processes").catch(() => {});
  check(`no process is left${others().map((pid) => `: ${commandWords(pid)}`)}`, others().length === 0);
  say(`${process.exitCode ? "not all is well" : "all is well"}: ${lines.length} runs of 24 tasks`);
}

function costOf(tasks: string): number {
  const runs = readdirSync(tasks).flatMap((id) =>
    readdirSync(join(tasks, id)).map((run) => join(tasks, id, run, "session")),
  );
  return runs.filter((folder) => existsSync(folder)).reduce((sum, folder) => sum + spentIn(folder).cost, 0);
}

function check(what: string, isTrue: boolean): void {
  say(`${isTrue ? "yes" : "NO "}  ${what}`);
  if (!isTrue) process.exitCode = 1;
}

/** A home of its own, and the built program on the path. */
function environment(root: string): Record<string, string> {
  const [home, bin] = [join(root, "home"), join(root, "bin")];
  const settings = join(home, "sawtooth/config");
  for (const folder of [bin, settings]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(settings, "settings.json"), '{"sandbox":"off"}', { mode: 0o600 });
  const program = `#!/bin/sh\nexec "${process.execPath}" "${source}/bin/sawtooth.js" "$@"\n`;
  writeFileSync(join(bin, "sawtooth"), program, { mode: 0o755 });
  const path = `${bin}:${process.env.PATH}`;
  process.env.PATH = path;
  // As after `npm install --global`.
  mkdirSync(join(root, "global/lib/node_modules"), { recursive: true });
  symlinkSync(source, join(root, "global/lib/node_modules/sawtooth"));
  return {
    PATH: path,
    HOME: home,
    npm_config_prefix: join(root, "global"),
    LANG: "C.UTF-8",
    SAWTOOTH_HOME: join(home, "sawtooth"),
  };
}
