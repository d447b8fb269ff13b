/** The process table read with `ps`, as on a Mac: the same answers as from /proc, and a shell that works over it. */

import { spawn } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { findOrphans } from "../../../src/tools/bash/shell/orphans.ts";
import { procTable } from "../../../src/tools/bash/shell/process-table-proc.ts";
import { psTable } from "../../../src/tools/bash/shell/process-table-ps.ts";
import { backends, hasTerminal, isInside, openFixture, until } from "./shell-fixture.ts";

const mark = {
  SAWTOOTH_SESSION: `ps-${process.pid}`,
  SAWTOOTH_STATE: "/a folder/with blanks",
  KEY: "canary",
};

async function started(words: string[]): Promise<number> {
  const child = spawn(words[0] ?? "", words.slice(1), {
    env: { PATH: process.env.PATH, ...mark },
    detached: true,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((resolve) => child.once("spawn", resolve));
  return child.pid ?? -1;
}

test("a process has the same parent, group, state, marks and words from ps as from /proc", async () => {
  const pid = await started(["sleep", "60"]);
  const [proc, ps] = [procTable(), psTable("procps")];
  expect(await until(() => proc.commandLine(pid) === "sleep 60" && proc.find(pid)?.state === "S")).toBe(true);
  const { startTime: ticks, ...expected } = proc.find(pid) ?? {};
  const { startTime, ...found } = ps.find(pid) ?? {};
  expect(found).toMatchObject(expected);
  expect(Math.abs((startTime ?? 0) - Date.now())).toBeLessThan(3_600_000);
  expect(ticks).toBeGreaterThan(0);
  for (const table of [proc, ps]) {
    expect(table.all().map((one) => one.pid)).toContain(pid);
    expect(table.variableOf(pid, "SAWTOOTH_SESSION")).toBe(mark.SAWTOOTH_SESSION);
    expect(table.variableOf(pid, "SAWTOOTH_STATE")).toBe(mark.SAWTOOTH_STATE);
    expect(table.variableOf(pid, "NONE")).toBeUndefined();
    expect(table.commandLine(pid)).toBe("sleep 60");
  }
});

test("ps is asked once for many questions, and again after a refresh", async () => {
  const ps = psTable("procps");
  ps.all();
  const pid = await started(["sleep", "60"]);
  const before = ps.find(pid);
  ps.refresh();
  expect(ps.find(pid)?.pid).toBe(pid);
  expect(before === undefined || before.pid === pid).toBe(true);
});

test("where there is no ps of that kind nothing is found and nothing throws", () => {
  const ps = psTable("bsd");
  expect(ps.all()).toEqual([]);
  expect([ps.find(1), ps.variableOf(1, "PATH"), ps.commandLine(1)]).toEqual([undefined, undefined, "?"]);
});

describe.skipIf(isInside).each(backends)("a shell over %s that reads processes with ps", (backend) => {
  test("lists what a command leaves running, keeps its folder, stops commands and jobs, and ends all of it", async () => {
    const processes = psTable("procps");
    const shell = openFixture(backend, {}, { processes });
    // A fork that a busy machine does not let become a program in time is a subshell.
    expect(await shell.text("sleep 60 & setsid sleep 61 &")).toMatch(
      /left running: .*(sleep 60|\(subshell\)); \d+ ((setsid )?sleep 61|\(subshell\))/,
    );
    expect(await until(() => shell.processes().sort().join() === "sleep 60,sleep 61")).toBe(true);
    await shell.text("mkdir -p sub; cd sub");
    expect(shell.shell.cwd()).toBe(`${shell.work}/sub`);
    const stopped = await shell.call({
      command: "bash -c 'trap \"\" INT; sleep 62'; echo AFTER",
      timeout_s: 0.2,
    });
    expect(stopped.content).toMatch(/^\[timed out/);
    expect(shell.processes().sort()).toEqual(["sleep 60", "sleep 61"]);
    await shell.call({ command: "sleep 63 | cat", background: true });
    const job = shell.shell.jobs()[0];
    expect(job?.state).toBe("running");
    expect(await until(() => shell.processes().includes("sleep 63"))).toBe(true);
    expect(await shell.shell.stopJob(job?.pid ?? 0)).toBe(true);
    expect(shell.processes().sort()).toEqual(["sleep 60", "sleep 61"]);
    expect(findOrphans(shell.state, processes)).toEqual([]);
    expect(await shell.text("kill -9 $$")).toContain(`folder ${shell.work}/sub`);
    await shell.shell.close();
    expect(await until(() => shell.processes().length === 0)).toBe(true);
    await shell.dispose();
  });
});

test.skipIf(!hasTerminal || isInside)(
  "a command that reads the terminal is known to wait by its wait channel",
  async () => {
    const shell = openFixture("pty", {}, { processes: psTable("procps") });
    onTestFinished(() => shell.dispose());
    const output = await shell.call({ command: "read -r x </dev/tty; echo got $x", timeout_s: 60 });
    expect(output.content).toContain("[waiting for input. On the terminal:]");
  },
);
