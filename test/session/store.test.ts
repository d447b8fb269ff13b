/** The session store, on real files and with real processes. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import type { ModelCard } from "../../src/core/model-card.ts";
import { SessionError, SessionLocked } from "../../src/session/errors.ts";
import { listSessions } from "../../src/session/listing.ts";
import {
  createSession,
  forkSession,
  type OpenSession,
  openSession,
  readSession,
} from "../../src/session/store.ts";

let base: string;
let root: string;
let cwd: string;
let warnings: string[];
let now: number;
let sessions: OpenSession[];
let children: ChildProcess[];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "store-test-"));
  root = join(base, "sessions");
  cwd = join(base, "project");
  mkdirSync(cwd);
  warnings = [];
  sessions = [];
  children = [];
  now = Date.UTC(2026, 10, 20, 11, 15, 30);
});

afterEach(async () => {
  for (const session of sessions) {
    session.close();
    if (!session.folder.startsWith(base)) rmSync(join(session.folder, "../.."), { recursive: true });
  }
  for (const child of children) await killed(child);
  rmSync(base, { recursive: true, force: true });
});

const outside = { clock: () => now++, warn: (text: string) => warnings.push(text) };
const card = { id: "scripted/x" } as ModelCard;
const hello: EventBody = { type: "user_message", content: [{ type: "text", text: "Fix the tests, please" }] };

function startedIn(cwd: string, { id, folder }: OpenSession): EventBody {
  const fixed = { model: card, system: "s", tools: [], context: "raw" };
  return { type: "session_started", sessionId: id, cwd, folder, ...fixed };
}

function create(folder = cwd): OpenSession {
  const session = createSession({ root, cwd: folder, ...outside });
  sessions.push(session);
  session.log.append(startedIn(folder, session));
  return session;
}

function reopen(choice: { id?: string; newest?: boolean; cwd?: string } = { newest: true }): OpenSession {
  const session = openSession({ root, ...choice, ...outside });
  sessions.push(session);
  return session;
}

const fileOf = (session: OpenSession): string => join(session.folder, "events.jsonl");
const texts = (session: OpenSession): string[] =>
  session.log.events().map((event) => (event.type === "warning" ? event.text : event.type));
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** Another process that runs `code` with the store at hand, after its first line of output. */
async function otherProcess(
  code: string,
  command: string[] = [],
): Promise<{ child: ChildProcess; line: string }> {
  const store = new URL("../../src/session/store.ts", import.meta.url).href;
  const script = `import * as store from ${JSON.stringify(store)};
    const root = ${JSON.stringify(root)}, cwd = ${JSON.stringify(cwd)};
    const outside = { clock: Date.now, warn: (text) => console.log("warned: " + text) };
    ${code}`;
  const args = ["--input-type=module", "--experimental-strip-types", "--no-warnings", "-e", script];
  const [program = process.execPath, ...rest] = [...command, process.execPath, ...args];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  let line = "";
  for await (const chunk of child.stdout ?? []) {
    line += chunk;
    if (line.includes("\n")) break;
  }
  return { child, line: line.trim() };
}

describe("a new session", () => {
  test("keeps its files private and its id sorts by time", () => {
    const session = create();
    expect(session.id).toMatch(/^20261120-111530-[0-9a-f]{6}$/);
    const file = session.artifacts.create("txt");
    expect([session.folder, join(session.folder, ".."), root, session.artifacts.folder].map(modeOf)).toEqual(
      Array(4).fill("700"),
    );
    expect([fileOf(session), file].map(modeOf)).toEqual(["600", "600"]);
  });

  test("writes an event before listeners hear of it, and remembers what a reader will read", () => {
    const session = create();
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
    expect(reopen().log.events()).toStrictEqual(session.log.events());
  });

  test("a listener that throws is reported, and the others still hear", () => {
    const session = create();
    const heard: string[] = [];
    session.log.subscribe(() => {
      throw new Error("broken screen");
    });
    const stop = session.log.subscribe((event) => heard.push(event.type));
    session.log.append(hello);
    stop();
    session.log.append(hello);
    expect(heard).toEqual(["user_message"]);
    expect(warnings[0]).toContain("broken screen");
    expect(session.log.events()).toHaveLength(3);
  });

  test("that never got an event leaves nothing behind", () => {
    const session = createSession({ root, cwd, ...outside });
    session.close();
    session.close();
    expect(existsSync(session.folder)).toBe(false);
  });

  test("is kept in a private temp folder, with one warning, when the root cannot be written", () => {
    writeFileSync(root, "a file where the folder should be");
    const session = create();
    session.log.append(hello);
    expect(session.folder.startsWith(base)).toBe(false);
    expect(modeOf(join(session.folder, "../.."))).toBe("700");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(root);
  });
});

describe("a damaged log", () => {
  test("with a cut last line loses only that line, and the next event is whole", () => {
    const session = create();
    session.log.append(hello);
    session.log.append({ type: "warning", text: "cut me" });
    session.close();
    truncateSync(fileOf(session), statSync(fileOf(session)).size - 10);
    const again = reopen();
    expect(texts(again)).toEqual(["session_started", "user_message"]);
    expect(warnings).toEqual([expect.stringMatching(/\d+ bytes .* dropped/)]);
    again.log.append({ type: "warning", text: "after" });
    again.close();
    warnings = [];
    expect(texts(reopen())).toEqual(["session_started", "user_message", "after"]);
    expect(warnings).toEqual([]);
  });

  test("cut at any byte opens with every whole event before the cut", () => {
    const session = create();
    session.log.append(hello);
    session.log.append({ type: "warning", text: "ünïcödé 🟢" });
    session.close();
    const whole = readFileSync(fileOf(session));
    const firstLine = whole.indexOf(10);
    for (let size = firstLine; size <= whole.length; size++) {
      writeFileSync(fileOf(session), whole.subarray(0, size));
      const kept =
        whole
          .subarray(0, size + 1)
          .toString("latin1")
          .split("\n").length - 1;
      const again = openSession({ root, newest: true, ...outside });
      expect(again.log.events()).toHaveLength(Math.max(1, kept));
      again.log.append({ type: "warning", text: "next" });
      again.close();
      warnings = [];
      expect(readSession({ root, newest: true, ...outside }).events).toHaveLength(Math.max(1, kept) + 1);
      expect(warnings).toEqual([]);
    }
  });

  test("with garbage in the middle keeps the other events under their own numbers", () => {
    const session = create();
    for (const text of ["one", "two", "three"]) session.log.append({ type: "warning", text });
    session.close();
    const [first, one, , three] = readFileSync(fileOf(session), "utf8").split("\n");
    const garbage = "\u0000\u0000 not json {{{";
    writeFileSync(
      fileOf(session),
      [first, one, garbage, '{"seq":3,"at":1,"type":"user_message"}', three, ""].join("\n"),
    );
    const again = reopen();
    expect(again.log.events().map((event) => event.seq)).toEqual([0, 1, 3]);
    expect(warnings).toEqual([expect.stringContaining(`${garbage.length + 38} bytes`)]);
    expect(again.log.append(hello).seq).toBe(4);
  });

  test("whose beginning is gone is refused with a sentence", () => {
    const session = create();
    session.close();
    writeFileSync(fileOf(session), "garbage\n");
    expect(() => reopen({ id: session.id })).toThrow(SessionError);
    expect(() => reopen({ id: session.id })).toThrow(/beginning .* is damaged/);
  });

  test("events of a newer version stay in the file and are ignored with one warning", () => {
    const session = create();
    session.close();
    appendFileSync(fileOf(session), '{"seq":1,"at":1,"type":"dreamt"}\n{"seq":2,"at":1,"type":"dreamt"}\n');
    const again = reopen();
    expect(texts(again)).toEqual(["session_started"]);
    expect(warnings).toEqual([expect.stringContaining("dreamt")]);
    expect(again.log.append(hello).seq).toBe(3);
    expect(readFileSync(fileOf(again), "utf8")).toContain('"seq":2,"at":1,"type":"dreamt"');
  });

  test("by hand, with a call that has no result, opens", () => {
    const session = create();
    session.close();
    const call = { type: "tool_use", id: "toolu_1", name: "bash", input: {} };
    const event = {
      seq: 1,
      at: 2,
      type: "assistant_message",
      content: [call],
      stopReason: "tool_use",
      usage: {},
    };
    appendFileSync(fileOf(session), `${JSON.stringify(event)}\n`);
    expect(texts(reopen())).toEqual(["session_started", "assistant_message"]);
    expect(warnings).toEqual([]);
  });
});

describe("one writer", () => {
  const hold = `const session = store.openSession({ root, newest: true, ...outside });
    console.log("holding"); setInterval(() => {}, 1000);`;

  test("a session that a live process writes is refused, naming it and --fork", async () => {
    const session = create();
    session.close();
    const { child, line } = await otherProcess(hold);
    expect(line).toBe("holding");
    const attempt = () => reopen({ id: session.id });
    expect(attempt).toThrow(SessionLocked);
    expect(attempt).toThrow(new RegExp(`${child.pid}.*--fork`));
    expect(readSession({ root, id: session.id, ...outside }).events).toHaveLength(1);
    sessions.push(forkSession({ root, id: session.id, ...outside }));
    await killed(child);
    expect(texts(reopen({ id: session.id }))).toEqual(["session_started"]);
  });

  test("the same process cannot open a session twice, and can after closing it", () => {
    const session = create();
    expect(() => reopen()).toThrow(SessionLocked);
    session.close();
    expect(reopen().id).toBe(session.id);
  });

  test("a lock whose process id was given to another process is stale", () => {
    const session = create();
    session.close();
    writeFileSync(join(session.folder, "lock.1.1"), "");
    expect(reopen().id).toBe(session.id);
    expect(readdirSync(session.folder).filter((name) => name.startsWith("lock"))).toHaveLength(1);
  });

  test("of several processes that race for a dead one's session exactly one wins", async () => {
    const session = create();
    session.close();
    writeFileSync(join(session.folder, "lock.999999999.1"), "");
    const race = `const at = ${Date.now() + 1500}; while (Date.now() < at);
      try { store.openSession({ root, newest: true, ...outside }); console.log("won"); }
      catch (error) { console.log(error.name); }
      setInterval(() => {}, 1000);`;
    const lines = await Promise.all([1, 2, 3, 4].map(async () => (await otherProcess(race)).line));
    expect(lines.sort()).toEqual(["SessionLocked", "SessionLocked", "SessionLocked", "won"]);
  });

  test("a process killed while it appends leaves a log that opens with all but the last event", async () => {
    create().close();
    const { child } =
      await otherProcess(`const session = store.openSession({ root, newest: true, ...outside });
      console.log("writing");
      for (;;) session.log.append({ type: "warning", text: "x".repeat(3000) });`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await killed(child);
    const again = reopen();
    const seqs = again.log.events().map((event) => event.seq);
    expect(seqs.length).toBeGreaterThan(1);
    expect(seqs).toEqual(seqs.map((_, index) => index));
  });
});

describe("a disk that refuses", () => {
  test("is warned of once; the run goes on, and everything is saved once there is room again", async () => {
    create().close();
    // A limit on the file size stands for the full disk: the write that meets it is cut short, like there.
    const { line } = await otherProcess(
      `import { execFileSync } from "node:child_process";
      let warned = 0;
      const session = store.openSession({ root, newest: true, clock: Date.now, warn: () => warned++ });
      const add = (n) => session.log.append({ type: "warning", text: n + "y".repeat(1500) });
      for (let n = 0; n < 5; n++) add(n);
      execFileSync("prlimit", ["--pid", process.pid, "--fsize=unlimited:unlimited"]);
      add(5);
      session.close();
      console.log(JSON.stringify({ warned, inMemory: session.log.events().length }));`,
      ["prlimit", "--fsize=4096:unlimited"],
    );
    expect(JSON.parse(line)).toEqual({ warned: 1, inMemory: 7 });
    const again = reopen();
    expect(again.log.events().map((event) => event.seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(warnings).toEqual([]);
  });

  test("a session in a folder without write permission is continued elsewhere", async () => {
    const session = create();
    session.close();
    if (process.getuid?.() === 0) return; // root may write anywhere
    chmodSync(session.folder, 0o500);
    const again = reopen();
    again.log.append(hello);
    chmodSync(session.folder, 0o700);
    expect(again.log.events()).toHaveLength(2);
    expect(warnings).toHaveLength(1);
  });
});

describe("finding sessions", () => {
  test("the newest of a folder is the one that changed last, whatever other folders hold", () => {
    const other = join(base, "other");
    const mine = create();
    mine.close();
    now += 5000;
    const theirs = create(other);
    theirs.close();
    expect(reopen({ cwd, newest: true }).id).toBe(mine.id);
    expect(listSessions(root).map((one) => one.id)).toContain(theirs.id);
    expect(listSessions(root, other).map((one) => one.id)).toEqual([theirs.id]);
    expect(() => reopen({ cwd: join(base, "none"), newest: true })).toThrow(/no session is stored/);
  });

  test("a beginning of the id is enough when it is unique", () => {
    const first = create();
    now += 60_000;
    const second = create();
    first.close();
    second.close();
    expect(reopen({ id: second.id.slice(0, 13) }).id).toBe(second.id);
    expect(() => reopen({ id: "2026" })).toThrow(/fits 2 sessions/);
    expect(() => reopen({ id: "" })).toThrow(/no session begins/);
    expect(() => reopen({ id: "../../etc" })).toThrow(/no session begins/);
  });

  test("a summary has the first words and the number of turns", () => {
    const session = create();
    const [start] = session.log.events();
    session.log.append({ ...hello, preamble: [{ type: "text", text: "Today is Friday" }] } as EventBody);
    session.log.append({ type: "warning", text: '{"seq":1,"at":1,"type":"user_message"' });
    session.log.append({ type: "user_message", content: [{ type: "text", text: "and go on" }] });
    expect(listSessions(root, cwd)).toEqual([
      {
        id: session.id,
        folder: session.folder,
        cwd,
        title: "Fix the tests, please",
        started: start?.at,
        changed: expect.any(Number),
        turns: 2,
      },
    ]);
  });
});

describe("a fork", () => {
  test("begins with the first events of its parent and leaves the parent alone", () => {
    const parent = create();
    parent.log.append(hello);
    parent.log.append({ type: "warning", text: "not copied" });
    const before = readFileSync(fileOf(parent));
    const fork = forkSession({ root, id: parent.id, events: 2, ...outside });
    sessions.push(fork);
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
    expect(listSessions(root, cwd)).toHaveLength(2);
  });
});

describe("artifacts", () => {
  test("are numbered on from the highest, also after the session was opened again", () => {
    const session = create();
    expect(
      [session.artifacts.create("txt"), session.artifacts.create(".log")].map((file) => basename(file)),
    ).toEqual(["000001.txt", "000002.log"]);
    session.close();
    writeFileSync(join(session.artifacts.folder, "000041.txt"), "");
    writeFileSync(join(session.artifacts.folder, "notes"), "");
    expect(basename(reopen().artifacts.create("txt"))).toBe("000042.txt");
  });
});

test("a session of 40 MB opens soon", () => {
  const session = create();
  session.close();
  const line = (seq: number): string =>
    `${JSON.stringify({ seq, at: seq, type: "tool_result", toolUseId: `t${seq}`, toolName: "bash", content: "väl ".repeat(2000), isError: false })}\n`;
  appendFileSync(fileOf(session), Array.from({ length: 4200 }, (_, index) => line(index + 1)).join(""));
  expect(statSync(fileOf(session)).size).toBeGreaterThan(40e6);
  const before = Date.now();
  expect(reopen().log.events()).toHaveLength(4201);
  expect(Date.now() - before).toBeLessThan(3000);
});
