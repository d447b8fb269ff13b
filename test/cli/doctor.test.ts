/** `sawtooth doctor` on this machine, and on machines that are missing something. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { modelChecks } from "../../src/cli/commands/doctor-models.ts";
import { changeProjectRules, projectRulesFile } from "../../src/config/stored-rules.ts";
import { cardSource } from "../../src/models/cards.ts";
import { ollamaRoutes, startListServer } from "../support/mock-servers.ts";
import { makeWorkspace, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

/** A server that accepts connections and counts the bytes that are sent to it. */
async function listener(): Promise<{ url: string; heard: () => number }> {
  let heard = 0;
  const server = createServer((socket) =>
    socket.on("data", ({ length }) => (heard += length)).on("error", () => {}),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, heard: () => heard };
}

const doctor = (env: Record<string, string> = {}, ...words: string[]) =>
  sawtooth(workspace, ["doctor", ...words], { env });

test("nothing stops work with a key and a server, and nothing is asked of it", async () => {
  const { url, heard } = await listener();
  const { stdout, code } = await doctor({ ANTHROPIC_API_KEY: "sk-canary-7f3a", ANTHROPIC_BASE_URL: url });
  expect(stdout).toMatch(/\n {2}ok {4}node +\d+\.\d+/);
  expect(stdout).toMatch(/\n {2}ok {4}bash +5\./);
  expect(stdout).toMatch(/\n {2}ok {4}keys +ANTHROPIC_API_KEY\n/);
  expect(stdout).toMatch(/\n {2}ok {4}server +127\.0\.0\.1:\d+ is reachable\n/);
  expect(stdout).toMatch(/\nAll required checks passed\./);
  expect(stdout).not.toContain("canary");
  expect([code, heard()]).toEqual([0, 0]);
  expect(stdout.split("\n").filter((line) => line.length > 82 && !line.includes("/"))).toEqual([]);
});

test("a missing key, a server that is not there and broken settings each stop work, with what to do", async () => {
  expect(await doctor()).toMatchObject({ code: 1, stdout: expect.stringContaining("set ANTHROPIC_API_KEY") });
  const config = join(workspace.home, "sawtooth", "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), '{"modle": "x"}');
  const env = { ANTHROPIC_API_KEY: "sk-canary-7f3a", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
  const { code, stdout } = await doctor(env);
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAIL {2}server +127\.0\.0\.1:9 is not reachable \(ECONNREFUSED\)/);
  expect(stdout).toMatch(/FAIL {2}settings[\s\S]*unknown key "modle"/);
  expect(stdout).toContain("2 problems to fix.");
});

test("an address that leads nowhere is given up", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-canary-7f3a", ANTHROPIC_BASE_URL: "http://192.0.2.1:81" };
  const { code, stdout } = await doctor(env);
  expect(code).toBe(1);
  expect(stdout).toMatch(/192\.0\.2\.1:81 is not reachable/);
});

test("without bash there is no work; without a terminal of its own, git or ripgrep there is", async () => {
  const { code, stdout } = await doctor({
    PATH: workspace.cwd,
    SAWTOOTH_PTY: "off",
    OPENAI_BASE_URL: (await listener()).url,
    TERM: "dumb",
    LANG: "",
  });
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAIL {2}bash +not found\n +→ install bash\n/);
  expect(stdout).toMatch(/note {2}pty +SAWTOOTH_PTY is off/);
  expect(stdout).toMatch(/note {2}git +not found/);
  expect(stdout).toMatch(/note {2}terminal +dumb/);
  expect(stdout).toMatch(/note {2}locale +none/);
  expect(stdout).toContain("1 problem to fix.");
});

test("under musl the pty module is not tried: a library of that name in the process is enough", async () => {
  const library = /\S*\/libm[.-]\S*so\S*/.exec(readFileSync("/proc/self/maps", "latin1"))?.[0];
  if (!library) throw new Error("this process has no libm to copy");
  const named = join(workspace.home, "ld-musl-x86_64.so.1");
  copyFileSync(library, named);
  expect((await doctor()).stdout).toMatch(/ok +pty /);
  expect((await doctor({ LD_PRELOAD: named })).stdout).toMatch(
    /note {2}pty +the pty module cannot be loaded/,
  );
});

test("what a killed agent left is told, and ended with --clean", async () => {
  const script = join(workspace.home, "script.json");
  const command = "setsid nohup sleep 300 >/dev/null 2>&1 & touch begun; sleep 300";
  writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ bash: { command } }] }] }));
  const words = [
    "-p",
    "go",
    "--model",
    `scripted/${script}`,
    "--permission-mode",
    "auto",
    "--sandbox",
    "off",
  ];
  const running = start(workspace, words);
  await until(() => existsSync(join(workspace.cwd, "begun")));
  running.child.kill("SIGKILL");
  await running.ended;
  const before = (await doctor()).stdout;
  expect(before).toMatch(/note {2}processes[\s\S]*sleep 300[\s\S]*doctor --clean ends them/);
  expect(before).toMatch(/note {2}locks +1 stale lock/);
  const after = (await doctor({}, "--clean")).stdout;
  expect(after).toMatch(/ok {4}processes +ended processes that killed agents left/);
  expect(after).toMatch(/ok {4}locks +removed 1 stale lock/);
  expect((await doctor()).stdout).toMatch(/ok {4}processes +no processes left/);
  const stored = join(workspace.home, "sawtooth", "state", "sessions");
  expect(
    readdirSync(stored, { recursive: true, encoding: "utf8" }).filter((name) => name.includes("claim.")),
  ).toEqual([]);
});

test("processes of an agent that lives are nobody's leftovers", async () => {
  const child = spawn("sleep", ["30"], { stdio: "ignore" });
  onTestFinished(() => void child.kill());
  expect((await doctor()).stdout).toMatch(/ok {4}processes/);
});

test("doctor names the rules that are kept for the folder, and a file of them that is broken", async () => {
  const folder = join(workspace.env.SAWTOOTH_HOME ?? "", "config");
  const file = projectRulesFile(folder, workspace.cwd);
  changeProjectRules(file, workspace.cwd, () => ["bash(make:*)"]);
  expect((await sawtooth(workspace, ["doctor"])).stdout.replace(/\s+/g, " ")).toContain(
    `1 rule for ${workspace.cwd}: bash(make:*)`,
  );
  writeFileSync(file, "{");
  const { stdout } = await sawtooth(workspace, ["doctor"]);
  expect(stdout).toMatch(/note +rules/);
  expect(stdout).toContain("no rule for this folder applies");
});

test("a server on this machine is named with its window, and stands for a key", async () => {
  const ollama = await startListServer(ollamaRoutes({ loaded: 4096 }));
  const { code, stdout } = await doctor({ OLLAMA_HOST: ollama.url });
  expect(stdout).toMatch(/ok {4}keys +none is set; a server on this machine needs none\n/);
  expect(stdout).toMatch(/note {2}server +ollama answers: qwen3-coder:latest 4,096 tokens\n/);
  expect(code).toBe(0);
});

test("figures of models that are older than 90 days are told", async () => {
  const made = Date.parse(cardSource.date);
  const says = async (days: number) =>
    (await modelChecks(workspace.env, made + days * 86_400_000)).filter(({ name }) => name === "models");
  expect(await says(90)).toEqual([]);
  expect(await says(91)).toMatchObject([{ state: "note", says: expect.stringContaining("91 days ago") }]);
});
