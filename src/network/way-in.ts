/** Connections from this machine into the sandbox: a port of it is published on the machine's own loopback. */

import type { ChildProcess } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { type DoorMessage, startDoor } from "./door.ts";
import { join } from "./tunnel.ts";

export type WayIn = {
  /**
   * Publishes a port. Rejects when the port is in use on this machine. Returns at once when it is published already.
   */
  open(port: number): Promise<void>;
  ports(): number[];
  close(): void;
};

/** Milliseconds that the helper inside stays after the last connection. */
const idleMs = 10_000;

type State = {
  pid: () => number | undefined;
  servers: Map<number, Server>;
  door: ChildProcess | undefined;
  waiting: Map<number, (socket: Socket | undefined) => void>;
  lastId: number;
  timer: NodeJS.Timeout | undefined;
};

/** `pid`: a process of the sandbox that runs now. */
export function createWayIn(pid: () => number | undefined): WayIn {
  const state: State = {
    ...{ pid, servers: new Map(), door: undefined, waiting: new Map(), lastId: 0, timer: undefined },
  };
  return {
    open: (port) => open(state, port),
    ports: () => [...state.servers.keys()],
    close() {
      for (const server of state.servers.values()) server.close();
      state.servers.clear();
      endDoor(state);
    },
  };
}

function open(state: State, port: number): Promise<void> {
  if (state.servers.has(port)) return Promise.resolve();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    void connectInside(state, port).then((inner) => {
      if (!inner) return void socket.resetAndDestroy();
      inner.on("error", () => inner.destroy());
      join(socket, inner);
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE" ? "is in use on this machine" : `cannot be opened: ${error.message}`;
      reject(new Error(`port ${port} ${why}`));
    });
    server.listen(port, "127.0.0.1", () => {
      server.unref();
      state.servers.set(port, server);
      resolve();
    });
  });
}

/** Resolves to a connection to the port inside; undefined when nothing listens there. */
function connectInside(state: State, port: number): Promise<Socket | undefined> {
  const pid = state.pid();
  if (pid === undefined) return Promise.resolve(undefined);
  const door = state.door ?? begin(state, pid);
  clearTimeout(state.timer);
  state.timer = setTimeout(() => endDoor(state), idleMs).unref();
  const id = ++state.lastId;
  return new Promise((resolve) => {
    state.waiting.set(id, resolve);
    door.send({ id, port });
  });
}

function begin(state: State, pid: number): ChildProcess {
  const door = startDoor(pid, ["connect"]);
  state.door = door;
  door.unref();
  door.channel?.unref();
  (door.stderr as { unref?(): void } | null)?.unref?.();
  door.on("message", (message, handle) => {
    const { type, id } = message as DoorMessage & { id?: number };
    const waiting = state.waiting.get(id ?? 0);
    state.waiting.delete(id ?? 0);
    waiting?.(type === "connected" ? (handle as Socket) : undefined);
  });
  const gone = (): void => {
    if (state.door === door) endDoor(state);
  };
  door.once("error", gone).once("exit", gone);
  return door;
}

function endDoor(state: State): void {
  clearTimeout(state.timer);
  state.door?.kill("SIGKILL");
  state.door = undefined;
  for (const waiting of state.waiting.values()) waiting(undefined);
  state.waiting.clear();
}
