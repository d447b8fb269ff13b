import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { entry } from "../support/entry.ts";
import { startMockServer } from "../support/mock-server.ts";
import { driveProgram } from "../support/pty-drive.ts";
import { makeWorkspace } from "../support/sawtooth.ts";
import { until as waitUntil } from "../support/until.ts";

const words = Array.from({ length: 120 }, (_, index) => `word${index}`);
const hasTmux = (() => {
  try {
    execFileSync("tmux", ["-V"]);
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasTmux)("inside tmux", () => {
  test("a window that gets narrower and wider again has the prompt once, and each word of the answer once", async () => {
    const server = await startMockServer({ turns: [{ text: words.join(" ") }] });
    const workspace = makeWorkspace(server.url);
    const socket = `${workspace.home}/tmux`;
    const tmux = (...words: string[]) =>
      execFileSync("tmux", ["-f", "/dev/null", "-S", socket, ...words], {
        encoding: "utf8",
        env: workspace.env,
      });
    onTestFinished(async () => {
      tmux("kill-server");
      await server.close();
      workspace.remove();
    });
    const run = `${process.execPath} ${entry}`;
    tmux("new-session", "-d", "-s", "t", "-x", "80", "-y", "24", "-c", workspace.cwd, run);
    const shown = () => tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "t");
    const until = async (wanted: string) => {
      await waitUntil(() => shown().includes(wanted), wanted);
    };
    await until("› what to do?");
    tmux("send-keys", "-t", "t", "-l", "go");
    tmux("send-keys", "-t", "t", "Enter");
    await until("word119");
    for (const [columns, rows] of [
      [50, 24],
      [120, 24],
      [60, 12],
      [80, 24],
    ]) {
      tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
      await sleep(250);
    }
    const isWhole = (text: string) =>
      text.split("› what to do?").length === 2 &&
      words.every((word) => text.match(new RegExp(`\\b${word}\\b`, "g"))?.length === 1);
    await waitUntil(() => isWhole(shown()), "the prompt once and each word once");
  });
});

test("Ctrl-Z in the middle of an answer gives the shell its terminal, and fg shows the rest once", async () => {
  const server = await startMockServer({ turns: [{ text: words.join(" "), fault: { pauseMs: 150 } }] });
  const workspace = makeWorkspace(server.url);
  const terminal = driveProgram("bash", ["--norc", "--noprofile", "-i"], workspace, {});
  onTestFinished(async () => {
    terminal.kill();
    await server.close();
    workspace.remove();
  });
  await terminal.until(/[$#] ?$/m);
  terminal.send(`${process.execPath} ${entry}\r`);
  await terminal.until("› what");
  terminal.send("go\r");
  await terminal.until("word20");
  terminal.send("\x1a");
  await terminal.until("Stopped");
  terminal.send("echo in-the-$((40+2))-shell; stty -a | grep -o ' icanon'\r");
  await terminal.until(/^in-the-42-shell\n icanon/m);
  await sleep(500);
  terminal.send("fg\r");
  await terminal.until("word119");
  await terminal.quiet(500);
  const text = terminal.whole().join("\n");
  for (const word of words) expect(text.match(new RegExp(`\\b${word}\\b`, "g"))).toHaveLength(1);
  expect(text.split("› what to do?").length).toBeLessThanOrEqual(3);
});
