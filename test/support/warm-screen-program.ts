/**
 * The program as a process that stays in its terminal and shows one session after another: the entry is run anew for
 * each, and what it loads is loaded once. What a session left behind would reach the next one.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { ChildProcess } from "node:child_process";
import type { EventEmitter } from "node:events";
import { entry } from "./entry.ts";
import { endMark, markEnd, orderMarks, readyMark, type ScreenOrder } from "./warm-screen-order.ts";

const { stdin, stdout, stderr } = process;
const emitters: EventEmitter[] = [process, stdin, stdout, stderr];
/** Which session code belongs to: a timer of an earlier one may still want to end it. */
const session = new AsyncLocalStorage<number>();
const children: ChildProcess[] = [];
let current = 0;

function listen(): void {
  let received = "";
  stdin.setEncoding("utf8").setRawMode(true);
  // What was typed for an earlier session is not for the next one.
  const onData = (text: string) => {
    received += text;
    const [, order] = received.split(orderMarks[0]);
    if (!order?.endsWith(orderMarks[1])) return;
    stdin.off("data", onData);
    stdin.setRawMode(false).pause();
    begin(JSON.parse(order.slice(0, -1)) as ScreenOrder);
  };
  stdin.on("data", onData).resume();
  stdout.write(`${readyMark}${markEnd}`);
}

function begin({ words, cwd, env }: ScreenOrder): void {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, entry, ...words];
  process.exitCode = undefined;
  (stdout as { _refreshSize?: () => void })._refreshSize?.();
  current += 1;
  const before = emitters.map(listenersOf);
  const mine = current;
  process.exit = ((code?: number) => {
    const caller = session.getStore();
    // Nothing runs after the end of a process, and nothing ends twice.
    if (mine !== current || (caller !== undefined && caller !== current)) return;
    current += 1;
    finish(code ?? Number(process.exitCode ?? 0), before);
  }) as typeof process.exit;
  void session.run(mine, () => import(`${entry}?${mine}`));
}

/** Does what the end of the process would have done, and waits for the next order. */
function finish(code: number, before: ReturnType<typeof listenersOf>[]): void {
  for (const listener of process.rawListeners("exit"))
    if (!before[0]?.get("exit")?.includes(listener as Listener)) listener.call(process, code);
  emitters.forEach((emitter, index) => {
    for (const [name, listeners] of listenersOf(emitter))
      for (const listener of listeners)
        if (!before[index]?.get(name)?.includes(listener)) emitter.removeListener(name, listener as never);
  });
  for (const child of children.splice(0)) for (const stream of child.stdio ?? []) stream?.destroy();
  stdout.write(`${endMark}${code}${markEnd}`);
  listen();
}

type Listener = (...words: never[]) => unknown;

function listenersOf(emitter: EventEmitter): Map<string | symbol, Listener[]> {
  return new Map(emitter.eventNames().map((name) => [name, emitter.rawListeners(name) as Listener[]]));
}

/** Pipes to programs that outlive a session are closed with it, as they are with a process. */
const prototype = ChildProcess.prototype as unknown as { spawn(this: ChildProcess, options: object): number };
const { spawn } = prototype;
prototype.spawn = function (options) {
  children.push(this);
  return spawn.call(this, options);
};

listen();
