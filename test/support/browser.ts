/** A real browser (chromium, headless), driven over a pipe by the DevTools protocol. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

export const hasBrowser = spawnSync("chromium", ["--version"]).status === 0;

export type Page = {
  /** Runs an expression in the page and returns its value; a promise is awaited. Throws what it throws. */
  run<T>(expression: string): Promise<T>;
  command(method: string, params?: object): Promise<Record<string, unknown>>;
  goto(url: string): Promise<void>;
  /** Messages of the console and of the page's policy. */
  complaints: string[];
};

export type Browser = { open(url: string): Promise<Page>; close(): Promise<void> };

type Message = {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
};

export function startBrowser(): Browser {
  const profile = mkdtempSync(join(tmpdir(), "sawtooth-browser-"));
  const child = spawn(
    "chromium",
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"],
      ...["--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"],
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const { send, listen } = wire(child);
  const open = async (url: string): Promise<Page> => {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const command = (method: string, params: object = {}) => send(method, params, sessionId as string);
    const complaints: string[] = [];
    let loaded = () => {};
    listen(sessionId as string, ({ method, params }) => {
      if (method === "Page.loadEventFired") loaded();
      if (method === "Log.entryAdded" || method === "Runtime.exceptionThrown")
        complaints.push(JSON.stringify(params));
    });
    for (const domain of ["Page", "Runtime", "Log"]) await command(`${domain}.enable`);
    const goto = async (address: string): Promise<void> => {
      const done = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await command("Page.navigate", { url: address });
      await done;
    };
    await goto(url);
    return {
      ...{ command, complaints, goto },
      async run<T>(expression: string) {
        const params = { expression, awaitPromise: true, returnByValue: true };
        const { result, exceptionDetails } = await command("Runtime.evaluate", params);
        if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
        return (result as { value: T }).value;
      },
    };
  };
  const close = async (): Promise<void> => {
    const ended = new Promise((done) => child.once("close", done));
    child.kill("SIGKILL");
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { open, close };
}

/** Commands are written to descriptor 3 and answered on 4, each with a zero byte at its end. */
function wire(child: ChildProcess) {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, (message: Message) => void>();
  let [next, rest] = [1, ""];
  output.setEncoding("utf8").on("data", (text: string) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop() ?? "";
    for (const line of messages) {
      const message = JSON.parse(line) as Message;
      if (message.id !== undefined) waiting.get(message.id)?.(message);
      else listeners.get(message.sessionId ?? "")?.(message);
    }
  });
  input.on("error", () => {});
  const send = (method: string, params: object, sessionId?: string) => {
    const id = next++;
    return new Promise<Record<string, unknown>>((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result ?? {});
      });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  };
  return {
    send,
    listen: (session: string, hear: (message: Message) => void) => listeners.set(session, hear),
  };
}
