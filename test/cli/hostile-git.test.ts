/** A model that looks around with git in a hostile repository (T11): nothing that the repository names runs. */

import { expect, test } from "vitest";
import { plantedRepository } from "../support/planted.ts";
import { type Ended, sawtooth } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

const looks = [
  "git status",
  "git diff",
  "git log -p",
  "git show",
  "git describe --always --dirty",
  "git blame a.txt",
];

async function setUp() {
  const calls = [...looks, "echo 'still here'"].map((command) => ({ calls: [{ bash: { command } }] }));
  const { place } = await serve([...calls, { text: "done" }]);
  const planted = plantedRepository(place.cwd, place.home);
  planted.write("a.txt", "two\n");
  const run = (...words: string[]): Promise<Ended> =>
    sawtooth(place, ["-p", "look around", "--output-format", "json", ...words]);
  return { planted, run };
}

function plant({ configure, program }: Awaited<ReturnType<typeof setUp>>["planted"]): void {
  configure(`[core]\n\tfsmonitor = ${program}\n\tpager = ${program}\n\thooksPath = evil\n`);
  configure(`[filter "x"]\n\tclean = ${program}\n[diff "x"]\n\ttextconv = ${program}\n`);
}

const denials = ({ stdout }: Ended): unknown[] =>
  (JSON.parse(stdout) as { permission_denials: unknown[] }).permission_denials;

test.each([[], ["--permission-mode", "accept-edits"], ["--permission-mode", "plan"]])(
  "what is planted does not run, and each try is told (%s %s)",
  async (...words) => {
    const { planted, run } = await setUp();
    plant(planted);
    planted.git("status");
    expect(planted.ran()).toBeDefined();
    planted.forget();
    const ended = await run(...words.filter((word) => word !== undefined));
    expect(planted.ran()).toBeUndefined();
    expect(denials(ended)).toHaveLength(looks.length);
  },
  180_000,
);

test("an honest repository is read without a question", async () => {
  const { planted, run } = await setUp();
  planted.configure("[user]\n\temail = a@b.example\n[core]\n\tfsmonitor = true\n");
  const ended = await run("--permission-mode", "accept-edits");
  expect(denials(ended)).toEqual([]);
}, 180_000);

test("in the mode auto the monitor and the pager of the repository are off all the same", async () => {
  const { planted, run } = await setUp();
  planted.configure(`[core]\n\tfsmonitor = ${planted.program}\n\tpager = ${planted.program}\n`);
  const ended = await run("--permission-mode", "auto");
  expect(denials(ended)).toEqual([]);
  expect(planted.ran()).toBeUndefined();
}, 180_000);
