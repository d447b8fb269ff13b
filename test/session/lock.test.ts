/** One writer per session, with real processes. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { machineName } from "../../src/disk/process-name.ts";
import { SessionLocked } from "../../src/session/errors.ts";
import { readSession } from "../../src/session/store.ts";
import { foreignClaim } from "../support/foreign-claim.ts";
import { until } from "../support/until.ts";
import { fileOf, killed, makeStoreFixture, type StoreFixture, texts } from "./store-fixture.ts";

let fixture: StoreFixture;

beforeEach(() => {
  fixture = makeStoreFixture();
});

afterEach(() => fixture.clean());

describe("one writer", () => {
  const hold = `const session = await store.openSession({ root, newest: true, ...outside });
    console.log("holding"); setInterval(() => {}, 1000);`;

  test("a session that a live process writes is refused, naming it and --fork", async () => {
    const session = await fixture.create();
    session.close();
    const { child, line } = await fixture.process(hold);
    expect(line).toBe("holding");
    const attempt = () => fixture.open({ id: session.id });
    await expect(attempt()).rejects.toThrow(SessionLocked);
    await expect(attempt()).rejects.toThrow(new RegExp(`${child.pid}.*--fork`));
    expect(readSession({ root: fixture.root, id: session.id, ...fixture.outside }).events).toHaveLength(1);
    await fixture.fork(session.id);
    await killed(child);
    expect(texts(await fixture.open({ id: session.id }))).toEqual(["session_started"]);
  });

  test("the same process cannot open a session twice, and can after closing it", async () => {
    const session = await fixture.create();
    await expect(fixture.open()).rejects.toThrow(SessionLocked);
    session.close();
    expect((await fixture.open()).id).toBe(session.id);
  });

  test("a lock whose process id was given to another process is stale", async () => {
    const session = await fixture.create();
    session.close();
    writeFileSync(join(session.folder, `claim.${machineName()}.1.1`), "");
    expect((await fixture.open()).id).toBe(session.id);
    expect(readdirSync(session.folder).filter((name) => name.startsWith("claim"))).toHaveLength(1);
  });

  test("a session that another machine writes is refused, naming process and machine", async () => {
    const session = await fixture.create();
    session.close();
    const other = foreignClaim(session.folder);
    const timer = setInterval(other.write, 50);
    onTestFinished(() => clearInterval(timer));
    await expect(fixture.open()).rejects.toThrow(/in use by process 7 on far: .*--fork/);
    expect(fixture.warnings).toEqual([expect.stringContaining("was in use on far")]);
    expect(readdirSync(session.folder)).toContain(other.name);
  });

  test("a session that another machine took meanwhile is written by that one alone", async () => {
    const { line } = await fixture.process(`
      const { readdirSync, readFileSync, rmSync } = await import("node:fs");
      const warnings = [];
      const warn = (text) => warnings.push(text);
      const session = await store.createSession({ root, cwd, clock: Date.now, warn });
      const add = (text) => session.log.append({ type: "warning", text });
      add("ours");
      rmSync(session.folder + "/" + readdirSync(session.folder).find((name) => name.startsWith("claim.")));
      // As after a long sleep of this machine.
      const now = Date.now;
      Date.now = () => now() + 60_000;
      add("late");
      add("later");
      const saved = readFileSync(session.folder + "/events.jsonl", "utf8").match(/ours|late/g);
      console.log(JSON.stringify({ saved, warnings }));`);
    expect(JSON.parse(line)).toEqual({
      saved: ["ours"],
      warnings: [expect.stringMatching(/^another machine continues this session/)],
    });
  });

  test("of several processes that race for a dead one's session exactly one wins", async () => {
    const session = await fixture.create();
    session.close();
    writeFileSync(join(session.folder, `claim.${machineName()}.999999999.1`), "");
    // Each says that it is ready, then looks for the file that lets all of them go.
    const race = `const { existsSync, writeFileSync } = await import("node:fs");
      writeFileSync(cwd + "/ready-" + process.pid, "");
      while (!existsSync(cwd + "/go"));
      try { await store.openSession({ root, newest: true, ...outside }); console.log("won"); }
      catch (error) { console.log(error.name); }
      setInterval(() => {}, 1000);`;
    const racing = [1, 2, 3, 4].map(async () => (await fixture.process(race)).line);
    await until(() => readdirSync(fixture.cwd).length === 4, "four processes");
    writeFileSync(join(fixture.cwd, "go"), "");
    const lines = await Promise.all(racing);
    expect(lines.sort()).toEqual(["SessionLocked", "SessionLocked", "SessionLocked", "won"]);
  });

  test("a process killed while it appends leaves a log that opens with all but the last event", async () => {
    const session = await fixture.create();
    session.close();
    const { child } =
      await fixture.process(`const session = await store.openSession({ root, newest: true, ...outside });
      console.log("writing");
      for (;;) session.log.append({ type: "warning", text: "x".repeat(3000) });`);
    await until(() => statSync(fileOf(session)).size > 30_000, "some events");
    await killed(child);
    const again = await fixture.open();
    const seqs = again.log.events().map((event) => event.seq);
    expect(seqs.length).toBeGreaterThan(1);
    expect(seqs).toEqual(seqs.map((_, index) => index));
  });
});
