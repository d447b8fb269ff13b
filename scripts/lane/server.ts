/** Runs `llama-server`, which ends with this process whatever ends that. */

import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Built } from "./model.ts";

/** A server that answers. `log`: the file that it writes. */
export type Llama = { url: string; log: string; stop(): Promise<void> };

type Options = { model: string; window: number; log: string };

/** The model was trained on 2,048 tokens; more are reached by stretching its positions. */
const trained = 2048;
const template = join(import.meta.dirname, "template.jinja");
/** Ends the server when its standard input ends, which it does when this process is gone. */
const untilAlone = '"$@" & server=$!; { cat > /dev/null; kill "$server"; } <&0 & wait "$server"';

// Threads that wait for each other at every token lose most of their time on a busy machine: one writes, two read.
/** Starts a server and waits until the model is loaded. Throws an Error with the end of its log. */
export async function startLlama(
  { program, libraries }: Built,
  { model, window, log }: Options,
): Promise<Llama> {
  const port = await freePort();
  const stretched = [
    "--rope-scaling",
    "yarn",
    "--yarn-orig-ctx",
    `${trained}`,
    "--rope-scale",
    `${window / trained}`,
  ];
  const args = [
    ...[
      "-m",
      model,
      "-c",
      `${window}`,
      "-t",
      "1",
      "-tb",
      "2",
      "--parallel",
      "1",
      "--jinja",
      "--chat-template-file",
      template,
    ],
    ...["--host", "127.0.0.1", "--port", `${port}`, "--alias", "tinyllama", "--no-ui"],
    ...(window > trained ? stretched : []),
  ];
  const written = openSync(log, "w");
  const child = spawn("bash", ["-c", untilAlone, "lane", "nice", "-n", "15", program, ...args], {
    cwd: libraries,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LD_LIBRARY_PATH: libraries },
    stdio: ["pipe", written, written],
  });
  closeSync(written);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = () => {
    child.stdin?.destroy();
    return ended;
  };
  const url = `http://127.0.0.1:${port}`;
  for (
    const deadline = Date.now() + 120_000;
    Date.now() < deadline && child.exitCode === null;
    await sleep(200)
  )
    if (await isReady(url)) return { url, log, stop };
  await stop();
  throw new Error(
    `llama-server did not start:\n${readFileSync(log, "utf8").trim().split("\n").slice(-8).join("\n")}`,
  );
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
