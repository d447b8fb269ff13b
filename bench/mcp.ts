/** Servers of tools: what seven of them add to the first request, and what a call costs as a command of the shell. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenForCommands } from "../src/mcp/shell/listener.ts";
import { figure, type Row, ratio } from "./figures.ts";
import { startLoopback } from "./loopback.ts";
import { agent, agentFolder, type Home, inHome, inTurn, runNode } from "./programs.ts";

const task = [...agent, "-p", "hi", "--model", "anthropic/claude-sonnet-5-5", "--permission-mode", "auto"];
const names = [
  "everything",
  "filesystem",
  "memory",
  "sequential-thinking",
  "playwright",
  "chrome-devtools",
  "context7",
];

function entries(): Record<string, object> {
  const support = join(agentFolder, "test/support");
  const entry = (file: string, word: string) => ({
    command: process.execPath,
    args: [join(support, file), word],
  });
  const known = names.map((name) => [name, entry("mcp-recorded.ts", name)]);
  return Object.fromEntries([...known, ["silent", entry("mcp-server.ts", "silent")]]) as Record<
    string,
    object
  >;
}

/** Waits until the catalogues of all servers but the silent one are stored. */
const learn = `until [ "$(ls "$HOME/state/state/mcp" | grep -vc seen)" = ${names.length} ]; do sleep 0.1; done`;

/** `-p hi` to the first request, with seven known servers and one that never answers; beside the same without servers. */
export async function requestWithServers(): Promise<Row[]> {
  const server = await startLoopback((index) =>
    index === 0 ? { name: "bash", input: { command: learn } } : undefined,
  );
  const arrival = (home: Home) => async () => {
    const before = server.arrived.length;
    const { startedAt } = await runNode(task, home);
    return (server.arrived[before] ?? Number.NaN) - startedAt;
  };
  const beside = (home: Home) =>
    inHome(async (without) => {
      configure(home, { mcpServers: entries(), sandbox: "off" });
      await runNode(task, home);
      configure(home, { mcpServers: entries() });
      return inTurn(25, { bare: arrival(without), ours: arrival(home) });
    }, server.url);
  const { ours, bare } = await inHome(beside, server.url);
  await server.close();
  const row = { measured: figure(ours), baseline: figure(bare) };
  const aim = { text: "≤ 1.1 ×", met: ratio(row) <= 1.1 };
  return [{ name: "first request, 8 servers", unit: "ms", ...row, against: "without servers", aim }];
}

function configure({ folder }: Home, settings: object): void {
  const config = join(folder, "state/config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
}

const calls = 40;

/** A call as a command of the shell, without the server's own time; beside a Perl that does nothing, and a Node. */
export async function callByCommand(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bench-"));
  const listener = await listenForCommands(folder, async () => ({ out: "{}\n", errors: "", code: 0 }));
  const loop = (command: string) => async () => {
    const startedAt = performance.now();
    const child = spawn("bash", ["-c", `for n in {1..${calls}}; do ${command}; done >/dev/null`]);
    await once(child, "close");
    return (performance.now() - startedAt) / calls;
  };
  const { ours, bare, node } = await inTurn(7, {
    bare: loop("perl -e 1"),
    node: loop(`'${process.execPath}' -e 0`),
    ours: loop(`'${folder}/mcp' server tool`),
  });
  listener.close();
  rmSync(folder, { recursive: true });
  const row = (values: readonly number[], against: string): Row => ({
    ...{ name: "a call as a command", unit: "ms", measured: figure(ours), baseline: figure(values), against },
  });
  return [row(bare, "perl -e 1"), row(node, "node -e 0")];
}
