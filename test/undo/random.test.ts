/** Random steps over a random folder: any snapshot is gone back to, byte for byte, and forth again. */

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSnapshots } from "../../src/undo/snapshots.ts";
import { seededRandom } from "../support/random.ts";
import { putIn, treeOf } from "../support/tree.ts";

let base: string;
let work: string;
let step = 0;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "snapshots-random-")));
  work = join(base, "work");
  mkdirSync(work);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open() {
  const outside = { clock: Date.now, warn: (text: string) => expect.fail(text) };
  return openSnapshots({ folder: join(base, "snapshots"), roots: [work], except: [], ...outside });
}

async function during(snapshots: ReturnType<typeof open>, change: () => void, turn: number): Promise<void> {
  step += 1;
  await snapshots.take({ turn, step, label: `step ${step}`, named: [] });
  change();
}

const put = (name: string, text?: string | Buffer): string => putIn(work, name, text);
const all = (folder = work): string[] => treeOf(folder);

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  "goes back to any snapshot, and forth again (%i)",
  async (seed) => {
    const random = seededRandom(seed);
    const pick = (most: number) => Math.floor(random() * most);
    for (let index = 0; index < 12; index++) put(`${pick(4)}/${pick(4)}`, `${seed} ${index}`);
    let snapshots = open();
    const states: string[][] = [];
    for (let turn = 1; turn <= 4; turn++) {
      states.push(all());
      await during(snapshots, () => mutate(pick), turn);
      if (pick(2) === 0) await during(snapshots, () => mutate(pick), turn);
      await snapshots.settle();
      if (pick(2) > 0) continue;
      await snapshots.close();
      snapshots = open();
    }
    const last = all();
    for (const turn of [3, 1, 4, 2]) {
      // A turn that changed nothing before a close may have left no snapshot.
      const to = (await snapshots.list()).find((row) => row.turn === turn)?.n;
      if (to === undefined) continue;
      expect(await snapshots.undo({ to })).toMatchObject({ lost: [] });
      expect(all()).toEqual(states[turn - 1]);
      await snapshots.undo({ redo: true });
      expect(all()).toEqual(last);
    }
    await snapshots.close();
  },
);

/** A few random changes: files written, removed, made links, chmodded; folders removed. */
function mutate(pick: (most: number) => number): void {
  for (let times = 1 + pick(6); times > 0; times--) {
    const [folder, path] = [join(work, `${pick(4)}`), join(work, `${pick(4)}`, `${pick(4)}`)];
    const kind = pick(6);
    if (kind === 0) rmSync(folder, { recursive: true, force: true });
    if (kind === 1) rmSync(path, { recursive: true, force: true });
    if (kind > 1) mkdirSync(dirname(path), { recursive: true });
    if (kind === 2) rmSync(path, { force: true });
    if (kind === 2) symlinkSync(`target ${pick(3)}`, path);
    if (kind === 3 && lstatSync(path, { throwIfNoEntry: false })?.isFile())
      chmodSync(path, 0o600 + pick(2) * 0o55);
    if (kind > 3 && !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      writeFileSync(path, `content ${pick(5)}`);
  }
}
