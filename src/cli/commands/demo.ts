/** `sawtooth demo`: a real run on a copy of a small repository with two bugs, by a scripted or a real model. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Conversation, Converse } from "../../app/conversation.ts";
import { packagePath } from "../../app/prompts.ts";
import type { LogEvent } from "../../core/events.ts";
import { lastText } from "../../core/questions.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { gitIn } from "../../git/run.ts";
import { wrap } from "../../report/text/columns.ts";
import { summaryText } from "../../report/text/report.ts";
import type { Flags } from "../arguments/options.ts";
import { stepLines } from "../headless/steps.ts";
import { writeOut, writeStack } from "../terminal-output.ts";

const task =
  "Some tests of this project fail. Find out why, repair the causes in the source (not in the tests), " +
  "and show that the whole suite passes.";

/** Runs the demo. Exit code 0 only when the tests of the repaired copy pass. */
export async function runDemo(flags: Flags, converse: Converse): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-demo-"));
  const repository = join(folder, "shop");
  const controller = new AbortController();
  process.once("SIGINT", () => controller.abort("SIGINT"));
  process.once("SIGTERM", () => controller.abort("SIGTERM"));
  try {
    await makeRepository(repository);
    say(`A copy of examples/shop, with two bugs in it and failing tests:\n${repository}\n\n`);
    say(`> ${wrap(task, (process.stdout.columns ?? 100) - 2).join("\n  ")}\n\n`);
    const conversation = await converse({
      flags: demoFlags(flags, folder),
      cwd: repository,
      env: process.env,
      warn: (text) => say(`! ${text}\n`),
      crashed: writeStack,
      onBug: writeStack,
    });
    await work(conversation, controller.signal);
    return await show(conversation.run.agent.log.events(), repository);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeRepository(repository: string): Promise<void> {
  mkdirSync(repository, { mode: 0o700 });
  cpSync(packagePath("examples/shop"), repository, { recursive: true });
  const git = gitIn(repository, process.env);
  const who = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
  await git(["init", "--quiet", "--initial-branch=main"]);
  await git(["add", "--all"]);
  await git([...who, "commit", "--quiet", "-m", "The shop"]);
}

function demoFlags(flags: Flags, folder: string): Flags {
  return {
    ...flags,
    model: flags.model ?? `scripted/${packagePath("examples/shop.script.yaml")}`,
    permissionMode: flags.permissionMode ?? "auto",
    sessionDir: join(folder, "sessions"),
    bare: true,
  };
}

async function work({ run, follow, prompt, close }: Conversation, signal: AbortSignal): Promise<void> {
  const { log } = run.agent;
  follow((happening) => {
    if (happening.type !== "event") return;
    for (const line of stepLines(happening.event, log.events(), process.stdout.columns ?? 100))
      say(`${line}\n`);
  });
  try {
    await prompt([{ type: "text", text: task }], signal);
  } finally {
    await close();
  }
}

/** Shows the outcome: the answer, the diff, the tests run by us, the context and the bill. */
async function show(events: readonly LogEvent[], repository: string): Promise<number> {
  say(`\nThe answer\n\n${lastText(events)}\n`);
  const color = process.stdout.isTTY ? "--color=always" : "--color=never";
  const diff = ["diff", "--no-ext-diff", "--no-textconv", color];
  say(`\nThe diff\n\n${await gitIn(repository, process.env)(diff)}`);
  const tests = spawnSync("npm", ["test", "--silent"], {
    cwd: repository,
    encoding: "utf8",
    env: testEnvironment(),
  });
  const counts = tests.stdout.split("\n").filter((line) => /^\S+ (tests|pass|fail) \d+$/.test(line));
  say(
    `\nThe tests, run once more by the demo: exit ${tests.status}\n\n${counts.join("\n") || tests.stdout}\n`,
  );
  say(`\nThe context\n\n${summaryText(events)}\n`);
  const passed = tests.status === 0;
  const end = events.findLast((event) => event.type === "turn_ended");
  if (!passed) say(`\nThe repair failed${end?.detail ? `: ${end.detail}` : ""}.\n`);
  return passed ? 0 : 1;
}

/** Removes the mark of a parent test runner, which would change the output format of Node's. */
function testEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...rest } = process.env;
  return withoutSecrets(rest);
}

function say(text: string): void {
  writeOut(text);
}
