/** Snapshots over real folders: what they hold, what they cost, and what an undo makes of them. */

import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Snapshots } from "../../src/core/undo-port.ts";
import { openSnapshots } from "../../src/undo/snapshots.ts";
import { putIn, treeOf } from "../support/tree.ts";

let base: string;
let work: string;
let warnings: string[];
let step: number;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "snapshots-test-")));
  work = join(base, "work");
  mkdirSync(work);
  warnings = [];
  step = 0;
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const store = () => join(base, "session", "snapshots");

function open(): Snapshots {
  const outside = { clock: Date.now, warn: (text: string) => warnings.push(text) };
  return openSnapshots({ folder: store(), roots: [work], except: [], ...outside });
}

/** A step that does `change`, in the turn that the user message `turn` began. */
async function during(
  snapshots: Snapshots,
  change: () => void,
  turn = 1,
  named: string[] = [],
): Promise<void> {
  step += 1;
  await snapshots.take({ turn, step, label: `step ${step}`, named });
  change();
}

const put = (name: string, text?: string | Buffer): string => putIn(work, name, text);
const all = (folder = work): string[] => treeOf(folder);

describe("a snapshot", () => {
  test("sees a change that keeps size and time, also in the tick of the snapshot", async () => {
    const snapshots = open();
    const path = put("a", "one");
    const { atime, mtime } = statSync(path);
    await during(snapshots, () => {
      writeFileSync(path, "two");
      utimesSync(path, atime, mtime);
    });
    await during(snapshots, () => writeFileSync(path, "six"));
    await snapshots.settle();
    const rows = await snapshots.list();
    expect(rows.map(({ files }) => files)).toEqual([
      [{ path, status: "changed" }],
      [{ path, status: "changed" }],
    ]);
    await snapshots.close();
  });

  test("is taken once a step, and one more when a call names what it does not cover", async () => {
    const snapshots = open();
    const outside = join(base, "outside.txt");
    await during(snapshots, () => put("a"));
    step -= 1;
    await during(snapshots, () => put("b"));
    step -= 1;
    await during(snapshots, () => writeFileSync(outside, "x"), 1, [outside]);
    expect(await snapshots.list()).toHaveLength(2);
    await snapshots.undo();
    expect([all(), existsSync(outside)]).toEqual([[], false]);
    await snapshots.close();
  });

  test("leaves out large caches that git ignores, and an undo leaves them where they are", async () => {
    put(".gitignore", "cache\nsmall\n");
    mkdirSync(join(work, ".git"));
    put(".git/HEAD", "ref: refs/heads/main\n");
    for (const folder of ["refs", "objects"]) mkdirSync(join(work, ".git", folder));
    for (let index = 0; index < 1100; index++) put(`cache/${index}`, "");
    const small = put("small/kept.log");
    const snapshots = open();
    await during(snapshots, () => {
      rmSync(small);
      put("cache/new");
      put("a");
    });
    expect((await snapshots.list())[0]?.files.map(({ path }) => path)).toEqual(
      [join(work, "a"), small].sort(),
    );
    expect(await snapshots.undo()).toMatchObject({ lost: [] });
    expect(readFileSync(small, "utf8")).toBe("small/kept.log");
    expect([existsSync(join(work, "cache/new")), existsSync(join(work, "a"))]).toEqual([true, false]);
    await snapshots.close();
  });

  test("of a folder that is too large covers what edits name, and says so once", async () => {
    for (let index = 0; index < 53; index++) truncateSync(put(`${index}.bin`), 10 * 2 ** 20);
    const snapshots = open();
    await during(snapshots, () => put("0.bin", "changed"), 1, [join(work, "0.bin")]);
    await during(snapshots, () => put("1.bin", "changed"));
    await snapshots.undo();
    expect([statSync(join(work, "0.bin")).size, statSync(join(work, "1.bin")).size]).toEqual([
      10 * 2 ** 20,
      7,
    ]);
    expect(warnings).toEqual([expect.stringMatching(/too large to keep snapshots/)]);
    await snapshots.close();
  });

  test("that fails is a warning, once", async () => {
    mkdirSync(dirname(store()), { recursive: true });
    writeFileSync(store(), "in the way");
    const snapshots = open();
    await during(snapshots, () => put("a"));
    await during(snapshots, () => put("b"));
    await snapshots.close();
    expect(warnings).toEqual([expect.stringMatching(/no more snapshots for undo/)]);
    expect(existsSync(join(work, "b"))).toBe(true);
  });
});

describe("what is stored", () => {
  test("is for the owner only, and at rest holds only what changed", async () => {
    const big = Buffer.alloc(300_000, "x");
    put("unchanged", big);
    put("changed", "before");
    const snapshots = open();
    await during(snapshots, () => put("changed", "after"));
    await snapshots.close();
    const files = readdirSync(store()).map((name) => join(store(), name));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o600));
    expect(statSync(store()).mode & 0o777).toBe(0o700);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(10_000);
    const again = open();
    expect(await again.undo()).toMatchObject({ lost: [] });
    expect(readFileSync(join(work, "changed"), "utf8")).toBe("before");
    await again.close();
  });

  test("is nothing when nothing changed", async () => {
    put("a");
    const snapshots = open();
    snapshots.prepare();
    await during(snapshots, () => {});
    await snapshots.close();
    expect(existsSync(store())).toBe(false);
  });

  test("survives a line that was cut while it was written", async () => {
    const path = put("a", "before");
    const killed = open();
    await during(killed, () => put("a", "after"));
    await killed.settle();
    appendFileSync(join(store(), "journal.jsonl"), '{"n":2,"kind":"st');
    const snapshots = open();
    await during(snapshots, () => put("b"), 2);
    await snapshots.undo();
    await snapshots.undo();
    expect([readFileSync(path, "utf8"), existsSync(join(work, "b"))]).toEqual(["before", false]);
    await snapshots.close();
  });
});

describe("an undo", () => {
  test("brings back folders with their modes, links and empty folders, and takes new ones away", async () => {
    put("deep/er/file");
    mkdirSync(join(work, "empty"), { mode: 0o750 });
    symlinkSync("deep/er", join(work, "link"));
    chmodSync(join(work, "deep/er"), 0o700);
    const before = all();
    const snapshots = open();
    await during(snapshots, () => {
      for (const name of ["deep", "empty", "link"]) rmSync(join(work, name), { recursive: true });
      put("deep", "now a file");
      put("link/now/a/folder");
      chmodSync(work, 0o755);
    });
    expect(await snapshots.undo()).toMatchObject({ lost: [] });
    expect(all()).toEqual(before);
    await snapshots.close();
  });

  test("keeps the other names of a file, and what others put into a new folder", async () => {
    const path = put("one", "before");
    linkSync(path, join(work, "two"));
    const snapshots = open();
    await during(snapshots, () => {
      writeFileSync(path, "after");
      put("made/by-agent");
    });
    await snapshots.settle();
    put("made/by-person");
    await snapshots.undo();
    expect(readFileSync(join(work, "two"), "utf8")).toBe("before");
    expect(statSync(path).nlink).toBe(2);
    expect(readdirSync(join(work, "made"))).toEqual(["by-person"]);
    await snapshots.close();
  });

  test("that was cut off is brought to its end by the next", async () => {
    put("a", "one");
    const snapshots = open();
    await during(snapshots, () => put("a", "two"), 1);
    await snapshots.settle();
    await during(snapshots, () => put("a", "three"), 2);
    await snapshots.settle();
    const cut = {
      n: 4,
      at: 1,
      kind: "undo",
      turn: 2,
      label: "",
      to: 2,
      roots: [work],
      named: [],
      git: {},
      changes: {},
    };
    appendFileSync(join(store(), "journal.jsonl"), `${JSON.stringify(cut)}\n`);
    const later = open();
    await later.undo();
    expect(readFileSync(join(work, "a"), "utf8")).toBe("two");
    await later.close();
  });
});
