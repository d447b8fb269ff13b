import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { followLog } from "../../src/session/follow.ts";
import { memoryLog, started, user } from "../support/logs.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-follow-"));
  file = join(folder, "events.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lines = (...texts: string[]) =>
  memoryLog([started(), ...texts.map(user)])
    .events()
    .map((event) => `${JSON.stringify(event)}\n`);
const seqs = ({ events }: { events: { seq: number }[] }) => events.map(({ seq }) => seq);

test("each line is read once, when it is whole, also one that is cut inside a character", () => {
  const look = followLog(file);
  expect(look()).toEqual({ events: [], replaced: false });
  const [first = "", second = "", third = ""] = lines("a", "zwölf");
  writeFileSync(file, first);
  expect(seqs(look())).toEqual([0]);
  const bytes = Buffer.from(third);
  const middle = bytes.indexOf(0xc3) + 1;
  appendFileSync(file, Buffer.concat([Buffer.from(second), bytes.subarray(0, middle)]));
  expect(seqs(look())).toEqual([1]);
  expect(seqs(look())).toEqual([]);
  appendFileSync(file, bytes.subarray(middle));
  const { events } = look();
  expect(JSON.stringify(events)).toContain("zwölf");
});

test("damaged lines, lines of a newer version and lines of old cost only themselves", () => {
  const [first = "", second = "", third = ""] = lines("a", "b");
  const odd = ["no json\n", "\n", '{"seq":1,"at":0,"type":"user_message"}\n', "\u0000\n", first];
  writeFileSync(file, [first, ...odd, second, '{"seq":2,"at":0,"type":"of_the_future"}\n', third].join(""));
  // The event of the future has the seq of the third, which is then one of old, as for a reader of the whole log.
  expect(seqs(followLog(file)())).toEqual([0, 1]);
});

test("a file that was replaced or cut is read from its beginning; one that is gone has nothing new", () => {
  const look = followLog(file);
  writeFileSync(file, lines("a", "b").join(""));
  look();
  writeFileSync(file, lines("c").join(""));
  expect(look()).toMatchObject({ replaced: true, events: [{ seq: 0 }, { seq: 1 }] });
  writeFileSync(join(folder, "new"), lines("a", "b", "c", "d").join(""));
  renameSync(join(folder, "new"), file);
  expect(look()).toMatchObject({ replaced: true, events: { length: 5 } });
  rmSync(file);
  expect(look()).toEqual({ events: [], replaced: false });
});
