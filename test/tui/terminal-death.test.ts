/** The terminal is given back also when the agent gets no chance to do it itself (T36). */

import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { entry } from "../support/entry.ts";
import { startMockServer } from "../support/mock-server.ts";
import { type Drive, driveProgram } from "../support/pty-drive.ts";
import { makeWorkspace } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";

const manyWords: ScriptedReply = { text: "many words ".repeat(200), fault: { pauseMs: 100 } };

/**
 * A shell that tells the terminal's modes, runs the agent with a bug built in, and tells them again once there is a file
 * `restored`.
 */
async function openInShell(bug = "", options = "", turns: ScriptedReply[] = [manyWords]) {
  const server = await startMockServer({ turns });
  const workspace = makeWorkspace(server.url);
  const script = [
    `echo '${bug}' > bug.mjs; export NODE_OPTIONS="--import=./bug.mjs ${options}"`,
    'stty intr ^E; echo "before=$(stty -g)"',
    `${process.execPath} ${entry} 2>/dev/null`,
    'echo "ended=$?"; until [ -e restored ]; do sleep 0.05; done; echo "after=$(stty -g)"; sleep 60',
  ].join("\n");
  const terminal = driveProgram("bash", ["-c", script], workspace);
  onTestFinished(async () => {
    terminal.kill();
    await server.close();
    workspace.remove();
  });
  await terminal.until("›");
  const agent = childOf(terminal.pid, "main.js");
  return { terminal, agent, guard: await guardOf(agent), workspace };
}

function childOf(pid: number, words: string): number {
  return Number(
    spawnSync("pgrep", ["-P", String(pid), "-f", words], { encoding: "utf8" }).stdout.split("\n")[0],
  );
}

/** Waits for the process that restores the terminal of an agent. Returns its pid. */
async function guardOf(agent: number): Promise<number> {
  await until(() => childOf(agent, "sawtooth-guard") > 0, "the guard");
  return childOf(agent, "sawtooth-guard");
}

async function expectRestored({
  terminal,
  guard,
  workspace,
}: Awaited<ReturnType<typeof openInShell>>): Promise<void> {
  await until(() => !existsSync(`/proc/${guard}`), "the end of the guard");
  writeFileSync(join(workspace.cwd, "restored"), "");
  await terminal.until("after=");
  const text = terminal.whole().join("\n");
  expect(/before=(\S+)/.exec(text)?.[1]).toMatch(/:5:/);
  expect(/after=(\S+)/.exec(text)?.[1]).toBe(/before=(\S+)/.exec(text)?.[1]);
  expect(terminal.cursor().shown).toBe(true);
  for (const [set, reset] of [
    ["\x1b[?2004h", "\x1b[?2004l"],
    ["\x1b[?1004h", "\x1b[?1004l"],
    ["\x1b[?2026h", "\x1b[?2026l"],
  ] as const)
    expect(terminal.raw().lastIndexOf(reset)).toBeGreaterThan(terminal.raw().lastIndexOf(set));
}

/** Does it on a signal, and says first that the signal came. */
const onSignal = (what: string) =>
  `import { writeFileSync } from "node:fs"; process.on("SIGUSR2", () => { writeFileSync("armed", ""); ${what} })`;

describe("the terminal is as it was", () => {
  test("after SIGKILL in the middle of an answer", async () => {
    const opened = await openInShell();
    const { terminal, agent } = opened;
    terminal.send("go\r");
    await terminal.until("many words");
    process.kill(agent, "SIGKILL");
    await expectRestored(opened);
    expect(terminal.whole().join("\n")).toContain("ended=137");
  });

  test.each([
    ["running out of memory", onSignal("const all = []; for (;;) all.push(new Array(1e5).fill({}))"), 134],
    ["an error while drawing", onSignal('process.stdout.write = () => { throw new Error("bug") }'), 1],
    ["a rejection that nobody handles", onSignal('Promise.reject(new Error("bug"))'), 1],
  ])("after %s", async (_, bug, code) => {
    const opened = await openInShell(bug, "--max-old-space-size=80");
    const { terminal, agent, workspace } = opened;
    process.kill(agent, "SIGUSR2");
    await until(() => existsSync(join(workspace.cwd, "armed")));
    terminal.send("x");
    await expectRestored(opened);
    expect(terminal.whole().join("\n")).toContain(`ended=${code}`);
  });

  test.each(["SIGTERM", "SIGHUP"])("after %s, and its guard is gone", async (signal) => {
    const opened = await openInShell();
    process.kill(opened.agent, signal);
    await expectRestored(opened);
  });

  test("after SIGKILL of an agent that was stopped and went on", async () => {
    const opened = await openInShell();
    const { terminal, agent } = opened;
    process.kill(agent, "SIGSTOP");
    process.kill(agent, "SIGCONT");
    terminal.send("half a thought");
    await terminal.until("half a thought");
    process.kill(agent, "SIGKILL");
    await expectRestored(opened);
  });
});

test("a terminal whose modes could not be read can be used after SIGKILL", async () => {
  const hangs = [
    'import programs from "node:child_process"; import { syncBuiltinESMExports } from "node:module";',
    'const { spawnSync } = programs; programs.spawnSync = (program, words, options) => program === "stty"',
    '? spawnSync("sleep", ["1000"], options) : spawnSync(program, words, options); syncBuiltinESMExports();',
  ].join(" ");
  const { terminal, agent, guard, workspace } = await openInShell(hangs);
  process.kill(agent, "SIGKILL");
  await until(() => !existsSync(`/proc/${guard}`), "the end of the guard");
  writeFileSync(join(workspace.cwd, "restored"), "");
  await terminal.until(/after=\S+/);
  const local = Number.parseInt(
    /after=(\S+)/.exec(terminal.whole().join("\n"))?.[1]?.split(":")[3] ?? "",
    16,
  );
  // ISIG, ICANON and ECHO of Linux.
  expect(local & 0b1011).toBe(0b1011);
});

/** The program, started by hand in an interactive bash. */
async function startedInBash(): Promise<Drive> {
  const server = await startMockServer({ turns: [] });
  const workspace = makeWorkspace(server.url);
  const terminal = driveProgram("bash", ["--norc", "-i"], workspace, { env: { PS1: "ready> " } });
  onTestFinished(async () => {
    terminal.kill();
    await server.close();
    workspace.remove();
  });
  terminal.send(`${process.execPath} ${entry}\r`);
  await terminal.until("what to do");
  return terminal;
}

test("an agent that is killed while an editor has the whole terminal leaves no editor's screen", async () => {
  const bash = { command: "printf '\\033[?1049h\\033[?1000hEDITOR\\n'; read -r x", tty: true };
  const opened = await openInShell("", "", [{ calls: [{ bash }] }]);
  const { terminal, agent } = opened;
  terminal.send("go\r");
  await terminal.until("Run this command?");
  terminal.send("1");
  await terminal.until("waits for input on its terminal");
  terminal.send("\x1d");
  await terminal.until(/^EDITOR/);
  process.kill(agent, "SIGKILL");
  await expectRestored(opened);
  expect(terminal.screen().join("\n")).not.toContain("EDITOR");
  expect(terminal.whole().join("\n")).toContain("› go");
  expect(terminal.raw().lastIndexOf("\x1b[?1000l")).toBeGreaterThan(
    terminal.raw().lastIndexOf("\x1b[?1000h"),
  );
});

test("an agent that is killed while it is stopped leaves the modes that others set meanwhile", async () => {
  const terminal = await startedInBash();
  const guard = await guardOf(childOf(terminal.pid, "main.js"));
  terminal.send("\x1a");
  await terminal.until("Stopped");
  terminal.send(`stty intr ^E; stty -g; kill -9 %1; tail --pid=${guard} -f /dev/null; stty -g\r`);
  await terminal.until(/:5:[\s\S]*Killed[\s\S]*:5:/);
  const told =
    terminal
      .whole()
      .join("\n")
      .match(/[0-9a-f]+(:[0-9a-f]+){20,}/g) ?? [];
  expect(told).toHaveLength(2);
  expect(told[1]).toBe(told[0]);
});

test("a shell that took the terminal back after SIGKILL keeps its own modes", async () => {
  const terminal = await startedInBash();
  const agent = childOf(terminal.pid, "main.js");
  const guard = await guardOf(agent);
  process.kill(agent, "SIGKILL");
  await terminal.until(/Killed[\s\S]*ready> $/m);
  await until(() => !existsSync(`/proc/${guard}`), "the end of the guard");
  // Readline shows what is typed once; a terminal that echoes besides would show it twice.
  terminal.send("echo one-$((1+1))\r");
  await terminal.until("one-2");
  expect(terminal.whole().join("\n").split("echo one-")).toHaveLength(2);
});
