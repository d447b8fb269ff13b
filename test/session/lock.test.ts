/** One writer per session, with real processes. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SessionLocked } from "../../src/session/errors.ts";
import { readSession } from "../../src/session/store.ts";
import { until } from "../support/until.ts";
import { fileOf, killed, makeStoreFixture, type StoreFixture, texts } from "./store-fixture.ts";

let fixture: StoreFixture;

beforeEach(() => {
  fixture = makeStoreFixture();
});

afterEach(() => fixture.clean());

describe("one writer", () => {
  const hold = `const session = store.openSession({ root, newest: true, ...outside });
    console.log("holding"); setInterval(() => {}, 1000);`;

  test("a session that a live process writes is refused, naming it and --fork", async () => {
    const session = fixture.create();
    session.close();
    const { child, line } = await fixture.process(hold);
    expect(line).toBe("holding");
    const attempt = () => fixture.open({ id: session.id });
    expect(attempt).toThrow(SessionLocked);
    expect(attempt).toThrow(new RegExp(`${child.pid}.*--fork`));
    expect(readSession({ root: fixture.root, id: session.id, ...fixture.outside }).events).toHaveLength(1);
    fixture.fork(session.id);
    await killed(child);
    expect(texts(fixture.open({ id: session.id }))).toEqual(["session_started"]);
  });

  test("the same process cannot open a session twice, and can after closing it", () => {
    const session = fixture.create();
    expect(() => fixture.open()).toThrow(SessionLocked);
    session.close();
    expect(fixture.open().id).toBe(session.id);
  });

  test("a lock whose process id was given to another process is stale", () => {
    const session = fixture.create();
    session.close();
    writeFileSync(join(session.folder, "lock.1.1"), "");
    expect(fixture.open().id).toBe(session.id);
    expect(readdirSync(session.folder).filter((name) => name.startsWith("lock"))).toHaveLength(1);
  });

  test("of several processes that race for a dead one's session exactly one wins", async () => {
    const session = fixture.create();
    session.close();
    writeFileSync(join(session.folder, "lock.999999999.1"), "");
    // Each says that it is ready, then looks for the file that lets all of them go.
    const race = `const { existsSync, writeFileSync } = await import("node:fs");
      writeFileSync(cwd + "/ready-" + process.pid, "");
      while (!existsSync(cwd + "/go"));
      try { store.openSession({ root, newest: true, ...outside }); console.log("won"); }
      catch (error) { console.log(error.name); }
      setInterval(() => {}, 1000);`;
    const racing = [1, 2, 3, 4].map(async () => (await fixture.process(race)).line);
    await until(() => readdirSync(fixture.cwd).length === 4, "four processes");
    writeFileSync(join(fixture.cwd, "go"), "");
    const lines = await Promise.all(racing);
    expect(lines.sort()).toEqual(["SessionLocked", "SessionLocked", "SessionLocked", "won"]);
  });

  test("a process killed while it appends leaves a log that opens with all but the last event", async () => {
    const session = fixture.create();
    session.close();
    const { child } =
      await fixture.process(`const session = store.openSession({ root, newest: true, ...outside });
      console.log("writing");
      for (;;) session.log.append({ type: "warning", text: "x".repeat(3000) });`);
    await until(() => statSync(fileOf(session)).size > 30_000, "some events");
    await killed(child);
    const again = fixture.open();
    const seqs = again.log.events().map((event) => event.seq);
    expect(seqs.length).toBeGreaterThan(1);
    expect(seqs).toEqual(seqs.map((_, index) => index));
  });
});
