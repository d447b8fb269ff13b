/** A model that looks around with git in a hostile repository (T11): nothing that the repository names runs. */

import { expect, test } from "vitest";
import { hostileRepository } from "../support/hostile-repository.ts";
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
  const { workspace } = await serve([...calls, { text: "done" }]);
  const hostile = hostileRepository(workspace.cwd, workspace.home);
  hostile.write("a.txt", "two\n");
  const run = (...words: string[]): Promise<Ended> =>
    sawtooth(workspace, ["-p", "look around", "--output-format", "json", ...words]);
  return { hostile, run };
}

function plant({ configure, program }: Awaited<ReturnType<typeof setUp>>["hostile"]): void {
  configure(`[core]\n\tfsmonitor = ${program}\n\tpager = ${program}\n\thooksPath = evil\n`);
  configure(`[filter "x"]\n\tclean = ${program}\n[diff "x"]\n\ttextconv = ${program}\n`);
}

const denials = ({ stdout }: Ended): unknown[] =>
  (JSON.parse(stdout) as { permission_denials: unknown[] }).permission_denials;

test.each([[], ["--permission-mode", "accept-edits"], ["--permission-mode", "plan"]])(
  "what is planted does not run, and each try is told (%s %s)",
  async (...words) => {
    const { hostile, run } = await setUp();
    plant(hostile);
    hostile.git("status");
    expect(hostile.ran()).toBeDefined();
    hostile.forget();
    const ended = await run(...words.filter((word) => word !== undefined));
    expect(hostile.ran()).toBeUndefined();
    expect(denials(ended)).toHaveLength(looks.length);
  },
);

test("an honest repository is read without a question", async () => {
  const { hostile, run } = await setUp();
  hostile.configure("[user]\n\temail = a@b.example\n[core]\n\tfsmonitor = true\n");
  const ended = await run("--permission-mode", "accept-edits");
  expect(denials(ended)).toEqual([]);
});

test("in the mode auto the monitor and the pager of the repository are off all the same", async () => {
  const { hostile, run } = await setUp();
  hostile.configure(`[core]\n\tfsmonitor = ${hostile.program}\n\tpager = ${hostile.program}\n`);
  const ended = await run("--permission-mode", "auto");
  expect(denials(ended)).toEqual([]);
  expect(hostile.ran()).toBeUndefined();
});
