import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { sawtooth, start } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { until } from "../support/until.ts";

test.each([
  ["a long run", { fault: { delayMs: 800 }, text: "hello" }],
  ["a run that is over at once", { text: "hello" }],
])("processes that a killed run left are reported once by %s, with how to end them", async (what, turn) => {
  // One of another test, or of another run of the tests, is none of this one.
  const left = `sleep 30${what.length}${process.pid}`;
  const { workspace } = await serve([{ calls: [{ bash: { command: `setsid ${left}` } }] }, turn]);
  const run = start(workspace, ["-p", "go", "--permission-mode", "auto", "--output-format", "stream-json"]);
  await until(() => running(left), "the process");
  run.child.kill("SIGKILL");
  await run.ended;
  const { stderr, code } = await sawtooth(workspace, ["-p", "hi"]);
  expect(code).toBe(0);
  const pid = Number(new RegExp(`left processes:.*?(\\d+) ${left}`).exec(stderr)?.[1]);
  expect(pid).toBeGreaterThan(1);
  expect(stderr.match(/doctor --clean/g)).toHaveLength(1);
  process.kill(pid, "SIGKILL");
});

test("a shell without a terminal says so once", async () => {
  const { workspace } = await serve([
    { calls: [{ bash: { command: "echo one" } }] },
    { calls: [{ bash: { command: "echo two" } }] },
    { text: "ok" },
  ]);
  const { stderr, stdout } = await sawtooth(workspace, ["-p", "go", "--permission-mode", "auto"], {
    env: { SAWTOOTH_PTY: "off" },
  });
  expect(stdout).toBe("ok\n");
  expect(stderr.match(/commands run on pipes/g)).toHaveLength(1);
});

const running = (words: string): boolean =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n").includes(words);
