/**
 * A session outlives its process: killed anywhere, on a damaged log, on disks that refuse, and beside another process.
 */

import { execFileSync, spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import { seededRandom } from "../support/random.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { sized } from "../support/size.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];

/** The only log of a workspace. */
function logOf(workspace: Workspace): string {
  const [file, ...more] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  if (file === undefined || more.length > 0) throw new Error(`not one log: ${[file, ...more].join(", ")}`);
  return join(workspace.home, file);
}

/** Whole lines of a log, as events. */
function wholeEvents(file: string): LogEvent[] {
  const text = readFileSync(file, "utf8");
  return jsonLines(text.slice(0, text.lastIndexOf("\n") + 1)) as LogEvent[];
}

describe("kill -9", () => {
  const rounds = sized(20, 50);
  /** A few ways of working, so that the kill falls into different things. */
  const kinds: ScriptedReply[] = [
    {
      thinking: "hm",
      text: "reading",
      calls: [bash("seq 1 3000; echo $RANDOM"), bash("sleep 0.2; echo $RANDOM")],
    },
    {
      text: "writing",
      calls: [{ str_replace_editor: { command: "create", path: "f.txt", file_text: "x\n" } }],
    },
    { text: "a pause", calls: [bash("sleep 0.3; echo $RANDOM")], fault: { pauseMs: 20 } },
  ];

  test(`at ${rounds} random moments of one session: nothing that was told is lost, and it goes on each time`, {
    timeout: 300_000,
  }, async () => {
    const { workspace, server } = await serve((_, index) => kinds[index % kinds.length] ?? { text: "" });
    const random = seededRandom(rounds);
    let told: unknown[] = [];
    for (let round = 0; round < rounds; round++) {
      const run = start(workspace, ["-p", `round ${round}`, ...(round > 0 ? ["-c"] : []), ...auto]);
      await run.until(['"init"', '"assistant"', '"user"'][round % 3] ?? "");
      await delay(random() * 250);
      run.child.kill("SIGKILL");
      const { stdout, stderr } = await run.ended;
      expect(stderr).toBe("");
      const heard = jsonLines(stdout.slice(0, stdout.lastIndexOf("\n") + 1));
      told = [...told, ...heard.flatMap((line) => (line.type === "assistant" ? [line.message] : []))];
      const stored = wholeEvents(logOf(workspace)).filter((event) => event.type === "assistant_message");
      // What was said on stdout was on the disk before.
      expect(stored.length).toBeGreaterThanOrEqual(told.length);
    }
    const { code } = await sawtooth(workspace, ["-p", "the end", "-c", ...auto, "--max-turns", "1"]);
    expect(code).toBe(3);
    expect(server.exchanges.filter((one) => one.status >= 400).map((one) => one.error)).toEqual([]);
    const prompts = wholeEvents(logOf(workspace)).filter((event) => event.type === "user_message");
    expect(prompts.length).toBe(rounds + 1);
  });

  test("leaves nothing running that the next start does not end or name", async () => {
    const mark = `sleep 97${process.pid}`;
    const { workspace } = await serve([{ text: "now", calls: [bash(mark)] }, { text: "ok" }]);
    const run = start(workspace, ["-p", "go", ...auto]);
    const left = () =>
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line === mark);
    await until(() => left().length > 0, mark);
    run.child.kill("SIGKILL");
    await run.ended;
    await sawtooth(workspace, ["-p", "continue", "-c", ...auto]);
    await until(() => left().length === 0, "the end of what the killed run left");
  });
});

describe("a card that an earlier version wrote", () => {
  type Prices = Record<string, number>;
  const types = (file: string) => wholeEvents(file).map(({ type }) => type);

  async function resumed(age: (prices: Prices) => Prices) {
    const { workspace, server } = await serve([{ text: "one" }, { text: "two" }]);
    await sawtooth(workspace, ["-p", "begin", ...auto]);
    const file = logOf(workspace);
    const [first = "", ...rest] = readFileSync(file, "utf8").split("\n");
    const event = JSON.parse(first) as { model: { prices: Prices } };
    const aged = { ...event, model: { ...event.model, prices: age(event.model.prices) } };
    writeFileSync(file, [JSON.stringify(aged), ...rest].join("\n"));
    await sawtooth(workspace, ["-p", "go on", "-c", ...auto]);
    return { server, file, now: event.model.prices };
  }

  test("and that only lacks the price of a search is no other model: nothing is appended", async () => {
    const { server, file, now } = await resumed(({ webSearch: _, ...prices }) => prices);
    expect(now).toHaveProperty("webSearch");
    expect(types(file)).not.toContain("model_changed");
    expect(server.exchanges.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("with another price is taken over by today's, which later replies cost", async () => {
    const { file, now } = await resumed((prices) => ({ ...prices, input: 1.25 }));
    const changed = wholeEvents(file).flatMap((event) =>
      event.type === "model_changed" ? [event.model] : [],
    );
    expect(changed.map(({ prices }) => prices)).toEqual([now]);
  });
});

describe("a damaged log", () => {
  async function finished(): Promise<{ workspace: Workspace; server: MockServer; file: string }> {
    const { workspace, server } = await serve([
      { text: "one", calls: [bash("echo first")] },
      { text: "rest" },
      { text: "went on" },
    ]);
    await sawtooth(workspace, ["-p", "begin", ...auto]);
    return { workspace, server, file: logOf(workspace) };
  }

  const warnings = (stdout: string) => jsonLines(stdout).filter((line) => line.type === "warning");

  test("whose last line was cut: one warning, and everything before it is there", async () => {
    const { workspace, server, file } = await finished();
    truncateSync(file, statSync(file).size - 20);
    const { code, stdout } = await sawtooth(workspace, ["-p", "continue", "-c", ...auto]);
    expect(code).toBe(0);
    expect(warnings(stdout)).toMatchObject([{ message: expect.stringMatching(/bytes of damaged lines/) }]);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/begin.*first.*rest.*continue/);
  });

  test("with a line of garbage in its middle: one warning, and the rest is there", async () => {
    const { workspace, server, file } = await finished();
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.toSpliced(2, 0, "\u0000garbage {").join("\n"));
    const { code, stdout } = await sawtooth(workspace, ["-p", "continue", "-c", ...auto]);
    expect({ code, warnings: warnings(stdout).length }).toEqual({ code: 0, warnings: 1 });
    expect(server.exchanges.at(-1)?.status).toBe(200);
  });

  test("that ends in a call without a result: the call is answered", async () => {
    const { workspace, server, file } = await finished();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const at = lines.findIndex((line) => line.includes('"tool_result"'));
    writeFileSync(file, `${lines.slice(0, at).join("\n")}\n`);
    const { code } = await sawtooth(workspace, ["-p", "continue", "-c", ...auto]);
    expect({ code, status: server.exchanges.at(-1)?.status }).toEqual({ code: 0, status: 200 });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("interrupted");
  });
});

/** True where we may mount file systems; only root may. */
const canMount =
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", tmpdir()], { stdio: "ignore" }).status === 0;

function disk(...options: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("mount", ["-t", "tmpfs", "-o", options.join(","), "tmpfs", folder]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
  return folder;
}

describe.runIf(canMount)("disks that refuse (skipped where file systems cannot be mounted)", () => {
  test("full: the run goes on, warns once, and its exit code is that of the work", async () => {
    const { workspace, server } = await serve([
      { text: "long", calls: [bash("seq 1 300000")] },
      { text: "more", calls: [bash("seq 1 300000; echo the-end")] },
      { text: "done" },
    ]);
    const sessions = disk("size=600k");
    const { code, stdout } = await sawtooth(workspace, ["-p", "go", "--session-dir", sessions, ...auto]);
    const lines = jsonLines(stdout);
    expect({ code, subtype: lines.at(-1)?.subtype }).toEqual({ code: 0, subtype: "success" });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("the-end");
    const told = lines.filter((line) => line.type === "warning").map((line) => String(line.message));
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told).size).toBe(told.length);
  });

  test("read-only: the session is kept elsewhere, and that is said", async () => {
    const { workspace } = await serve([{ text: "hello" }]);
    const home = disk("ro");
    const { code, stdout } = await sawtooth(workspace, ["-p", "go", ...auto], {
      env: { HOME: home, SAWTOOTH_HOME: home },
    });
    const lines = jsonLines(stdout);
    expect({ code, result: lines.at(-1)?.result }).toEqual({ code: 0, result: "hello" });
    const [warning] = lines.filter((line) => line.type === "warning");
    expect(warning?.message).toMatch(/this session is kept in (\S+)/);
    const kept = /kept in (\S+)/.exec(String(warning?.message))?.[1];
    if (kept) rmSync(kept, { recursive: true, force: true });
  });
});

describe("two processes", () => {
  test("on one session: the second is refused, or forks; lines are never mixed", async () => {
    const { workspace, server } = await serve((_, index) =>
      index === 0
        ? { text: "slow", calls: [bash("until [ -e go-on ]; do sleep 0.1; done")] }
        : { text: "other" },
    );
    const run = start(workspace, ["-p", "go", ...auto]);
    await run.until('"assistant"');
    const refused = await sawtooth(workspace, ["-p", "me too", "-c", ...auto]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--fork");
    const forked = await sawtooth(workspace, ["-p", "me too", "-c", "--fork", ...auto]);
    expect(forked.code).toBe(0);
    writeFileSync(join(workspace.cwd, "go-on"), "");
    expect((await run.ended).code).toBe(0);
    const files = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
    expect(files).toHaveLength(2);
    for (const file of files) {
      const seqs = wholeEvents(join(workspace.home, file)).map((event) => event.seq);
      expect(seqs).toEqual(seqs.map((_, index) => index));
    }
    expect(server.exchanges.filter((one) => one.status >= 400)).toEqual([]);
  });

  test("beginning at the same moment get a session each", async () => {
    const { workspace } = await serve(() => ({ text: "hi" }));
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => sawtooth(workspace, ["-p", "go", ...auto])),
    );
    expect(runs.map((run) => run.code)).toEqual([0, 0, 0, 0]);
    expect(new Set(runs.map((run) => jsonLines(run.stdout).at(-1)?.session_id)).size).toBe(4);
  });
});

test("after a cd the log stays where it was, and a resume goes on in the folder of the session", async () => {
  const { workspace, server } = await serve([
    { calls: [bash("mkdir sub && cd sub && pwd")] },
    { text: "there" },
    { calls: [bash("pwd")] },
    { text: "ok" },
  ]);
  mkdirSync(join(workspace.cwd, "elsewhere"));
  await sawtooth(workspace, ["-p", "go", ...auto]);
  const { code } = await sawtooth(workspace, ["-p", "where", "-c", ...auto]);
  expect(code).toBe(0);
  expect(JSON.stringify(server.requests.at(-1)?.messages.at(-1))).toContain(`${workspace.cwd}/sub`);
  expect(wholeEvents(logOf(workspace)).filter((event) => event.type === "user_message")).toHaveLength(2);
});
