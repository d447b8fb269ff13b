/**
 * Errors that nothing catches, planted in the real program: while a tool runs they are its result; otherwise it ends in
 * order.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import { jsonLines, makeWorkspace, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { again } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";
import { filesWorkspace, small } from "./fix/fix-workspace.ts";

const throwers: [where: string, code: string][] = [
  ["a timer", 'setTimeout(() => { throw new Error("planted") })'],
  ["an emitter", 'new EventEmitter().emit("error", new Error("planted"))'],
  ["a stream", 'new PassThrough().destroy(new Error("planted"))'],
  ["a rejection that nothing handles", 'void Promise.reject(new Error("planted"))'],
];

/** The environment in which the agent runs `code` when it gets SIGUSR1. Commands find it by $PLANTED. */
function planted({ cwd }: Workspace, code: string) {
  const file = join(cwd, "planted.mjs");
  const imports = 'import { EventEmitter } from "node:events"; import { PassThrough } from "node:stream";';
  const handler = `process.on("SIGUSR1", () => { ${code} });`;
  writeFileSync(file, `${imports} process.env.PLANTED ??= String(process.pid); ${handler}`);
  return { NODE_OPTIONS: `--import=${file}` };
}

const hits = bash('cd /; kill -USR1 "$PLANTED"; sleep 300');
const turns: ScriptedReply[] = [{ calls: [hits] }, { calls: [bash("pwd")] }, { text: "went on" }];

/** Returns the result of the last call as the model read it. */
function resultsIn(server: MockServer): string[] {
  const content = server.requests.at(-1)?.messages.flatMap((message) => message.content) ?? [];
  return content.flatMap((block) =>
    typeof block !== "string" && block.type === "tool_result" ? [JSON.stringify(block)] : [],
  );
}

function expectToldAndGoneOn(server: MockServer): void {
  const [failed = "", next = ""] = resultsIn(server);
  expect(failed).toContain("bash failed unexpectedly: planted");
  expect(failed).toContain('"is_error":true');
  // The command was ended, and the same shell took the next one.
  expect(next).toContain("/");
  expect(next).not.toContain("is_error");
}

describe.each(throwers)("an error thrown by %s", (_, code) => {
  test("while a tool runs is the tool's result, and the headless session goes on", async () => {
    const { workspace, server } = await serve(turns);
    const words = ["-p", "go", "--permission-mode", "auto", "--sandbox", "off", "--output-format", "json"];
    const ended = await sawtooth(workspace, words, { env: planted(workspace, code) });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ subtype: "success", result: "went on" });
    expectToldAndGoneOn(server);
  });
});

describe("on the screen", () => {
  const [timer = "", emitter = ""] = throwers.map(([, code]) => code);

  test("an error while a tool runs is the tool's result, and the session goes on", async () => {
    const { workspace, server } = await serve(turns);
    const terminal = await again(workspace, ["--permission-mode", "auto", "--sandbox", "off"], {
      env: planted(workspace, timer),
    });
    terminal.send("go\r");
    await terminal.until("went on");
    expectToldAndGoneOn(server);
  });

  test("an error while a person's own command runs is told in its workspace", async () => {
    const { workspace } = await serve([]);
    const terminal = await again(workspace, ["--sandbox", "off"], { env: planted(workspace, emitter) });
    terminal.send('!kill -USR1 "$PLANTED"; sleep 300\r');
    await terminal.until("it failed unexpectedly: planted");
    terminal.send("!echo $((40 + 2))\r");
    await terminal.until("42");
  });
});

describe("an error while no tool runs ends the program with 1", () => {
  const silent: ScriptedReply[] = [{ text: "never ends", fault: { silentAfterEvents: 3 } }];

  test.each([...throwers.slice(0, 1), ...throwers.slice(3)])(
    "headless, with one result and the log intact: %s",
    async (_, code) => {
      const { workspace, server } = await serve(silent);
      const env = planted(workspace, code);
      const { child, ended } = start(workspace, ["-p", "go", "--output-format", "stream-json"], { env });
      await until(() => server.requests.length > 0);
      child.kill("SIGUSR1");
      const { code: exitCode, stdout, stderr } = await ended;
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/sawtooth: Error: planted\n\s+at /);
      const results = jsonLines(stdout).filter(({ type }) => type === "result");
      expect(results).toMatchObject([
        { subtype: "error_during_execution", errors: ["planted"], terminal_reason: "error" },
      ]);
      const next = await sawtooth(workspace, ["-c", "-p", "again", "--model", "scripted/none.yaml"]);
      expect(next.stderr).not.toContain("another process");
      const report = await sawtooth(workspace, ["sessions", "export"]);
      expect(report.stdout).toContain("planted");
    },
  );

  const oneLine = /^sawtooth: unexpected error: planted \(at [^\n]+\): please report this\n$/;

  test("fix, before its session: its check is ended, with one line and one result", async () => {
    const workspace = filesWorkspace(small);
    const words = ["fix", "--check", 'kill -USR1 "$PLANTED"; sleep 300', "--output-format", "json"];
    const ended = await sawtooth(workspace, words, { env: planted(workspace, throwers[1]?.[1] ?? "") });
    expect(ended.code).toBe(1);
    expect(ended.stderr.replace(/^check .*\n/gm, "")).toMatch(oneLine);
    expect(jsonLines(ended.stdout)).toMatchObject([
      { type: "result", session_id: null, errors: ["planted"] },
    ]);
  });

  test("a command without a session, in one line", async () => {
    const workspace = makeWorkspace();
    const env = planted(workspace, "");
    const code = 'name === "uncaughtException" && process.nextTick(() => { throw new Error("planted"); })';
    writeFileSync(join(workspace.cwd, "planted.mjs"), `process.on("newListener", (name) => ${code});`);
    const ended = await sawtooth(workspace, ["schema", "events"], { env });
    expect(ended.stderr).toMatch(oneLine);
    expect(ended.code).toBe(1);
  });

  test("on the screen, with the terminal given back", async () => {
    const { workspace, server } = await serve(silent);
    const terminal = await again(workspace, ["--sandbox", "off"], {
      env: planted(workspace, throwers[0]?.[1] ?? ""),
    });
    terminal.send("go\r");
    await until(() => server.requests.length > 0);
    process.kill(terminal.pid, "SIGUSR1");
    expect((await terminal.ended).code).toBe(1);
    expect(terminal.whole().join("\n")).toContain("sawtooth: Error: planted");
    expect(terminal.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(
      terminal.raw().lastIndexOf("\x1b[?2004h"),
    );
  });
});
