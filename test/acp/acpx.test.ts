/** `acpx`, a published client of the Agent Client Protocol, against the built program. */

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { expect, onTestFinished, test } from "vitest";
import { entry } from "../support/entry.ts";
import { jsonLines, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const acpx = fileURLToPath(new URL("../../node_modules/acpx/dist/cli.js", import.meta.url));
const agent = `${process.execPath} ${entry} acp`;

type Ran = { code: number | null; out: string };

/** Runs the client. It keeps a process for a session, which ends when the session is closed. */
function run({ cwd, env }: Workspace, words: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [acpx, "--agent", agent, ...words], {
    ...{ cwd, env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

/** The running processes of this workspace whose command line has these words. */
function running({ home }: Workspace, words: string): number[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
    } catch {
      return [];
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && read(name, "environ").includes(`HOME=${home}`))
    .filter((pid) => read(pid, "cmdline").join(" ").includes(words))
    .map(Number);
}

const agentsOf = (workspace: Workspace) => running(workspace, `${entry} acp`);

test("exec: a question allowed, and one denied", async () => {
  const turns = [{ text: "I make it.", calls: [bash("touch made.txt")] }, { text: "Done." }];
  const { workspace } = await serve([...turns, ...turns]);
  const denied = await run(workspace, ["--deny-all", "exec", "make a file"]);
  expect([denied.code, existsSync(join(workspace.cwd, "made.txt"))]).toEqual([5, false]);
  const { code, out } = await run(workspace, ["--approve-all", "--format", "json", "exec", "make a file"]);
  expect([code, existsSync(join(workspace.cwd, "made.txt"))]).toEqual([0, true]);
  const lines = jsonLines(out) as { params?: { update?: { sessionUpdate: string } }; result?: object }[];
  // The commands that can be typed are told a moment after the start, so on a busy machine behind the result.
  expect(lines.map(({ result }) => result)).toContainEqual(
    expect.objectContaining({ stopReason: "end_turn" }),
  );
  const kinds = new Set(lines.map(({ params }) => params?.update?.sessionUpdate));
  for (const kind of ["tool_call", "tool_call_update", "agent_message_chunk", "usage_update"])
    expect(kinds).toContain(kind);
  await until(() => agentsOf(workspace).length === 0);
});

test("two sessions at once, cancel in a running command, mode and model, list, and resume after kill -9", {
  timeout: 300_000,
}, async () => {
  const { workspace, server } = await serve((body) => {
    const said = JSON.stringify(body.messages);
    if (said.includes("third")) return { text: "still here" };
    if (said.includes("second")) return { text: "the other one" };
    return { text: "I wait.", calls: [bash("sleep 1000 & echo $! > shell; sleep 1001")] };
  });
  const { cwd } = workspace;
  onTestFinished(() => {
    for (const pid of running(workspace, "")) process.kill(pid, "SIGKILL");
  });
  await run(workspace, ["sessions", "new"]);
  await run(workspace, ["sessions", "new", "--name", "other"]);
  const waiting = run(workspace, ["--approve-all", "prompt", "first"]);
  await until(() => existsSync(join(cwd, "shell")) && readFileSync(join(cwd, "shell"), "utf8") !== "");
  const pid = Number(readFileSync(join(cwd, "shell"), "utf8"));
  const other = await run(workspace, ["--approve-all", "prompt", "-s", "other", "second"]);
  expect(other.out).toContain("the other one");
  expect((await run(workspace, ["cancel"])).out).toContain("cancel requested");
  expect((await waiting).out).toContain("[done] cancelled");
  await until(() => !existsSync(`/proc/${pid}`));
  expect((await run(workspace, ["set-mode", "auto"])).out).toContain("mode set: auto");
  expect((await run(workspace, ["set", "model", "anthropic/claude-opus-5-5"])).code).toBe(0);
  const list = await run(workspace, ["sessions", "list"]);
  expect(list.out).toMatch(/first[\s\S]*second|second[\s\S]*first/);
  for (const one of agentsOf(workspace)) process.kill(one, "SIGKILL");
  const resumed = await run(workspace, ["--approve-all", "prompt", "third"]);
  expect(resumed.out).toContain("still here");
  const last = server.requests.at(-1);
  expect(JSON.stringify(last?.messages)).toMatch(/first[\s\S]*third/);
  expect(last?.model).toBe("claude-opus-5-5");
  await run(workspace, ["sessions", "close"]);
  await run(workspace, ["sessions", "close", "other"]);
  await until(() => agentsOf(workspace).length === 0);
});

test("a prompt with an image", async () => {
  const { workspace, server } = await serve([{ text: "a picture" }]);
  const data = PNG.sync.write(new PNG({ width: 2, height: 2 })).toString("base64");
  const blocks = [
    { type: "text", text: "look" },
    { type: "image", mimeType: "image/png", data },
  ];
  writeFileSync(join(workspace.cwd, "prompt.json"), JSON.stringify(blocks));
  const { code, out } = await run(workspace, ["exec", "-f", "prompt.json"]);
  expect(code, out).toBe(0);
  expect(JSON.stringify(server.requests[0]?.messages)).toContain('"media_type":"image/png"');
});
