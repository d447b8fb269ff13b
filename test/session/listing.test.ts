/** Stored sessions: found, listed, and their artifacts. */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import { listSessions } from "../../src/session/listing.ts";
import { hello, makePlace, modeOf, type Place } from "./place.ts";

let place: Place;

beforeEach(() => {
  place = makePlace();
});

afterEach(() => place.clean());

describe("finding sessions", () => {
  test("the newest of a folder is the one that changed last, whatever other folders hold", () => {
    const other = join(place.base, "other");
    const mine = place.create();
    mine.close();
    place.wait(5000);
    const theirs = place.create(other);
    theirs.close();
    expect(place.open({ cwd: place.cwd, newest: true }).id).toBe(mine.id);
    expect(listSessions(place.root).map((one) => one.id)).toContain(theirs.id);
    expect(listSessions(place.root, other).map((one) => one.id)).toEqual([theirs.id]);
    expect(() => place.open({ cwd: join(place.base, "none"), newest: true })).toThrow(/no session is stored/);
  });

  test("a beginning of the id is enough when it is unique", () => {
    const first = place.create();
    place.wait(60_000);
    const second = place.create();
    first.close();
    second.close();
    expect(place.open({ id: second.id.slice(0, 13) }).id).toBe(second.id);
    expect(() => place.open({ id: "2026" })).toThrow(/fits 2 sessions/);
    expect(() => place.open({ id: "" })).toThrow(/no session begins/);
    expect(() => place.open({ id: "../../etc" })).toThrow(/no session begins/);
  });

  test("a summary has the first words and the number of turns", () => {
    const session = place.create();
    const [start] = session.log.events();
    session.log.append({ ...hello, preamble: [{ type: "text", text: "Today is Friday" }] } as EventBody);
    session.log.append({ type: "warning", text: '{"seq":1,"at":1,"type":"user_message"' });
    session.log.append({ type: "user_message", content: [{ type: "text", text: "and go on" }] });
    expect(listSessions(place.root, place.cwd)).toEqual([
      {
        id: session.id,
        folder: session.folder,
        cwd: place.cwd,
        title: "Fix the tests, please",
        started: start?.at,
        changed: expect.any(Number),
        turns: 2,
      },
    ]);
  });
});

describe("artifacts", () => {
  test("hold the text they are written with, in a private temp folder once the disk refuses", () => {
    const { artifacts } = place.create();
    expect(readFileSync(artifacts.write("txt", "whole output 🟢"), "utf8")).toBe("whole output 🟢");
    rmSync(artifacts.folder, { recursive: true });
    const files = [artifacts.write("txt", "more"), artifacts.create("txt")];
    expect(files.map((file) => [readFileSync(file, "utf8"), modeOf(file), modeOf(dirname(file))])).toEqual([
      ["more", "600", "700"],
      ["", "600", "700"],
    ]);
    expect(place.warnings).toEqual([expect.stringContaining(artifacts.folder)]);
    for (const file of files) rmSync(dirname(file), { recursive: true, force: true });
  });

  test("are numbered on from the highest, also after the session was opened again", () => {
    const session = place.create();
    expect(
      [session.artifacts.create("txt"), session.artifacts.create(".log")].map((file) => basename(file)),
    ).toEqual(["000001.txt", "000002.log"]);
    session.close();
    writeFileSync(join(session.artifacts.folder, "000041.txt"), "");
    writeFileSync(join(session.artifacts.folder, "notes"), "");
    expect(basename(place.open().artifacts.create("txt"))).toBe("000042.txt");
  });
});
