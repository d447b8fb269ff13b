/** A shell that dies comes back with what it had, in the same agent and in the next (T30, resume). */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { usualTiming } from "../../../src/tools/bash/shell/timing.ts";
import { backends, type Fixture, hasTerminal, isInside, openFixture } from "./shell-fixture.ts";

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeEach(() => {
    shell = openFixture(backend);
  });
  afterEach(() => shell.dispose());

  test.each([
    ["exit 3", 3],
    ["set -e; false; echo not reached", 1],
    ["exec true", 0],
    ["kill -9 $$", 137],
    ["exec bash -c 'exit 5'", 5],
  ])("after %j has folder and exports again, and says so", async (command, status) => {
    mkdirSync(join(shell.work, "sub"));
    await shell.text(
      `cd sub; export X='a b' MULTI=$'one\ntwo "quoted" $x \`y\` \\\\' EMPTY=; unset LANG; y=2`,
    );
    const output = await shell.call(`echo before; ${command}`);
    expect(output.stats?.exitCode).toBe(status);
    expect(output.isError ?? false).toBe(status !== 0);
    expect(output.content).toMatch(/^before\n/);
    expect(output.content).toContain(`Restored: folder ${shell.work}/sub, exports`);
    expect(output.content).toMatch(/Lost: unexported variables/);
    const state = await shell.text(`pwd; echo "$X|$MULTI|\${EMPTY-unset}|\${LANG-unset}|\${y-unset}"`);
    expect(state).toBe(`${shell.work}/sub\na b|one\ntwo "quoted" $x \`y\` \\||unset|unset`);
  });

  test("that ended by itself also has its functions and aliases again", async () => {
    await shell.text("f() { echo f; }; alias ll='echo LL'");
    expect(await shell.text("exit 1")).toContain("functions and aliases");
    expect(await shell.text("f; ll")).toBe("f\nLL");
  });

  test("dies again and again without losing what it had at first", async () => {
    await shell.text("export X=1");
    for (let round = 0; round < 3; round++) await shell.text("kill -9 $$");
    expect(await shell.text("echo $X")).toBe("1");
    await shell.text("unset X");
    await shell.text("exit");
    expect(await shell.text(`echo \${X-unset}`)).toBe("unset");
  });

  test("says which exports it has lost, where they were too many to be saved", async () => {
    await shell.text("export A=1");
    await shell.text("printf -v BIG %5000000s; export BIG");
    const first = await shell.text("kill -9 $$");
    expect(first).toContain(
      "exports A. Lost: unexported variables, shell options, exports of its last commands",
    );
    for (const end of ["exit 3", "kill -9 $$"]) {
      await shell.text("printf -v BIG %5000000s; export BIG");
      await shell.text(":");
      const second = await shell.text(end);
      expect(second).toContain(`Restored: folder ${shell.work}`);
      expect(second).toContain("Lost: unexported variables, shell options, exports");
      expect(second).not.toContain("exports of its last commands");
      expect(await shell.text(`echo "\${A-unset}"`)).toBe("unset");
    }
    await shell.text("export B=2");
    const third = await shell.text("kill -9 $$");
    expect(third).toMatch(/exports B\. Lost: unexported variables, shell options(, functions, aliases)?\]$/);
    expect(await shell.text("echo $B")).toBe("2");
  });

  test("survives the loss of its folder, and starts in the last one that is there", async () => {
    await shell.text('mkdir -p a/b; cd a/b; rm -rf "$PWD"');
    expect(await shell.text("echo ok")).toBe("ok");
    expect(await shell.text("kill -9 $$")).toContain(`folder ${shell.work}`);
    expect(await shell.text("cd .; pwd")).toBe(shell.work);
  });

  // Inside of a sandbox its process id is another one.
  test.skipIf(backend === "pipe" || !hasTerminal || isInside)("ends a call that it dies before", async () => {
    const pid = Number(await shell.text("echo $$"));
    process.kill(pid, "SIGKILL");
    // Its screen is loaded first, and meanwhile the death is known.
    const { content } = await shell.call({ command: "cat", tty: true, timeout_s: 60 });
    expect(content).toContain("new shell");
  });

  test("that answered just as it was ended for its silence is not used again", async () => {
    const own = openFixture(backend, {}, { timing: { ...usualTiming, settle: 10 } });
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    // Its answer takes a while, for which our own process stands still: its time is over before the answer is read.
    await own.text("printf -v BIG %1000000s; export BIG");
    let standsStill = true;
    const stand = () => {
      Atomics.wait(nobody, 0, 0, 400);
      if (standsStill) setImmediate(stand);
    };
    stand();
    const stopped = await own.text({ command: "while :; do :; done", timeout_s: 0.1 });
    standsStill = false;
    expect(stopped).toContain("timed out");
    expect(await own.text("echo ok")).toBe("ok");
    await own.dispose();
  });

  test("keeps the exports of the command that ended it", async () => {
    await shell.text("export LATE=1; cd /; exit");
    expect(await shell.text('echo "$LATE $PWD"')).toBe("1 /");
  });

  test("on request starts fresh in the same folder", async () => {
    mkdirSync(join(shell.work, "sub"));
    await shell.text("cd sub; export X=1; f() { :; }");
    expect(await shell.text({ restart: true })).toContain(`new shell in ${shell.work}/sub`);
    expect(await shell.text(`pwd; echo \${X-unset}; type -t f`)).toBe(`${shell.work}/sub\nunset\n[exit 1]`);
    expect(await shell.text({ restart: true, command: "echo after" })).toMatch(/^after\n\[new shell/);
  });

  test("of a resumed session has folder and exports of the former agent, and its first result says so", async () => {
    mkdirSync(join(shell.work, "sub"));
    await shell.text("cd sub; export X=1; y=2");
    await shell.shell.close();
    const resumed = shell.reopen();
    const first = await resumed.text("pwd; echo $X");
    expect(first).toMatch(
      new RegExp(
        `^${shell.work}/sub\n1\n\\[new shell, because the session was resumed\\. Restored: .*exports X`,
      ),
    );
    expect(await resumed.text(`echo \${y-unset}`)).toBe("unset");
    await resumed.shell.close();
  });

  test("of a resumed session starts above a folder that is gone", async () => {
    await shell.text("mkdir -p a/b; cd a/b");
    await shell.shell.close();
    rmSync(join(shell.work, "a"), { recursive: true });
    const resumed = shell.reopen();
    expect(await resumed.text("pwd")).toContain(`${shell.work}\n`);
    await resumed.shell.close();
  });

  test("takes no value of the former agent's environment where the new one differs by itself", async () => {
    await shell.text("export X=1");
    await shell.shell.close();
    const resumed = shell.reopen({
      env: { PATH: process.env.PATH, HOME: shell.work, SOME_SOCKET: "/new/socket" },
    });
    await resumed.text(":");
    expect(await resumed.text("echo $X $SOME_SOCKET")).toBe("1 /new/socket");
    await resumed.shell.close();
  });
});
