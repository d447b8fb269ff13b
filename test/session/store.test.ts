/** The session store, on real files. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import { listSessions } from "../../src/session/listing.ts";
import { createSession } from "../../src/session/store.ts";
import { fileOf, hello, makeStoreFixture, modeOf, type StoreFixture, texts } from "./store-fixture.ts";

let fixture: StoreFixture;

beforeEach(() => {
  fixture = makeStoreFixture();
});

afterEach(() => fixture.clean());

describe("a new session", () => {
  test("keeps its files private and its id sorts by time", async () => {
    const session = await fixture.create();
    expect(session.id).toMatch(/^20261120-111530-[0-9a-f]{6}$/);
    const file = session.artifacts.create("txt");
    expect(
      [session.folder, join(session.folder, ".."), fixture.root, session.artifacts.folder].map(modeOf),
    ).toEqual(Array(4).fill("700"));
    expect([fileOf(session), file].map(modeOf)).toEqual(["600", "600"]);
  });

  test("writes an event before listeners hear of it, and remembers what a reader will read", async () => {
    const session = await fixture.create();
    let heard = "";
    session.log.subscribe((event) => {
      heard = JSON.stringify(event);
      expect(readFileSync(fileOf(session), "utf8").endsWith(`${heard}\n`)).toBe(true);
    });
    const text = "line\u2028 with \ud83d half an emoji";
    const body = { type: "warning", text, extra: undefined } as EventBody;
    const event = session.log.append(body);
    expect(heard).toContain("half an emoji");
    expect(event).toStrictEqual({ seq: 1, at: expect.any(Number), type: "warning", text });
    session.close();
    expect((await fixture.open()).log.events()).toStrictEqual(session.log.events());
  });

  test("what is appended after its end reaches no file, neither its own nor one opened meanwhile", async () => {
    const session = await fixture.create();
    session.close();
    const before = readFileSync(fileOf(session), "utf8");
    // The system gives it the descriptor that has just become free.
    const next = await fixture.create();
    session.log.append({ type: "warning", text: "late" });
    expect(readFileSync(fileOf(session), "utf8")).toBe(before);
    expect(readFileSync(fileOf(next), "utf8")).not.toContain("late");
    expect(fixture.warnings).toEqual([]);
  });

  test("a listener that throws is reported, and the others still hear", async () => {
    const session = await fixture.create();
    const heard: string[] = [];
    session.log.subscribe(() => {
      throw new Error("broken screen");
    });
    const stop = session.log.subscribe((event) => heard.push(event.type));
    session.log.append(hello);
    stop();
    session.log.append(hello);
    expect(heard).toEqual(["user_message"]);
    expect(fixture.warnings[0]).toContain("broken screen");
    expect(session.log.events()).toHaveLength(3);
  });

  test("that never got an event leaves nothing behind", async () => {
    const session = await createSession({ root: fixture.root, cwd: fixture.cwd, ...fixture.outside });
    session.close();
    session.close();
    expect(existsSync(session.folder)).toBe(false);
  });

  test("is kept in a private temp folder, with one warning, when the root cannot be written", async () => {
    writeFileSync(fixture.root, "a file where the folder should be");
    const session = await fixture.create();
    session.log.append(hello);
    expect(session.folder.startsWith(fixture.base)).toBe(false);
    expect(modeOf(join(session.folder, "../.."))).toBe("700");
    expect(fixture.warnings).toHaveLength(1);
    expect(fixture.warnings[0]).toContain(fixture.root);
  });
});

describe("a disk that refuses", () => {
  test.skipIf(process.platform !== "linux")("a root under /proc is given up at once", async () => {
    // In a process with a time limit: an endless loop would hold the tests, too.
    const { line } = await fixture.process(
      `import { rmSync } from "node:fs";
      import { dirname } from "node:path";
      let warned = "";
      const warn = (text) => { warned = text; };
      const session = await store.createSession({ root: "/proc/x/y", cwd, clock: Date.now, warn });
      session.close();
      rmSync(dirname(dirname(session.folder)), { recursive: true });
      console.log(warned);`,
      ["timeout", "-s", "KILL", "100"],
    );
    expect(line).toMatch(/^cannot write to \/proc\/x\/y \(ENOENT\): this session is kept in /);
  });

  test("is warned of once; the run goes on, and everything is saved once there is room again", async () => {
    (await fixture.create()).close();
    // A limit on the file size stands for the full disk: the write that meets it is cut short, like there.
    const { line } = await fixture.process(
      `import { execFileSync } from "node:child_process";
      let warned = 0;
      const session = await store.openSession({ root, newest: true, clock: Date.now, warn: () => warned++ });
      const add = (n) => session.log.append({ type: "warning", text: n + "y".repeat(1500) });
      for (let n = 0; n < 5; n++) add(n);
      execFileSync("prlimit", ["--pid", process.pid, "--fsize=unlimited:unlimited"]);
      add(5);
      session.close();
      console.log(JSON.stringify({ warned, inMemory: session.log.events().length }));`,
      ["prlimit", "--fsize=4096:unlimited"],
    );
    expect(JSON.parse(line)).toEqual({ warned: 1, inMemory: 7 });
    const again = await fixture.open();
    expect(again.log.events().map((event) => event.seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(fixture.warnings).toEqual([]);
  });

  test("a session in a folder without write permission is continued elsewhere", async () => {
    const session = await fixture.create();
    session.close();
    if (process.getuid?.() === 0) return; // root may write anywhere
    chmodSync(session.folder, 0o500);
    const again = await fixture.open();
    again.log.append(hello);
    chmodSync(session.folder, 0o700);
    expect(again.log.events()).toHaveLength(2);
    expect(fixture.warnings).toHaveLength(1);
  });
});

describe("a fork", () => {
  test("begins with the first events of its parent and leaves the parent alone", async () => {
    const parent = await fixture.create();
    parent.log.append(hello);
    parent.log.append({ type: "warning", text: "not copied" });
    const before = readFileSync(fileOf(parent));
    const fork = await fixture.fork(parent.id, 2);
    fork.log.append({ type: "warning", text: "mine" });
    expect(texts(fork)).toEqual(["session_started", "user_message", "mine"]);
    const [start] = parent.log.events();
    expect(fork.log.events()[0]).toEqual({
      ...start,
      sessionId: fork.id,
      folder: fork.folder,
      parent: parent.id,
    });
    expect(fork.log.events()[1]).toEqual(parent.log.events()[1]);
    expect(readFileSync(fileOf(parent))).toEqual(before);
    expect(listSessions(fixture.root, fixture.cwd)).toHaveLength(2);
  });
});
