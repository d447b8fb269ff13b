/** Bad input over the Agent Client Protocol: clients that vanish, rubbish, what is not there, messages without end. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sawtooth, start } from "../support/sawtooth.ts";
import { bash, serve, tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";
import { editor } from "./editor.ts";

const auto = ["--permission-mode", "auto"];
const sleeping = "echo $BASHPID > shell; sleep 1000";

async function shellIn(cwd: string): Promise<number> {
  const file = join(cwd, "shell");
  await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
  return Number(readFileSync(file, "utf8"));
}

test("a client that vanishes in a turn leaves nothing: the program ends with its commands", async () => {
  const { workspace } = await serve([{ calls: [bash(sleeping)] }]);
  const one = await editor(workspace, auto);
  const id = await one.open();
  void one.say(id, "sleep");
  const pid = await shellIn(workspace.cwd);
  const { code } = await one.close();
  expect(code).toBe(0);
  await until(() => !existsSync(`/proc/${pid}`));
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)("%s ends every session and its commands", async (signal, status) => {
  const { workspace } = await serve([{ calls: [bash(sleeping)] }]);
  const one = await editor(workspace, auto);
  void one.say(await one.open(), "sleep");
  const pid = await shellIn(workspace.cwd);
  one.child.kill(signal);
  expect((await one.ended).code).toBe(status);
  await until(() => !existsSync(`/proc/${pid}`));
});

test("a client that only stops reading ends the program too", async () => {
  const { workspace } = await serve([{ calls: [bash("yes | head -c 2000000")] }, { text: "done" }]);
  const one = await editor(workspace, auto);
  const id = await one.open();
  one.child.stdout?.destroy();
  void one.say(id, "go");
  expect((await one.ended).code).toBe(0);
});

test("rubbish, half a message and a batch are answered with what is wrong, and the rest goes on", async () => {
  const { workspace } = await serve([{ text: "still here" }]);
  const one = await editor(workspace);
  one.write("rubbish\n");
  one.write("[1,2]\n");
  one.write("\n");
  one.write('{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"no such"}}\n');
  one.write('{"jsonrpc":"2.0","method":"session/cancel","params":3}\n');
  const id = await one.open();
  expect(await one.say(id, "hello")).toMatchObject({ result: { stopReason: "end_turn" } });
  one.write('{"jsonrpc":"2.0","id":99,"meth');
  expect((await one.close()).code).toBe(0);
  expect(one.strays.map(({ error }) => error?.code)).toEqual([-32700, -32600, -32700]);
  expect(one.faults).toEqual([]);
});

test("a message of 100 MB is refused by its id and never held; the next one is heard", async () => {
  const { workspace } = await serve([{ text: "heard" }]);
  const one = await editor(workspace);
  const id = await one.open();
  one.write('{"jsonrpc":"2.0","id":"long","method":"session/prompt","params":{"text":"');
  for (let count = 0; count < 100; count++) one.write("x".repeat(1_000_000));
  one.write('"}}\n');
  expect(await one.say(id, "hello")).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(one.strays).toMatchObject([
    { id: "long", error: { code: -32600, message: expect.stringContaining("more than 33554432 bytes") } },
  ]);
});

test("folders, sessions and methods that are not there", async () => {
  const { workspace } = await serve([]);
  const one = await editor(workspace);
  const open = async (params: object) =>
    (await one.request("session/new", { mcpServers: [], ...params })).error;
  expect(await open({ cwd: "here" })).toMatchObject({
    code: -32602,
    message: "Invalid params: cwd is here: it must be an absolute path",
  });
  expect((await open({ cwd: "/no/such" }))?.message).toContain("cwd is /no/such: there is no such folder");
  const file = join(workspace.cwd, "file");
  writeFileSync(file, "");
  expect((await open({ cwd: file }))?.message).toContain("there is no such folder");
  expect((await open({ cwd: workspace.cwd, additionalDirectories: ["x"] }))?.message).toContain(
    "additionalDirectories is x: it must be an absolute path",
  );
  for (const method of ["session/load", "session/resume"])
    expect(
      (await one.request(method, { sessionId: "20260101", cwd: workspace.cwd, mcpServers: [] })).error,
    ).toMatchObject({ code: -32002, message: expect.stringContaining("there is no session 20260101") });
  expect((await one.say("none", "x")).error?.code).toBe(-32002);
  const gone = join(workspace.cwd, "gone");
  mkdirSync(gone);
  const id = await one.open({ cwd: gone });
  rmSync(gone, { recursive: true });
  expect(await one.say(id, "x")).toMatchObject({ error: { code: -32603 } });
});

test("parameters that are not as the protocol has them are refused with what is wrong, and null is nothing", async () => {
  const { workspace } = await serve([{ text: "hi" }]);
  const one = await editor(workspace);
  const { cwd } = workspace;
  const wrong = async (method: string, params: object) => (await one.request(method, params)).error?.message;
  expect(await wrong("session/new", { cwd: 5 })).toBe(
    "Invalid params: params.mcpServers is missing; params.cwd must be a string, not a number",
  );
  expect(await wrong("session/new", { cwd, mcpServers: [{ name: 1 }] })).toContain(
    "params.mcpServers[0].name must be a string",
  );
  const id = await one.open({ additionalDirectories: null, _meta: null });
  expect((await one.request("session/list", { cwd: null, cursor: null })).result).toBeDefined();
  const prompts: [unknown, string][] = [
    ["words", "params.prompt must be an array, not a string"],
    [[{ type: "video" }], "params.prompt[0].type must be one of text, image, audio, resource, resource_link"],
    [[{ type: "text" }], "params.prompt[0].text is missing"],
    [
      [
        { type: "text", text: "a" },
        { type: "image", data: 1 },
      ],
      "params.prompt[1].mimeType is missing",
    ],
    [[{ type: "resource", resource: { uri: "a:b" } }], "params.prompt[0].resource has neither text nor blob"],
  ];
  for (const [prompt, words] of prompts)
    expect(await wrong("session/prompt", { sessionId: id, prompt })).toContain(words);
  expect(await one.say(id, "hello")).toMatchObject({ result: { stopReason: "end_turn" } });
});

test("without a key a session asks for one, and says where from; with one it opens", async () => {
  const workspace = tempWorkspace();
  const one = await editor(workspace);
  const open = () => one.request("session/new", { cwd: workspace.cwd, mcpServers: [] });
  const { error } = await open();
  expect(error).toMatchObject({
    code: -32000,
    message: expect.stringContaining("store a key with sawtooth login"),
  });
  const authenticate = () => one.request("authenticate", { methodId: "key" });
  expect((await authenticate()).error?.code).toBe(-32000);
  const methods = one.greeting.authMethods as { id: string; args?: string[] }[];
  const [words = []] = methods.flatMap(({ args }) => (args ? [args] : []));
  const stored = await sawtooth(workspace, ["acp", ...words, "anthropic"], {
    input: `sk-ant-api03-${"a".repeat(95)}`,
  });
  expect(stored.code, stored.stderr).toBe(0);
  expect((await authenticate()).result).toEqual({});
  expect((await open()).result).toBeDefined();
});

test("words of the command line that mean nothing here are refused", async () => {
  const workspace = tempWorkspace();
  for (const [words, wrong] of [
    [["hello"], "acp takes no hello"],
    [["--output-format", "json"], "--output-format has no effect on acp"],
    [["-c"], "--continue has no effect on acp"],
  ] as const) {
    const { code, stderr, stdout } = await start(workspace, ["acp", ...words]).ended;
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(wrong);
  }
});
