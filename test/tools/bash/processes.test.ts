/** Processes that commands leave running neither hold a call nor outlive the session unasked (T05, T34). */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { machineName } from "../../../src/disk/process-name.ts";
import { endOrphans, findOrphans } from "../../../src/tools/bash/shell/orphans.ts";
import { isRunning } from "../../../src/tools/bash/shell/process-table.ts";
import { procTable } from "../../../src/tools/bash/shell/process-table-proc.ts";
import { usualTiming } from "../../../src/tools/bash/shell/timing.ts";
import { farMachine } from "../../support/foreign-claim.ts";
import { sized } from "../../support/size.ts";
import { patienceMs } from "../../support/until.ts";
import { backends, type Fixture, isInside, openFixture, processesOf, until } from "./shell-fixture.ts";

/** Waits for a pid in a file. */
async function written(file: string): Promise<number> {
  const read = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  await until(() => read() > 0);
  return read();
}

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeEach(() => {
    shell = openFixture(backend);
  });
  afterEach(() => shell.dispose());

  test.each([
    ["sleep 60 &", /left running: \d+ (sleep 60|\(subshell\))\]/],
    ["python3 -m http.server 0 --bind 127.0.0.1 &", /left running: \d+ (.*http.server 0|\(subshell\))/],
    ["setsid sleep 60 &", /left running: \d+ ((?:setsid )?sleep 60|\(subshell\))/],
    ["nohup yes >/dev/null &", /left running: \d+ ((?:nohup )?yes|\(subshell\))/],
    ["(sleep 60; echo late) & disown", /left running: \d+ \(subshell\)/],
    ["sleep 60 & sleep 61 &", /left running: \d+ (sleep 60|\(subshell\)); \d+ (sleep 61|\(subshell\))/],
    // A fork that a busy machine does not let become a program in time is a subshell.
  ])("returns from %j at once, lists what runs on, and ends it at its close", async (command, expected) => {
    const output = await shell.call(command);
    expect(output.stats?.exitCode).toBe(0);
    expect(output.content).toMatch(expected);
    expect(await shell.text("echo ok")).toBe("ok");
    expect(await until(() => shell.processes().length > 0)).toBe(true);
    await shell.shell.close();
    expect(shell.processes()).toEqual([]);
  });

  test("lets late output of one command appear in no other", async () => {
    const waitsFor = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`;
    await shell.text(`(${waitsFor("go")}; echo late; touch said) & echo first`);
    expect(await shell.text(`touch go; ${waitsFor("said")}; echo second`)).toBe("second");
    await shell.text("sleep 0.1 &");
    expect(await shell.text("sleep 0.3; jobs; echo third")).not.toContain("late");
    expect(readFileSync(join(shell.state, "artifacts/000001.txt"), "utf8")).toBe("first\nlate\n");
  });

  // One starts another and ends, and that one becomes a program, just as they are looked up.
  test("tells each of many programs that leave their parent at once", async () => {
    const rounds = sized(60, 1500);
    const untold: number[] = [];
    for (let round = 0; round < rounds; round++)
      if (!(await shell.text("setsid sleep 60 &")).includes("left running")) untold.push(round);
    expect(untold).toEqual([]);
  });

  test("says nothing of processes that end together with their command", async () => {
    const patient = openFixture(backend, {}, { timing: { ...usualTiming, begin: patienceMs } });
    onTestFinished(() => patient.dispose());
    expect(await patient.text("true & true & sleep 0 | cat")).toBe("(no output)");
  });

  test("keeps background processes as jobs of the shell", async () => {
    await shell.text("sleep 60 &");
    expect(await shell.text("jobs -r | wc -l; kill %1; wait %1; echo $?")).toBe("1\n143");
  });

  test("starts a background job at once, tells its end once, with status and output", async () => {
    const started = await shell.text({
      command: "f=1; echo out; until [ -e go ]; do sleep 0.05; done; exit 4",
      background: true,
    });
    const [, pid = "", log = ""] = /background job (\d+); output: (\S+); stop/.exec(started) ?? [];
    expect(shell.shell.takeNotices()).toEqual([]);
    expect(shell.shell.jobs()).toMatchObject([{ pid: Number(pid), state: "running", log }]);
    await shell.text("touch go");
    expect(await until(() => shell.shell.jobs()[0]?.state === "ended")).toBe(true);
    expect(shell.shell.takeNotices()).toEqual([
      expect.stringMatching(new RegExp(`background job ${pid} \\(f=1; echo out;.* ended with exit 4`)),
    ]);
    expect(shell.shell.takeNotices()).toEqual([]);
    expect(readFileSync(log, "utf8")).toBe("out\n");
  });

  test("gives a background job the functions and the folder of the shell, and its stdin", async () => {
    await shell.text("mkdir -p sub; cd sub; f() { echo f in $PWD; cat; }");
    await shell.call({ command: "f", background: true, stdin: "given" });
    await until(() => shell.shell.jobs()[0]?.state === "ended");
    const log = shell.shell.jobs()[0]?.log ?? "";
    expect(readFileSync(log, "utf8")).toBe(`f in ${shell.work}/sub\ngiven`);
  });

  test("gives each of many background jobs its stdin, however late it begins", async () => {
    const logs = new Map<string, string>();
    for (let index = 0; index < 40; index++) {
      const input = { command: "cat; echo err >&2", background: true, stdin: `given ${index} ` };
      logs.set(`given ${index} err\n`, (await shell.call(input)).artifact ?? "");
    }
    expect(await until(() => shell.shell.jobs().every(({ state }) => state === "ended"), 30_000)).toBe(true);
    for (const [expected, log] of logs) expect(readFileSync(log, "utf8")).toBe(expected);
  });

  test("stops a background job with everything it started", async () => {
    await shell.call({ command: "sleep 60 | cat; setsid sleep 61", background: true });
    const job = shell.shell.jobs()[0];
    expect(await until(() => shell.processes().includes("sleep 60"))).toBe(true);
    expect(await shell.shell.stopJob(job?.pid ?? 0)).toBe(true);
    expect(shell.processes()).toEqual([]);
    expect(await shell.shell.stopJob(job?.pid ?? 0)).toBe(false);
  });

  // Forks of the shell, which have no program of their own to carry the mark.
  const deaf = "echo $BASHPID >pid; trap '' TERM; while :; do :; done";
  test.skipIf(isInside).each([
    ["ignores SIGTERM", deaf],
    ["ignores SIGTERM in a process group of its own", `set -m; (${deaf}) & wait`],
  ])("stops a background job whose shell %s", async (_, command) => {
    await shell.call({ command, background: true });
    const job = shell.shell.jobs()[0]?.pid ?? 0;
    const pid = await written(join(shell.work, "pid"));
    expect(isRunning(procTable(), pid)).toBe(true);
    expect(await shell.shell.stopJob(job)).toBe(true);
    expect(isRunning(procTable(), pid)).toBe(false);
  });

  test.skipIf(isInside)("ends the rest of a background job whose leader was killed", async () => {
    await shell.call({ command: "echo $BASHPID >pid; while :; do :; done", background: true });
    const pid = await written(join(shell.work, "pid"));
    process.kill(shell.shell.jobs()[0]?.pid ?? 0, "SIGKILL");
    expect(await until(() => shell.shell.jobs()[0]?.state === "ended")).toBe(true);
    expect(await until(() => !isRunning(procTable(), pid))).toBe(true);
  });

  test("takes a background job whose leader was killed for ended", async () => {
    await shell.call({ command: "sleep 60; echo never", background: true });
    const pid = shell.shell.jobs()[0]?.pid;
    await shell.text(`kill ${pid}; sleep 0.1`);
    expect(await until(() => shell.shell.jobs()[0]?.state === "ended")).toBe(true);
    expect(await until(() => shell.processes().length === 0)).toBe(true);
    expect(shell.shell.takeNotices()[0]).toContain("was killed");
  });

  test("lets a background job live over a timeout and the death of the shell", async () => {
    await shell.call({ command: "sleep 60", background: true });
    await shell.call({ command: "sleep 61", timeout_s: 0.3 });
    await shell.text("kill -9 $$");
    expect(await until(() => shell.processes().includes("sleep 60"))).toBe(true);
  });

  test.skipIf(isInside)("lets only those jobs outlive the session that were kept", async () => {
    for (const command of ["sleep 63", "sleep 64"]) await shell.call({ command, background: true });
    const kept = shell.shell.jobs()[1]?.pid ?? 0;
    expect(shell.shell.keepJob(kept)).toBe("kept");
    expect(await until(() => shell.processes().includes("sleep 64"))).toBe(true);
    await shell.shell.close();
    expect(shell.processes().filter((command) => command.startsWith("sleep"))).toEqual(["sleep 64"]);
    const resumed = shell.reopen();
    expect(resumed.shell.jobs()).toMatchObject([{ pid: kept, state: "running" }]);
    expect(await resumed.shell.stopJob(kept)).toBe(true);
    expect(shell.processes()).toEqual([]);
  });

  test("ends everything at once when our process exits", async () => {
    await shell.text("sleep 60 & setsid sleep 61 &");
    await shell.call({ command: "bash -c 'trap \"\" TERM HUP; sleep 62'", background: true });
    shell.shell.killAll();
    expect(await until(() => shell.processes().length === 0)).toBe(true);
  });

  test("closes in time when programs ignore every polite request, and twice is once", async () => {
    await shell.text("bash -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' & sleep 0.1");
    await Promise.all([shell.shell.close(), shell.shell.close()]);
    expect(shell.processes()).toEqual([]);
    await expect(shell.call("echo ok")).resolves.toMatchObject({ isError: true });
  });
});

test("what a killed agent left behind is found by the next one, and removed", async () => {
  const workspace = openFixture("pipe");
  const script = `
    const { createShell } = await import(${JSON.stringify(new URL("../../../src/tools/bash/shell/shell.ts", import.meta.url))});
    const { followOutput } = await import(${JSON.stringify(new URL("../../../src/tools/bash/output-file.ts", import.meta.url))});
    const { writeFileSync } = await import("node:fs");
    const folder = ${JSON.stringify(workspace.state)};
    const shell = createShell({ cwd: folder, env: process.env, sessionId: "killed-${workspace.sessionId}", stateFolder: folder, backend: "pipe" });
    writeFileSync(folder + "/out.txt", "");
    await shell.run("sleep 65 & setsid sleep 66 &", { output: followOutput(folder + "/out.txt"), outputPath: folder + "/out.txt", timeoutMs: 5000, signal: new AbortController().signal, onProgress() {} });
    process.kill(process.pid, "SIGKILL");
  `;
  const agent = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
  await new Promise((resolve) => agent.once("exit", resolve));
  const commands = () => findOrphans(workspace.state).map(({ command }) => command);
  await until(() => commands().sort().join() === "sleep 65,sleep 66");
  const orphans = findOrphans(workspace.state);
  expect(orphans.map(({ command }) => command).sort()).toEqual(["sleep 65", "sleep 66"]);
  expect(findOrphans(`${workspace.state}-other`)).toEqual([]);
  await endOrphans(orphans);
  expect(await until(() => processesOf(`killed-${workspace.sessionId}`).length === 0)).toBe(true);
  await workspace.dispose();
});

test("a process of an agent in a container, whose pids are others, is no leftover", async () => {
  const workspace = openFixture("pipe");
  const env = { SAWTOOTH_STATE: workspace.state, SAWTOOTH_AGENT: `${farMachine}.999999999.1` };
  const theirs = spawn("sleep", ["67"], { env, stdio: "ignore" });
  const ours = spawn("sleep", ["68"], {
    env: { ...env, SAWTOOTH_AGENT: `${machineName()}.999999999.1` },
    stdio: "ignore",
  });
  onTestFinished(() => void [theirs, ours].map((child) => child.kill("SIGKILL")));
  await until(() => findOrphans(workspace.state).length > 0);
  expect(findOrphans(workspace.state).map(({ pid }) => pid)).toEqual([ours.pid]);
  await workspace.dispose();
});

test.skipIf(isInside)("a kept job of another machine is no job here, and stays recorded", async () => {
  const shell = openFixture("pipe");
  await shell.call({ command: "sleep 69", background: true });
  const [job] = shell.shell.jobs();
  expect(shell.shell.keepJob(job?.pid ?? 0)).toBe("kept");
  await shell.shell.close();
  const file = join(shell.state, "shell", "jobs.json");
  const [record] = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify([{ ...record, machine: farMachine }]));
  const there = shell.reopen();
  expect(there.shell.jobs()).toEqual([]);
  expect(await there.shell.stopJob(record.pid)).toBe(false);
  await there.call({ command: "sleep 70", background: true });
  expect(await until(() => shell.processes().includes("sleep 69"))).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject([{ machine: farMachine }, {}]);
  await there.dispose();
});

test("what a living agent has running is no leftover", async () => {
  const shell = openFixture("pipe");
  await shell.text("sleep 60 &");
  expect(findOrphans(shell.state)).toEqual([]);
  await shell.dispose();
});
