/** Stored sessions: found, listed, and their artifacts. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import { type ModelCard, noUsage } from "../../src/core/model-card.ts";
import { spending } from "../../src/core/questions.ts";
import { ancestorFolders, findSession, listSessions } from "../../src/session/listing.ts";
import { hello, makeStoreFixture, modeOf, type StoreFixture } from "./store-fixture.ts";

let fixture: StoreFixture;

beforeEach(() => {
  fixture = makeStoreFixture();
});

afterEach(() => fixture.clean());

describe("finding sessions", () => {
  test("the newest of a folder is the one that changed last, whatever other folders hold", async () => {
    const other = join(fixture.base, "other");
    const mine = await fixture.create();
    mine.close();
    fixture.wait(5000);
    const theirs = await fixture.create(other);
    theirs.close();
    expect((await fixture.open({ cwd: fixture.cwd, newest: true })).id).toBe(mine.id);
    expect(listSessions(fixture.root).map((one) => one.id)).toContain(theirs.id);
    expect(listSessions(fixture.root, other).map((one) => one.id)).toEqual([theirs.id]);
    await expect(fixture.open({ cwd: join(fixture.base, "none"), newest: true })).rejects.toThrow(
      /no session is stored/,
    );
  });

  test("a beginning of the id is enough when it is unique", async () => {
    const first = await fixture.create();
    fixture.wait(60_000);
    const second = await fixture.create();
    first.close();
    second.close();
    expect((await fixture.open({ id: second.id.slice(0, 13) })).id).toBe(second.id);
    await expect(fixture.open({ id: "2026" })).rejects.toThrow(/matches 2 sessions/);
    await expect(fixture.open({ id: "" })).rejects.toThrow(/no session has the id/);
    await expect(fixture.open({ id: "../../etc" })).rejects.toThrow(/no session has the id/);
  });

  test("a summary has the first words and the number of turns", async () => {
    const session = await fixture.create();
    const [start] = session.log.events();
    session.log.append({ ...hello, preamble: [{ type: "text", text: "Today is Friday" }] } as EventBody);
    session.log.append({ type: "warning", text: '{"seq":1,"at":1,"type":"user_message"' });
    session.log.append({ type: "user_message", content: [{ type: "text", text: "and go on" }] });
    expect(listSessions(fixture.root, fixture.cwd)).toEqual([
      {
        id: session.id,
        folder: session.folder,
        cwd: fixture.cwd,
        title: "Fix the tests, please",
        started: start?.at,
        changed: expect.any(Number),
        turns: 2,
        cost: 0,
      },
    ]);
  });

  test("costs what its replies cost, each at the prices of its model, whatever they hold", async () => {
    const session = await fixture.create();
    const usage = { ...noUsage, inputTokens: 1000, outputTokens: 100 };
    const input = { usage: { inputTokens: 9e9 }, text: '"usage":{"inputTokens":1}}' };
    const said = { stopReason: "", usage, model: "m", durationMs: 1 };
    const card = { id: "m", prices: { input: 3, output: 15, cacheRead: 0.3 } } as ModelCard;
    for (const factor of [1, 2]) {
      const prices = { ...card.prices, input: 3 * factor, output: 15 * factor };
      session.log.append({ type: "model_changed", model: { ...card, prices } });
      const content = [{ type: "tool_use" as const, id: `${factor}`, name: "bash", input }];
      session.log.append({ type: "assistant_message", content, ...said });
    }
    const [listed] = listSessions(fixture.root, fixture.cwd);
    expect(listed?.cost).toBeCloseTo(3 * 0.0045, 9);
    expect(listed?.cost).toBeCloseTo(spending(session.log.events()).cost, 9);
  });

  test("know the sessions they were branched from, the nearest first", async () => {
    const first = await fixture.create();
    first.log.append(hello);
    first.close();
    const second = await fixture.fork(first.id);
    second.close();
    const third = await fixture.fork(second.id);
    expect(ancestorFolders(third.folder, second.id)).toEqual([second.folder, first.folder]);
    expect(ancestorFolders(first.folder, undefined)).toEqual([]);
  });

  test("are found by a name: in the folder worked in before all others, and not when several have it", async () => {
    const other = join(fixture.base, "other");
    mkdirSync(other);
    const [here, there, second] = [
      await fixture.create(),
      await fixture.create(other),
      await fixture.create(),
    ];
    for (const session of [here, there]) session.log.append({ type: "session_named", name: "the parser" });
    const find = (cwd?: string) =>
      findSession({ root: fixture.root, id: "the parser", ...(cwd ? { cwd } : {}) });
    expect(find(fixture.cwd)).toBe(here.folder);
    expect(find(other)).toBe(there.folder);
    expect(find).toThrow(/2 sessions are called "the parser": choose one by its id: .*2026/);
    second.log.append({ type: "session_named", name: "the parser" });
    expect(() => find(fixture.cwd)).toThrow(/2 sessions are called/);
    here.log.append({ type: "session_named", name: "" });
    expect(find(fixture.cwd)).toBe(second.folder);
    expect(() => findSession({ root: fixture.root, id: "parser" })).toThrow(
      /no session has the id or name "parser"/,
    );
  });
});

describe("artifacts", () => {
  test("hold the text they are written with, in a private temp folder once the disk refuses", async () => {
    const { artifacts } = await fixture.create();
    expect(readFileSync(artifacts.write("txt", "whole output 🟢"), "utf8")).toBe("whole output 🟢");
    rmSync(artifacts.folder, { recursive: true });
    const files = [artifacts.write("txt", "more"), artifacts.create("txt")];
    expect(files.map((file) => [readFileSync(file, "utf8"), modeOf(file), modeOf(dirname(file))])).toEqual([
      ["more", "600", "700"],
      ["", "600", "700"],
    ]);
    expect(fixture.warnings).toEqual([expect.stringContaining(artifacts.folder)]);
    for (const file of files) rmSync(dirname(file), { recursive: true, force: true });
  });

  test("are numbered on from the highest, also after the session was opened again", async () => {
    const session = await fixture.create();
    expect(
      [session.artifacts.create("txt"), session.artifacts.create(".log")].map((file) => basename(file)),
    ).toEqual(["000001.txt", "000002.log"]);
    session.close();
    writeFileSync(join(session.artifacts.folder, "000041.txt"), "");
    writeFileSync(join(session.artifacts.folder, "notes"), "");
    expect(basename((await fixture.open()).artifacts.create("txt"))).toBe("000042.txt");
  });
});
