/** An editor's first request: from the start of `sawtooth acp` to the arrival at the model, beside that of `-p`. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { figure, type Row, ratio } from "./figures.ts";
import { startLoopback } from "./loopback.ts";
import { agent, type Home, inHome, inTurn, runNode } from "./programs.ts";

const options = ["--model", "anthropic/claude-sonnet-5-5", "--permission-mode", "auto"];

/** Both start, make a session and send "hi". */
export async function editorRequest(): Promise<Row[]> {
  const server = await startLoopback(() => undefined);
  const arrival = (begin: (home: Home) => Promise<{ startedAt: number }>, home: Home) => async () => {
    const before = server.arrived.length;
    const { startedAt } = await begin(home);
    return (server.arrived[before] ?? Number.NaN) - startedAt;
  };
  const { ours, headless } = await inHome(
    (home) =>
      inTurn(25, {
        headless: arrival((place) => runNode([...agent, "-p", "hi", ...options], place), home),
        ours: arrival(overProtocol, home),
      }),
    server.url,
  );
  await server.close();
  const row = { measured: figure(ours), baseline: figure(headless) };
  const aim = { text: "≤ 1.3 ×", met: ratio(row) <= 1.3 };
  return [{ name: "first request over ACP", unit: "ms", ...row, against: "-p", aim }];
}

/** Talks to the agent as an editor does, until its turn is over. */
async function overProtocol({ folder, env }: Home): Promise<{ startedAt: number }> {
  const startedAt = performance.now();
  const cwd = `${folder}/work`;
  const child = spawn(process.execPath, [...agent, "acp", ...options], {
    ...{ cwd, env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const send = (id: number, method: string, params: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  send(1, "initialize", { protocolVersion: 1 });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { sessionId?: string } };
    if (id === 1) send(2, "session/new", { cwd, mcpServers: [] });
    const prompt = [{ type: "text", text: "hi" }];
    if (id === 2) send(3, "session/prompt", { sessionId: result?.sessionId, prompt });
    if (id === 3) child.stdin.end();
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`sawtooth acp ended with ${code}`);
  return { startedAt };
}
