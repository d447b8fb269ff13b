/** Connections of the program as the kernel sees them (strace): the model, and nothing that nobody asked for. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { entry } from "../support/entry.ts";
import { startMockServer } from "../support/mock-server.ts";
import { hasProgram } from "../support/program.ts";
import { driveProgram } from "../support/pty-drive.ts";
import { makeWorkspace, type Workspace } from "../support/sawtooth.ts";

const canTrace =
  hasProgram("strace") &&
  spawnSync("strace", ["-f", "-e", "trace=connect", "true"], { stdio: "ignore" }).status === 0;

/** The words that run the program under strace, which writes to a file of the workspace. */
function traced(workspace: Workspace, words: string[]): string[] {
  // A packet needs no connection.
  const calls = "trace=connect,sendto,sendmsg,sendmmsg";
  return ["-f", "-qq", "-e", calls, "-o", traceFile(workspace), process.execPath, entry, ...words];
}

function traceFile(workspace: Workspace): string {
  return join(workspace.home, "trace.txt");
}

/** The addresses that were named to the kernel, as `host:port`, each once. */
function addresses(workspace: Workspace): string[] {
  expect(existsSync(traceFile(workspace))).toBe(true);
  const text = readFileSync(traceFile(workspace), "utf8");
  const found = [...text.matchAll(/sin6?_port=htons\((\d+)\).*?"([\da-f.:]+)"/g)];
  return [...new Set(found.map(([, port, host]) => `${host}:${port}`))].sort();
}

async function model() {
  const server = await startMockServer({
    turns: [{ calls: [{ bash: { command: "echo one" } }] }, { text: "Done." }],
  });
  onTestFinished(() => server.close());
  const workspace = makeWorkspace(server.url);
  onTestFinished(workspace.remove);
  return { workspace, address: new URL(server.url).host };
}

describe.skipIf(!canTrace)("connections", () => {
  test("a headless task connects to its model and to nothing else", async () => {
    const { workspace, address } = await model();
    const words = ["-p", "--allow", "bash(echo:*)", "say one"];
    const { stdout, status } = await run(workspace, words);
    expect([status, stdout]).toEqual([0, "Done.\n"]);
    expect(addresses(workspace)).toEqual([address]);
  });

  test("so does the screen, from its start over a turn to its end", async () => {
    const { workspace, address } = await model();
    const screen = driveProgram("strace", traced(workspace, []), workspace);
    onTestFinished(() => screen.kill());
    await screen.until("ask");
    screen.send("say one\r");
    await screen.until("Done.");
    screen.send("/exit\r");
    await screen.ended;
    expect(addresses(workspace)).toEqual([address]);
  });

  test.each([
    ["--version"],
    ["--help"],
    ["sessions"],
    ["report"],
    ["completion", "zsh"],
    ["mcp"],
    ["plugin"],
  ])("%s %s connects to nothing", async (...words) => {
    const { workspace } = await model();
    await run(workspace, words);
    expect(addresses(workspace)).toEqual([]);
  });

  test("doctor asks the model's server and those that models have on this machine, and nobody elsewhere", async () => {
    const { workspace } = await model();
    await run(workspace, ["doctor"]);
    expect(addresses(workspace).filter((address) => !/^(127\.0\.0\.1|::1):/.test(address))).toEqual([]);
  });
});

/** Runs it without a terminal, to its end. */
async function run(workspace: Workspace, words: string[]) {
  const child = spawn("strace", traced(workspace, words), {
    ...{ cwd: workspace.cwd, env: workspace.env, stdio: ["ignore", "pipe", "ignore"] },
  });
  let stdout = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { stdout, status };
}
