import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { open } from "../support/terminal-fixture.ts";

function processes(): string {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
}

test("background jobs are listed, and a person can end one", async () => {
  const mark = `sleep 77${process.pid}`;
  const turns = [{ calls: [{ bash: { command: mark, background: true } }] }, { text: "it runs on" }];
  const { terminal } = await open(turns, ["--permission-mode", "auto"]);
  terminal.send("start it\r");
  await terminal.until("it runs on");
  terminal.send("/jobs\r");
  await terminal.until(`running  ${mark}`);
  const pid = new RegExp(`(\\d+)  running  ${mark}`).exec(terminal.whole().join("\n"))?.[1];
  expect(processes()).toContain(mark);
  terminal.send(`/jobs stop ${pid}\r`);
  await terminal.until(`job ${pid} ended`);
  expect(processes()).not.toContain(mark);
  terminal.send("/jobs stop 1\r");
  await terminal.until("No running job 1");
});
