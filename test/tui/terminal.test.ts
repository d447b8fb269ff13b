import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { entry } from "../support/entry.ts";
import { type Drive, driveProgram } from "../support/pty-drive.ts";
import { serve } from "../support/served.ts";

/** A shell in a terminal that says the terminal's modes, runs the agent, and says them again. */
async function openInShell(
  how: { size?: [number, number]; env?: Record<string, string>; before?: string } = {},
) {
  const turns = [{ text: "many words ".repeat(200), fault: { pauseMs: 250 } }, { text: "final" }];
  const { server, workspace } = await serve(turns);
  const script = [
    how.before ?? ":",
    'echo "before=$(stty -g)"',
    `${process.execPath} ${entry}`,
    'echo "ended=$?"; echo "after=$(stty -g)"; sleep 60',
  ].join("\n");
  const [columns, rows] = how.size ?? [80, 24];
  const options = { columns, rows, ...(how.env ? { env: how.env } : {}) };
  const terminal = driveProgram("bash", ["-c", script], workspace, options);
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  return { terminal, server, workspace };
}

/** The pid of the agent below the shell. */
function agentPid(terminal: Drive): number {
  return Number(
    execFileSync("pgrep", ["-P", String(terminal.pid), "-f", "main.js"], { encoding: "utf8" }).split("\n")[0],
  );
}

function modes(terminal: Drive): { before: string | undefined; after: string | undefined } {
  const text = terminal.whole().join("\n");
  return { before: /before=(\S+)/.exec(text)?.[1], after: /after=(\S+)/.exec(text)?.[1] };
}

function expectRestored(terminal: Drive): void {
  const { before, after } = modes(terminal);
  expect(after).toBe(before);
  expect(before).toMatch(/:/);
  expect(terminal.cursor().shown).toBe(true);
  expect(terminal.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(
    terminal.raw().lastIndexOf("\x1b[?2004h"),
  );
}

describe("the terminal is as it was", () => {
  test.each([
    ["Ctrl-D", "\x04"],
    ["Ctrl-C twice", "\x03\x03"],
    ["/exit", "/exit\r"],
  ])("after %s", async (_, keys) => {
    const { terminal } = await openInShell();
    terminal.send(keys);
    await terminal.until("after=");
    expect(terminal.screen().join("\n")).toContain("ended=0");
    expectRestored(terminal);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("after %s in the middle of an answer", async (signal, code) => {
    const { terminal } = await openInShell();
    terminal.send("go\r");
    await terminal.until("many words");
    process.kill(agentPid(terminal), signal);
    await terminal.until("after=");
    expect(terminal.whole().join("\n")).toContain(`ended=${code}`);
    expectRestored(terminal);
  });

  test("after Ctrl-C twice in the middle of an answer, which is kept", async () => {
    const { terminal, workspace } = await openInShell();
    terminal.send("go\r");
    await terminal.until("many words");
    terminal.send("\x03");
    await terminal.until("interrupted");
    // Once more is enough only within a second.
    terminal.send("\x03\x03");
    await terminal.until("after=");
    expect(terminal.whole().join("\n")).toMatch(/Resume with: sawtooth -r \S+\nended=0/);
    expectRestored(terminal);
    const log = execFileSync(
      "sh",
      ["-c", `cat ${workspace.env.SAWTOOTH_HOME}/state/sessions/*/*/events.jsonl`],
      {
        encoding: "utf8",
      },
    );
    expect(log).toMatch(/"stopReason":"interrupted"[\s\S]*"turn_ended","reason":"interrupted"/);
  });

  test("after a bug, which is told on the screen with a code of its own", async () => {
    const bug = `process.on("SIGUSR2", () => { throw new Error("a bug") })`;
    const before = `echo '${bug}' > bug.mjs; export NODE_OPTIONS=--import=./bug.mjs`;
    const { terminal } = await openInShell({ before });
    process.kill(agentPid(terminal), "SIGUSR2");
    await terminal.until("after=");
    expect(terminal.whole().join("\n")).toMatch(/sawtooth: Error: a bug[\s\S]*ended=1/);
    expectRestored(terminal);
  });

  test("while it is stopped, and it goes on where it was", async () => {
    const { terminal } = await openInShell({ before: "set -m" });
    terminal.send("half a thought");
    await terminal.until("half a thought");
    terminal.send("\x1a");
    await terminal.until("after=");
    expectRestored(terminal);
  });
});

describe("the window changes its size", () => {
  test("again and again while an answer streams: the live rows are there once, the lines of the answer too", async () => {
    const { terminal } = await openInShell();
    terminal.send("go\r");
    await terminal.until("many words");
    const sizes: [number, number][] = [
      [50, 24],
      [120, 24],
      [20, 5],
      [80, 24],
    ];
    for (let round = 0; round < 3; round++) {
      for (const [columns, rows] of sizes) {
        await terminal.resize(columns, rows);
        await terminal.drawn();
      }
    }
    terminal.send("\x1b");
    await terminal.until("interrupted");
    await terminal.quiet(300);
    const whole = terminal.whole().join("\n");
    expect(whole.split("› what to do?")).toHaveLength(2);
    expect(whole.split("› go")).toHaveLength(2);
    expect(terminal.raw()).not.toMatch(/\x1b\[[23]J|\x1b\[\?1049h/);
  });

  test("to nothing and back", async () => {
    const { terminal } = await openInShell({ size: [80, 24] });
    await terminal.resize(2, 1);
    await terminal.drawn();
    await terminal.resize(80, 24);
    terminal.send("still here");
    await terminal.until("still here");
  });
});

test("a window of 40 by 10 shows the prompt and the status", async () => {
  const { terminal } = await openInShell({ size: [40, 10] });
  terminal.send("go\r");
  await terminal.until("many words");
  terminal.send("typed meanwhile");
  await terminal.until("typed meanwhile");
  expect(terminal.screen().some((row) => row.includes("ask"))).toBe(true);
});

test("without colour there is no colour", async () => {
  const { terminal } = await openInShell({ env: { NO_COLOR: "1" } });
  terminal.send("/help\r");
  await terminal.until("/exit");
  expect(terminal.raw()).not.toMatch(/\x1b\[(?:\d+;)*3\dm/);
});
