/** Faults between the program and the API, through the whole program. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Fault, ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

async function setUp(turns: ScriptedReply[]): Promise<{ workspace: Workspace; server: MockServer }> {
  const { server, workspace } = await serve(turns, { pingMs: 200 });
  return { workspace, server };
}

const auto = ["-p", "go", "--output-format", "stream-json", "--permission-mode", "auto"];
const soon = { "retry-after-ms": "1" };
const retries = (stdout: string) => jsonLines(stdout).filter((line) => line.type === "retry");
const count = (text: string, part: string) => text.split(part).length - 1;

describe("failures that pass are made up for, and said once", () => {
  const cases: [string, Fault, number, string][] = [
    ["529 three times", { status: 529, headers: soon }, 3, "overloaded"],
    ["429", { status: 429, headers: soon }, 1, "rate_limit"],
    ["500", { status: 500, headers: soon }, 1, "server"],
    ["408", { status: 408, headers: soon }, 1, "server"],
    ["a connection cut before anything", { dropConnection: true }, 1, "network"],
    ["a connection cut in the middle", { closeAfterEvents: 8 }, 1, "network"],
    ["a stream without its end", { noMessageStop: true }, 1, "incomplete"],
    ["an overload inside the stream", { errorEventAfter: 6 }, 1, "overloaded"],
  ];
  test.each(cases)("%s", async (_, fault, repeat, kind) => {
    const text = "a longer answer, so that some of it streams before it is cut off in the middle";
    const { workspace, server } = await setUp([{ text, fault, repeat }, { text }]);
    const { code, stdout } = await sawtooth(workspace, auto);
    expect(code).toBe(0);
    expect(server.exchanges).toHaveLength(repeat + 1);
    expect(retries(stdout)).toMatchObject(
      Array.from({ length: repeat }, (_, index) => ({ kind, attempt: index + 1 })),
    );
    // Once as the reply and once as the result.
    expect(count(stdout, text)).toBe(2);
    expect(new Set(server.rawBodies).size).toBe(1);
  });

  test("the server's own wait is honoured, and stands in the event", async () => {
    const { workspace, server } = await setUp([
      { fault: { status: 429, headers: { "retry-after": "1" } } },
      { text: "ok" },
    ]);
    const { stdout } = await sawtooth(workspace, auto);
    const [first, second] = server.exchanges.map((one) => one.receivedAt);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(950);
    expect(retries(stdout)).toMatchObject([{ wait_ms: 1000 }]);
  });

  test("a wait can be interrupted", async () => {
    const { workspace, server } = await setUp([
      { fault: { status: 429, headers: { "retry-after": "60" } } },
      { text: "ok" },
    ]);
    const run = start(workspace, auto);
    await run.until('"retry"');
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    expect(server.exchanges).toHaveLength(1);
  });
});

test.each([
  [400, 6],
  [401, 4],
  [402, 4],
  [403, 4],
  [404, 6],
])("%i is reported at once, in the server's words", async (status, exit) => {
  const body = { type: "error", error: { type: "x", message: `words about ${status}` } };
  const { workspace, server } = await setUp([{ fault: { status, body } }]);
  const { code, stdout } = await sawtooth(workspace, auto);
  expect({ code, exchanges: server.exchanges.length }).toEqual({ code: exit, exchanges: 1 });
  expect(jsonLines(stdout).at(-1)).toMatchObject({
    errors: [expect.stringContaining(`words about ${status}`)],
  });
});

describe("a silent stream", () => {
  const idle = { env: { SAWTOOTH_IDLE_TIMEOUT: "3s" } };

  test.each([
    ["before the first event", 0],
    ["in the middle of a text", 8],
  ])("%s: given up although pings come, told, and tried again", async (_, silentAfterEvents) => {
    const text = "words that come in several pieces, one after the other, until they do not";
    const { workspace, server } = await setUp([{ text, fault: { silentAfterEvents } }, { text }]);
    const { code, stdout } = await sawtooth(workspace, auto, idle);
    expect(code).toBe(0);
    expect(retries(stdout)).toMatchObject([{ kind: "idle", attempt: 1, message: "no data for 3 s" }]);
    expect(count(stdout, text)).toBe(2);
    expect(server.exchanges[0]?.clientClosedAt).toBeTypeOf("number");
  });

  test("in the middle of a call: the call is not run, and after the next attempt it is run once", async () => {
    const calls = [bash("echo ran >> ran.txt")];
    const { workspace } = await setUp([
      { text: "now", calls, fault: { silentAfterEvents: 6 } },
      { text: "now", calls },
      { text: "done" },
    ]);
    expect((await sawtooth(workspace, auto, idle)).code).toBe(0);
    expect(readFileSync(join(workspace.cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  test("an interrupt does not wait for it", async () => {
    const { workspace, server } = await setUp([
      { text: "begun and then nothing", fault: { silentAfterEvents: 3 } },
    ]);
    const run = start(workspace, auto);
    await until(() => server.exchanges.length > 0);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    expect(server.exchanges[0]?.clientClosedAt).toBeTypeOf("number");
  });
});

describe("a call whose input is cut off", () => {
  const write = { str_replace_editor: { command: "create", path: "long.txt", file_text: "x".repeat(4000) } };

  test("is not run, does not enter the history, and the model is asked for smaller pieces", async () => {
    const { workspace, server } = await setUp([
      { calls: [write], fault: { cutToolJson: true } },
      { text: "in pieces" },
    ]);
    expect((await sawtooth(workspace, auto)).code).toBe(0);
    const second = JSON.stringify(server.requests[1]?.messages);
    expect(second).toContain("smaller pieces");
    expect(second).not.toContain("xxxx");
    expect(server.exchanges.map((one) => one.status)).toEqual([200, 200]);
  });

  test("at most three times", async () => {
    const { workspace, server } = await setUp([{ calls: [write], fault: { cutToolJson: true }, repeat: 9 }]);
    const { code, stdout } = await sawtooth(workspace, auto);
    expect({ code, requests: server.requests.length }).toEqual({ code: 1, requests: 4 });
    expect(jsonLines(stdout).at(-1)).toMatchObject({ terminal_reason: "output_limit" });
  });
});

test("a tool that ran is not run again when the reply after it fails", async () => {
  const { workspace } = await setUp([
    { calls: [bash("echo ran >> ran.txt")] },
    { fault: { status: 529, headers: soon }, repeat: 2 },
    { text: "done" },
  ]);
  expect((await sawtooth(workspace, auto)).code).toBe(0);
  expect(readFileSync(join(workspace.cwd, "ran.txt"), "utf8")).toBe("ran\n");
});

test("a stream that is closed in the middle of the third call: none of the three is run", async () => {
  const calls = [bash("touch one"), bash("touch two"), bash("touch three")];
  const { workspace, server } = await setUp([
    { calls, fault: { closeAfterEvents: 9 } },
    { text: "never mind" },
    { text: "went on" },
  ]);
  expect((await sawtooth(workspace, auto)).code).toBe(0);
  expect((await sawtooth(workspace, ["-p", "continue", "-c"])).code).toBe(0);
  expect(server.exchanges.map((one) => one.status)).toEqual([200, 200, 200]);
  expect(readdirSync(workspace.cwd)).toEqual([]);
});

describe("nothing is left behind", () => {
  test.each(["SIGTERM", "SIGHUP", "SIGKILL of the parent's reader"])(
    "after %s no process of the session runs",
    async (how) => {
      const mark = `sleep 9${process.pid}${how.length}`;
      const { workspace } = await setUp([
        { text: "now", calls: [bash(`setsid ${mark} & nohup ${mark} & ${mark}`)] },
      ]);
      const run = start(workspace, auto);
      await until(() => running(mark).length === 3);
      if (how.startsWith("SIGKILL")) run.child.stdout?.destroy();
      run.child.kill(how === "SIGHUP" ? "SIGHUP" : "SIGTERM");
      await run.ended;
      expect(running(mark)).toEqual([]);
    },
  );
});

/** Command lines of running processes that are exactly `words`. */
function running(words: string): string[] {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return all.filter((line) => line.trim() === words);
}
