/** Commands that fill the folders which they share with Sawtooth: it neither follows, hangs nor drowns. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { usualTiming } from "../../src/tools/bash/shell/timing.ts";
import { type InsideSession, openInside } from "./session.ts";
import { engine } from "./support.ts";

const names = "baseline exports.0 exports.1 functions.sh exports.left debug";

const manyFiles = `
import os
for i in range(100000):
    name = f"job-{i}.status"
    if i % 1000 == 0:
        open(name, "w").close()
        first = name
    else:
        os.link(first, name)
`;

describe.skipIf(!engine)("S18 staged-link: the folder of the shell's state", () => {
  let session: InsideSession;
  let state: string;
  const inside = (input: string | Record<string, unknown>) => session.run(input);
  const limited = (command: string) => inside({ command, timeout_s: 60 });
  /** Runs lines in the folder, emptied first. */
  async function flood(lines: string): Promise<void> {
    const empty = "find . -mindepth 1 -delete";
    expect(await limited(`cd ${state} && ${empty} && ${lines}; cd ${session.work}`)).toBe("(no output)");
  }
  beforeAll(() => {
    session = openInside({ "home/.bashrc": "mine" }, { timing: { ...usualTiming, answer: 3000 } });
    state = join(session.state, "shell", "state");
  });
  afterAll(() => session.close());

  test.each([
    ["pipes", `mkfifo ${names}`],
    ["folders", `mkdir ${names} job-1.status`],
    ["2 GB of nothing", `truncate -s 2G ${names}`],
    // Most are second names of a few files, which are made in a tenth of the time.
    ["100,000 files", `python3 -c '${manyFiles}'`],
    ["second names", `echo x > other; for name in ${names}; do ln other $name; done`],
  ])("may be filled with %s", async (_what, lines) => {
    await flood(lines);
    expect(await inside("echo still here")).toContain("still here");
    await inside("kill -9 $$");
    expect(await inside("echo again")).toContain("again");
    expect(await inside({ command: "exit 3", background: true })).toContain("background job");
  });

  test("holds up no command and no shell with pipes, which nobody reads", async () => {
    await limited("kept=1");
    await flood(`mkfifo ${names}`);
    expect(await limited("echo $kept")).toBe("1");
    await flood("mkfifo $(seq -f job-%g.pid 400)");
    expect(await inside({ command: "true", background: true })).toContain("background job");
    expect(await limited("echo $kept")).toBe("1");
    await flood(`mkfifo ${names}`);
    const ended = await limited("exit 3");
    expect(ended).toContain("[exit 3]");
    expect(ended).toMatch(/Lost: .*\bexports\b/);
  });

  test("is not waited for where a shell is held up as it starts a job: another takes its place", async () => {
    await inside("PROMPT_COMMAND='[[ ! -v __sawtooth_text ]] || sleep 1000'");
    await inside({ command: "true", background: true });
    expect(await inside("echo back")).toContain("back");
  });

  test("may be filled while a shell starts", async () => {
    const swap = `while :; do for name in ${names}; do rm -rf $name; mkfifo $name; done; done`;
    await inside({ command: `cd ${state} && exec bash -c '${swap}'`, background: true });
    for (let round = 0; round < 3; round++) await inside({ command: "kill -9 $$", timeout_s: 2 });
    for (const { pid } of session.shell.jobs()) await session.shell.stopJob(pid);
    await inside("echo");
    expect(await inside("echo back")).toContain("back");
    expect(readFileSync(join(session.home, ".bashrc"), "utf8")).toBe("mine");
  });
});
