/** The door into the network of a sandbox: its sockets arrive in this process, whichever interpreter it has. */

import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DoorMessage, startDoor } from "../../src/network/door.ts";
import { noBubblewrap, startBubblewrap, type TestBox } from "./inside.ts";

const skipped = noBubblewrap();
const folder = mkdtempSync(join(tmpdir(), "sawtooth-door-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Collects what a door tells until it ends, and what it said on standard error. */
function toldBy(door: ChildProcess, take: (message: DoorMessage, handle: unknown) => void) {
  let said = "";
  door.stderr?.on("data", (bytes: Buffer) => {
    said += bytes.toString("utf8");
  });
  door.on("message", (message, handle) => take(message as DoorMessage, handle));
  return new Promise<string>((resolve) => door.once("close", (code) => resolve(`${said}exit ${code}`)));
}

const interpreters = ["perl", "python3"].filter((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(skipped !== undefined).each(interpreters)("a door of %s", (name) => {
  let box: TestBox;
  let only: string[];
  beforeAll(async () => {
    only = [mkdtempSync(join(folder, "only-"))];
    symlinkSync(`/usr/bin/${name}`, join(only[0] ?? "", name));
    box = await startBubblewrap([]);
  });
  afterAll(() => box.close());

  test("listens inside and hands the sockets over, says which place is taken, and ends", async () => {
    const [handles, failed]: [Map<string, unknown>, string[]] = [new Map(), []];
    const door = startDoor(box.pid, ["listen", "127.9.8.7:4444", "0.0.0.0:80", "0.0.0.0:80"], only);
    const end = await toldBy(door, (message, handle) => {
      if (message.type === "failed") failed.push(message.what);
      else handles.set(message.type === "port" ? `port ${message.port}` : message.type, handle);
    });
    expect(end).toBe("exit 0");
    expect([...handles.keys()]).toEqual(["names", "port 4444", "port 80"]);
    expect(failed).toEqual(["Address already in use"]);
    const connected = new Promise<string>((resolve) => {
      (handles.get("port 4444") as Server).on("connection", (socket: Socket) => {
        socket.once("data", (bytes) => {
          resolve(`${socket.localAddress}: ${bytes}`);
          socket.destroy();
        });
      });
    });
    await box.run("exec 3<>/dev/tcp/127.9.8.7/4444; printf hello >&3; exec 3>&-");
    expect(await connected).toBe("127.9.8.7: hello");
    for (const handle of handles.values()) (handle as { close(): void }).close();
  });

  test("connects to a port inside for each message, and says when nothing listens there", async () => {
    const listening = startDoor(box.pid, ["listen", "127.0.0.1:5555"], only);
    const servers: { close(): void }[] = [];
    await toldBy(listening, (message, handle) => {
      servers.push(handle as Server);
      if (message.type === "port")
        (handle as Server).on("connection", (socket: Socket) => socket.end("inside"));
    });
    const door = startDoor(box.pid, ["connect"], only);
    const answers = new Map<number | undefined, Promise<string> | string>();
    const both = new Promise<void>((resolve) => {
      void toldBy(door, (message, handle) => {
        if (message.type === "failed") answers.set(message.id, message.what);
        if (message.type === "connected")
          answers.set(
            message.id,
            new Promise((got) => (handle as Socket).once("data", (bytes) => got(String(bytes)))),
          );
        if (answers.size === 2) resolve();
      });
    });
    door.send({ id: 7, port: 5555 });
    door.send({ id: 8, port: 5556 });
    await both;
    expect(await answers.get(7)).toBe("inside");
    expect(answers.get(8)).toBe("Connection refused");
    door.kill("SIGKILL");
    for (const server of servers) server.close();
  });

  test("says what it cannot do", async () => {
    const door = startDoor(0x7fffffff, ["listen"], only);
    expect(await toldBy(door, () => {})).toMatch(/No such file or directory[\s\S]*exit [1-9]/);
    const own = startDoor(process.pid, ["listen"], only);
    expect(await toldBy(own, () => {})).toMatch(/user namespace|its owner|network/);
  });
});

test("a machine with neither interpreter is told what to install", () => {
  expect(() => startDoor(1, ["connect"], [folder])).toThrow("install one of them");
});
