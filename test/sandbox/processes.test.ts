/** Processes and terminals inside of a sandbox: none outside is reached, all inside end with it, and jobs behave. */

import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { procTable } from "../../src/tools/bash/shell/process-table-proc.ts";
import { openTerminal } from "../../src/tools/bash/shell/terminal.ts";
import { makeWorkspace, start } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { type InsideSession, openInside } from "./session.ts";
import { engine } from "./support.ts";

/** Pids on the machine of processes whose command line has these words. */
function running(words: string): number[] {
  const table = procTable();
  return table.all().flatMap(({ pid }) => (table.commandLine(pid).includes(words) ? [pid] : []));
}

describe.skipIf(!engine)("processes inside of a sandbox", () => {
  let session: InsideSession;
  const inside = (input: string | Record<string, unknown>) => session.run(input);
  beforeAll(() => {
    session = openInside({ "work/a": "x" });
  });
  afterAll(() => session.close());

  test("the programs that started the sandbox are not left running by a command, after the pids began again", async () => {
    const table = procTable();
    // What the kernel says when it has given out its last pid and went on with a low one.
    const session = openInside({}, { processes: { ...table, startedSince: () => table.all() } });
    onTestFinished(() => session.close());
    expect(await session.run("echo one")).toBe("one");
    expect(await session.run("sleep 60 & echo two")).toMatch(/^two\n\[left running: \d+ sleep 60\]$/);
    expect(await session.run("echo three")).toBe("three");
  });

  test("S23 outside-processes: none is seen, signalled, read, debugged or typed to", async () => {
    const victim = spawn("sleep", ["98.7"], { env: { SECRET: "VICTIM-CANARY" } });
    onTestFinished(() => void victim.kill());
    const tmux = ["-S", join(session.root, "tmux"), "-f", "/dev/null"];
    spawn("tmux", [...tmux, "new-session", "-d", "sleep 98.7"], { env: { PATH: "/usr/bin:/bin" } });
    onTestFinished(() => void spawn("tmux", [...tmux, "kill-server"]));
    const said = await inside(`
      for pid in ${process.pid} ${victim.pid}; do
        kill -9 $pid; kill -STOP $pid; cat /proc/$pid/environ; ls /proc/$pid; ls -l /proc/$pid/cwd
        command -v gdb >/dev/null && timeout 20 gdb -p $pid -batch -ex 'call (int)getpid()' 2>&1 | tail -3
      done
      ps aux; pgrep -f sleep; pkill sleep; killall sleep; kill -9 -1
      tmux ${tmux.join(" ")} send-keys 'echo typed' Enter; tmux ${tmux.join(" ")} ls`);
    expect(said).not.toContain("CANARY");
    expect(said).not.toContain("98.7");
    expect(said).not.toContain("vitest");
    expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
    expect(procTable().find(victim.pid ?? 0)?.state).toBe("S");
    expect(await inside("echo back")).toBe("back");
  });

  test("S24 key-in-proc: a variable of Sawtooth stands nowhere in /proc", async () => {
    const holder = spawn("sleep", ["97.6"], { env: { API_KEY: "sk-PROC-CANARY" } });
    onTestFinished(() => void holder.kill());
    const said = await inside(
      `grep -sa 'PROC-CAN[A]RY' /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/[0-9]*/task/*/environ; cat /proc/$PPID/environ /proc/1/environ | tr '\\0' '\\n' | grep -c =`,
    );
    expect(said).not.toContain("PROC-CANARY");
    expect(Number(said.split("\n").at(-1))).toBeGreaterThan(5);
  });

  test("S25 shell-death-keeps-jobs: a job and a server live on, and the exports are back", async () => {
    await inside("export KEPT=kept; cd /");
    await inside({ command: "while :; do sleep 0.2; done", background: true });
    const server = `import socket
s = socket.socket(); s.bind(("127.0.0.1", 8765)); s.listen()
while True: s.accept()[0].sendall(b"alive")`;
    expect(await inside(`python3 -c '${server}' & sleep 0.1`)).toContain("left running: ");
    for (const [ending, status] of [
      ["kill -9 $$", 137],
      ["exec true", 0],
      ["exit 3", 3],
    ] as const) {
      const said = await inside(ending);
      expect(said).toContain("new shell, because the shell before it has ended. Restored: folder /, exports");
      if (status !== 0) expect(said).toContain(`exit ${status}`);
      expect(
        await inside(
          "pwd; echo $KEPT; for i in $(seq 100); do exec 3<>/dev/tcp/127.0.0.1/8765 && break; sleep 0.1; done 2>/dev/null; cat <&3; exec 3>&-",
        ),
      ).toBe("/\nkept\nalive");
    }
    const [job] = session.shell.jobs();
    expect(job?.state).toBe("running");
    expect(session.shell.keepJob(job?.pid ?? 0)).toBe("ends_with_sandbox");
    expect(await session.shell.stopJob(job?.pid ?? 0)).toBe(true);
    await inside(`cd ${session.work}; pkill python3`);
  });

  test("S27 pids-told: the pid in a text is the one that kill needs inside", async () => {
    const left = /left running: (\d+) /.exec(await inside("sleep 96.7 & echo started"))?.[1];
    const gone = `while kill -0 ${left} 2>/dev/null; do sleep 0.02; done`;
    expect(await inside(`kill ${left} && echo ended; ${gone}; kill -0 ${left}`)).toMatch(/^ended\n.*No such/);
    const text = await inside({ command: "sleep 96.8", background: true });
    const job = /background job (\d+);/.exec(text)?.[1];
    expect(await inside(`ps -o args= -p ${job} >/dev/null && kill -- -${job} && echo ended`)).toContain(
      "ended",
    );
    await until(() => session.shell.jobs().every(({ state }) => state === "ended"), "the end of the job");
  });

  test("S28 terminal: programs have theirs, and no other", async () => {
    const other = await openTerminal(process.env);
    onTestFinished(() => other?.close());
    let typed = "";
    other?.onData((bytes) => {
      typed += bytes.toString("utf8");
    });
    const said = await inside(`
      stty size </dev/tty; stty -echo </dev/tty && stty echo </dev/tty && echo stty works
      script -qec 'tty' /dev/null | tr -d '\\r'; python3 -c 'import pty; pty.spawn(["echo", "in a pty"])'
      for device in ${other?.path} /dev/pts/[0-9]* /dev/console /dev/tty1; do [ -c $device ] && echo TYPED > $device && echo opened $device; done
      python3 - <<'END'
import fcntl
try: fcntl.ioctl(open("/dev/tty"), 0x5412, b"x"); print("TYPED")
except OSError as error: print("TIOCSTI", error.errno)
END`);
    expect(said).toMatch(/^\d+ \d+\nstty works\n\/dev\/pts\/\d+\nin a pty/);
    expect(said).not.toContain("opened");
    expect(said).toContain("TIOCSTI 1");
    expect(typed).toBe("");
    const asked = await inside({ command: "read -p 'name? ' x </dev/tty && echo hello $x" });
    expect(asked).toMatch(/^name\?\n\[waiting for input/);
    expect(await inside({ stdin: "world" })).toContain("hello world");
  });

  test("S29 fork-bomb-and-memory: five hundred processes and 300 MB are interrupted, and the shell is back", async () => {
    const enough = new AbortController();
    const output = join(session.state, "artifacts", "bomb.txt");
    writeFileSync(output, "");
    const { followOutput } = await import("../../src/tools/bash/output-file.ts");
    const reader = followOutput(output);
    const bomb = `python3 -c 'x = bytearray(300_000_000); x[::4096] = b"x" * len(x[::4096]); import time; time.sleep(99)' &
      bomb() { (( $1 > 0 )) && { bomb $(( $1 - 1 )) & bomb $(( $1 - 1 )) & }; echo bang; sleep 96.5; }; bomb 8; wait`;
    const ended = session.shell.run(bomb, {
      ...{
        output: reader,
        outputPath: output,
        timeoutMs: 600_000,
        signal: enough.signal,
        onProgress: () => {},
      },
    });
    await until(() => readFileSync(output, "utf8").split("bang").length > 500, "the bomb");
    enough.abort();
    expect((await ended).verdict).toBe("interrupted");
    reader.close();
    expect(await inside("echo back")).toContain("back");
    await until(() => running("sleep 96.5").length === 0, "the end of the bomb");
  });
});

describe.skipIf(!engine)("S26 nothing-left", () => {
  /** Starts that outlive a shell: the mark is what is looked for. */
  const strays = (mark: string): string => `
    sleep ${mark} & (sleep ${mark} &) ; setsid sleep ${mark} & nohup sleep ${mark} >/dev/null 2>&1 &
    ( trap '' HUP TERM INT QUIT; sleep ${mark} ) & setsid -f bash -c 'trap "" HUP TERM; sleep ${mark}'
    python3 -c 'import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/"); os.closerange(0, 64); os.environ.clear(); os.execv("/bin/sleep", ["sleep", "${mark}"])
    os._exit(0)'
    env -i setsid -f sleep ${mark}; disown -a
    for i in $(seq 200); do [ $(pgrep -fc 'sleep ${mark.replace(".", "[.]")}') -ge 8 ] && break; sleep 0.05; done
    touch ready; sleep 300`;

  test.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "of eight kinds of processes that outlive a shell, when Sawtooth ends by %s",
    async (signal) => {
      const workspace = makeWorkspace();
      onTestFinished(() => workspace.remove());
      const mark = `${1000 + signal.length * 10 + signal.charCodeAt(3)}.${process.pid}`;
      const script = join(workspace.home, "script.json");
      writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ bash: { command: strays(mark) } }] }] }));
      const words = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"];
      const agent = start(workspace, [...words, "--sandbox", "auto"]);
      await until(() => existsSync(join(workspace.cwd, "ready")), "the processes");
      expect(running(`sleep ${mark}`).length).toBeGreaterThanOrEqual(8);
      agent.child.kill(signal);
      await agent.ended;
      await until(() => running(mark).length === 0, `the end of all processes after ${signal}`);
    },
  );
});
