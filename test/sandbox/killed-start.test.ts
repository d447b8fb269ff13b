/** Starts of a sandbox that are cut off at their worst moment: no process of them is left. */

import { spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startBox } from "../../src/sandbox/box.ts";
import { procTable } from "../../src/tools/bash/shell/process-table-proc.ts";
import { until } from "../support/until.ts";
import { openInside } from "./session.ts";
import { engine } from "./support.ts";

/**
 * Bubblewrap that stands still after it made the first process, and before it lets that go on: what it reports goes into a
 * pipe that is full.
 */
const held = (program: string) => `#!/bin/bash
mkfifo "$0.info"; exec 3<>"$0.info"; head -c 65536 /dev/zero >&3
exec ${program} "$@"
`;

/** A start with that program, and the pids of all processes that belong to it. */
function heldStart() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-held-")));
  const pids = () =>
    procTable()
      .all()
      .flatMap(({ pid }) => (ofProcess(pid, "cmdline").includes(folder) ? [pid] : []));
  onTestFinished(() => {
    for (const pid of pids()) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, "temp"));
  const program = join(folder, "held-bwrap");
  writeFileSync(program, held(engine?.name === "namespaces" ? engine.program : ""));
  chmodSync(program, 0o755);
  const walls = ["--unshare-user", "--unshare-pid", "--die-with-parent", "--new-session", "--as-pid-1"];
  const mounts = ["--ro-bind", "/", "/", "--proc", "/proc", "--bind", join(folder, "temp"), "/var/tmp"];
  return {
    start: {
      ...{
        program,
        arguments: [...walls, ...mounts, "--info-fd", "3"],
        env: { PATH: process.env.PATH ?? "" },
      },
      ...{ filter: undefined, terminal: undefined, hasOwnPids: true },
    },
    pids,
    /** The first process inside, which waits for bubblewrap. */
    waiting: () => pids().find((pid) => /^NSpid:\s+\d+\s+1$/m.test(ofProcess(pid, "status"))),
  };
}

/** A file about a process; empty when it is gone. */
function ofProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

describe.skipIf(!engine)("a start of a sandbox that is cut off", () => {
  test("by the death of Sawtooth leaves no process, although the first one inside is deaf to all but SIGKILL", async () => {
    const { start, pids, waiting } = heldStart();
    const box = new URL("../../src/sandbox/box.ts", import.meta.url);
    const code = `import { startBox } from ${JSON.stringify(box)}; await startBox(${JSON.stringify(start)});`;
    const agent = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "ignore" });
    const ended = new Promise((resolve) => agent.once("exit", resolve));
    await until(() => waiting() !== undefined, "the first process");
    agent.kill("SIGKILL");
    await ended;
    await until(() => pids().length === 0, "the end of all processes");
  });

  test("by the death of bubblewrap fails, and leaves no process", async () => {
    const { start, pids, waiting } = heldStart();
    const starting = startBox(start);
    const failed = starting.catch((error: Error) => error.message);
    await until(() => waiting() !== undefined, "the first process");
    const first = Number(/^PPid:\s+(\d+)$/m.exec(ofProcess(waiting() ?? 0, "status"))?.[1]);
    process.kill(first, "SIGKILL");
    expect(await failed).toBe("the first process inside ended at once (SIGKILL)");
    await until(() => pids().length === 0, "the end of all processes");
  });
});

test.skipIf(!engine)(
  "the first process of a sandbox inherits no open file of ours, nor the terminal of another session",
  async () => {
    const sessions = [openInside(), openInside()];
    onTestFinished(async () => void (await Promise.all(sessions.map((session) => session.close()))));
    const [one, other] = sessions;
    expect(await one?.run("echo started")).toBe("started");
    const open = (await other?.run("readlink /proc/1/fd/*")) ?? "";
    expect(open).toContain("socket:");
    expect(open).not.toMatch(/ptmx|pipe:/);
  },
);
