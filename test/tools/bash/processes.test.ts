/** Processes that commands leave running neither hold a call nor outlive the session unasked (T05, T34). */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endOrphans, findOrphans } from "../../../src/tools/bash/shell/orphans.ts";
import { backends, type Fixture, isInside, openFixture, processesOf, until } from "./shell-fixture.ts";

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeEach(() => {
    shell = openFixture(backend);
  });
  afterEach(() => shell.dispose());

  test.each([
    ["sleep 60 &", /left running: \d+ sleep 60\]/],
    ["python3 -m http.server 0 --bind 127.0.0.1 &", /left running: \d+ (.*http.server 0|\(subshell\))/],
    ["setsid sleep 60 &", /left running: \d+ sleep 60/],
    ["nohup yes >/dev/null &", /left running: \d+ yes/],
    ["(sleep 60; echo late) & disown", /left running: \d+ \(subshell\)/],
    ["sleep 60 & sleep 61 &", /left running: \d+ sleep 60; \d+ sleep 61/],
  ])("returns from %j at once, lists what runs on, and ends it at its close", async (command, expected) => {
    const output = await shell.call(command);
    expect(output.stats?.exitCode).toBe(0);
    expect(output.content).toMatch(expected);
    expect(await shell.text("echo ok")).toBe("ok");
    expect(shell.processes().length).toBeGreaterThan(0);
    await shell.shell.close();
    expect(shell.processes()).toEqual([]);
  });

  test("lets late output of one command appear in no other", async () => {
    await shell.text("(sleep 0.2; echo late) & echo first");
    expect(await shell.text("sleep 0.4; echo second")).toBe("second");
    await shell.text("sleep 0.1 &");
    expect(await shell.text("sleep 0.3; jobs; echo third")).not.toContain("late");
    expect(readFileSync(join(shell.state, "artifacts/000001.txt"), "utf8")).toBe("first\nlate\n");
  });

  test("says nothing of processes that end together with their command", async () => {
    expect(await shell.text("true & true & sleep 0 | cat")).toBe("(no output)");
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
    expect(shell.processes()).toContain("sleep 60");
  });

  test.skipIf(isInside)("lets only those jobs outlive the session that were kept", async () => {
    for (const command of ["sleep 63", "sleep 64"]) await shell.call({ command, background: true });
    const kept = shell.shell.jobs()[1]?.pid ?? 0;
    expect(shell.shell.keepJob(kept)).toBe("kept");
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
  await until(() => findOrphans(workspace.state).length === 2);
  const orphans = findOrphans(workspace.state);
  expect(orphans.map(({ command }) => command).sort()).toEqual(["sleep 65", "sleep 66"]);
  expect(findOrphans(`${workspace.state}-other`)).toEqual([]);
  await endOrphans(orphans);
  expect(await until(() => processesOf(`killed-${workspace.sessionId}`).length === 0)).toBe(true);
  await workspace.dispose();
});

test("what a living agent has running is no leftover", async () => {
  const shell = openFixture("pipe");
  await shell.text("sleep 60 &");
  expect(findOrphans(shell.state)).toEqual([]);
  await shell.dispose();
});
