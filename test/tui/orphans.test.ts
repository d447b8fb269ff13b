/** After a kill the next start tells what is left running, and ends it when asked (T34). */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { again, open } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";

/** Command lines; of what is dead but not buried there is none. */
function processes(): string {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
}

test("processes that a killed run left are told at the start, and /jobs clean ends them", async () => {
  const mark = `sleep 88${process.pid}`;
  const turns = [{ calls: [{ bash: { command: `setsid ${mark} & wait` } }] }, { text: "unused" }];
  const { terminal, workspace } = await open(turns, ["--permission-mode", "auto"]);
  terminal.send("go\r");
  await terminal.until("Running");
  await until(() => processes().includes(mark));
  terminal.kill("SIGKILL");
  await terminal.ended;
  const next = await again(workspace);
  await next.until(/! a killed run left processes: .*\/jobs clean ends them/s);
  expect(next.whole().join(" ")).toContain(mark);
  expect(processes()).toContain(mark);
  next.send("/jobs clean\r");
  await next.until(/ended \d+ process(es)? of killed runs/);
  expect(processes()).not.toContain(mark);
  next.send("/jobs clean\r");
  await next.until("no processes left by killed runs");
});
