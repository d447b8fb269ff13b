/** Limits hold whatever a command does; its output is kept and the shell survives (T06, T16). */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { giveUpSignal } from "../../../src/tools/bash/shell/protocol.ts";
import { usualTiming } from "../../../src/tools/bash/shell/timing.ts";
import { withLimit } from "../../support/until.ts";
import { backends, type Fixture, isInside, openFixture, until } from "./shell-fixture.ts";

const stubborn = [
  "sleep 60",
  "sleep 60 | cat",
  `bash -c 'trap "" TERM INT; sleep 60'`,
  `bash -c 'trap "" TERM INT; sleep 60' | cat`,
  `bash -c 'trap "exit 0" INT; sleep 60 & wait'`,
  "rm -f f; mkfifo f; cat f",
  "rm -f f; mkfifo f; echo x > f",
  "while :; do :; done",
  "while :; do sleep 0.01; done",
  "for i in {1..1000}; do bash -c 'trap \"\" INT; sleep 1'; done",
  "trap '' INT; while :; do :; done",
  "setsid --wait bash -c 'sleep 60'",
  "setsid bash -c 'trap \"\" INT; sleep 60' & wait",
  "(sleep 60; echo AFTER)",
  "(bash -c 'trap \"\" INT; sleep 60'; echo AFTER)",
  "z=$(sleep 60; echo AFTER); echo AFTER",
  "f2() { sleep 60; echo AFTER; }; f2; echo AFTER",
  // Inside of a sandbox the keeper continues a shell that stops itself.
  ...(isInside ? [] : ["kill -STOP $$"]),
  "sleep 60 || echo AFTER",
  "cat <(sleep 60)",
  "env -i sleep 60",
  "python3 -c 'import signal,time; signal.signal(2, signal.SIG_IGN); time.sleep(60)'",
];

/** Runs a command that writes BEFORE and never ends into its time limit. */
async function timedOut(shell: Fixture, command: string) {
  const { result, seconds } = await withLimit(
    (seconds) => shell.call({ command, timeout_s: seconds }),
    ({ content }) => String(content).startsWith("BEFORE\n"),
  );
  return { ...result, seconds };
}

describe("at its timeout", () => {
  const shells: Fixture[] = [];
  beforeAll(async () => {
    for (const backend of backends) {
      const shell = openFixture(backend);
      shells.push(shell);
      await shell.text("mkdir -p sub && cd sub && export X=1");
    }
  });
  afterAll(async () => void (await Promise.all(shells.map((shell) => shell.dispose()))));

  async function stops(shell: Fixture, command: string): Promise<void> {
    const output = await timedOut(shell, `echo BEFORE; ${command}; echo AFTER`);
    expect(output.isError).toBe(true);
    expect(output.stats?.timedOut).toBe(true);
    expect(output.content).toMatch(/^BEFORE\n/);
    expect(output.content).toContain(`timed out after ${output.seconds} s`);
    expect(output.content).not.toContain("AFTER");
    expect(shell.processes()).toEqual([]);
    expect(await shell.text("echo ok; pwd; echo $X")).toBe(`ok\n${shell.work}/sub\n1`);
    await shell.text("trap - INT");
  }

  test.each(stubborn)("a shell with and without a terminal stops %j", async (command) => {
    await Promise.all(shells.map((shell) => stops(shell, command)));
  });
});

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeAll(async () => {
    shell = openFixture(backend);
  });
  afterAll(() => shell.dispose());

  test("runs nothing behind a killed program when the command ignores the signal that says so", async () => {
    await shell.text("cd /var; export K=kept");
    const output = await shell.call({
      command: `trap '' ${giveUpSignal}; sleep 60; echo AFTER`,
      timeout_s: 0.3,
    });
    expect(output.content).not.toContain("AFTER");
    expect(await shell.text(`pwd; echo $K; trap -p ${giveUpSignal} | grep -c INT; cd`)).toBe("/var\nkept\n1");
    await shell.text(`trap '' ${giveUpSignal}`);
    const next = await shell.call({ command: "sleep 60; echo AFTER", timeout_s: 0.3 });
    expect(next.content).toBe("[timed out after 0.3 s and was stopped; the output so far is kept]");
  });

  test.skipIf(isInside)("goes on after a command that stopped the very shell, within its grace", async () => {
    const { content, seconds } = await timedOut(shell, "y=9; echo BEFORE; kill -STOP $$; echo AFTER");
    expect(content).toBe(`BEFORE\n[timed out after ${seconds} s and was stopped; the output so far is kept]`);
    expect(await shell.text("echo $y")).toBe("9");
  });

  test("keeps the whole state over a timeout", async () => {
    await shell.text("y=2; f() { echo f; }");
    await shell.call({ command: "sleep 60", timeout_s: 0.3 });
    expect(await shell.text("echo $y; f")).toBe("2\nf");
  });

  test("runs the first command after a timeout, however long it is", async () => {
    await shell.call({ command: "sleep 60", timeout_s: 0.3 });
    expect(await shell.text(`Z='${"z".repeat(120_000)}'; echo \${#Z}`)).toBe("120000");
  });

  test("ends a stubborn program when the user interrupts", async () => {
    const controller = new AbortController();
    const call = shell.call(`echo 🟢; bash -c 'trap "" INT TERM; sleep 60'`, { signal: controller.signal });
    expect(await until(() => shell.processes().includes("sleep 60"))).toBe(true);
    controller.abort();
    const output = await call;
    expect(output.content).toBe("🟢\n[cancelled by user]");
    expect(shell.processes()).toEqual([]);
    expect(await shell.text("echo $y")).toBe("2");
  });

  test("runs nothing once it is interrupted before its start", async () => {
    const output = await shell.call("sleep 1; echo done", { signal: AbortSignal.abort() });
    expect(output.content).toBe("[cancelled by user]");
    expect(await shell.text("echo ok")).toBe("ok");
  });

  // One of them at the real limit.
  const limit = backend === "pty" ? {} : { maxOutputBytes: 5_000_000 };
  test("stops a command that writes without end, and says so", async () => {
    const shell = openFixture(backend, {}, limit);
    const output = await shell.call("yes");
    expect(output.isError).toBe(true);
    expect(output.content).toContain("it wrote more than 200 MB");
    expect(String(output.content).length).toBeLessThan(30_000);
    expect(shell.processes()).toEqual([]);
    expect(await shell.text("echo ok")).toBe("ok");
    await shell.dispose();
  });

  test("leaves what earlier commands left running alone when it stops one", async () => {
    await shell.text("sleep 71 &");
    expect(await until(() => shell.processes().includes("sleep 71"))).toBe(true);
    await shell.call({ command: "sleep 72", timeout_s: 0.3 });
    expect(shell.processes()).toEqual(["sleep 71"]);
    await shell.text("kill %%");
  });
});

test("a shell with its real graces ends a stubborn program at its timeout and a stubborn process at its close", async () => {
  const shell = openFixture("pipe", {}, { timing: usualTiming });
  await shell.text("bash -c 'trap \"\" INT TERM HUP; sleep 61' &");
  const output = await shell.call({ command: "bash -c 'trap \"\" INT; sleep 60'; echo AFTER", timeout_s: 1 });
  expect(output.content).toBe("[timed out after 1 s and was stopped; the output so far is kept]");
  await shell.shell.close();
  expect(shell.processes()).toEqual([]);
  await shell.dispose();
});
