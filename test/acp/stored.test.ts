/** Stored sessions over the Agent Client Protocol: listed, loaded, resumed, closed, deleted; edits of the context. */

import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf, spending } from "../../src/core/questions.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { editor, shown, type Update } from "./editor.ts";

const auto = ["--permission-mode", "auto"];
const edit = (input: object) => ({ str_replace_editor: { ...input } });

function logOf({ home }: Workspace): LogEvent[] {
  const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: home });
  return jsonLines(readFileSync(join(home, file), "utf8")) as LogEvent[];
}

/** The conversation as a client shows it, without what the client said itself. */
function conversation(updates: readonly Update[]) {
  const { entries, ...rest } = shown(updates);
  return { ...rest, entries: entries.filter(([, { kind }]) => kind !== "user_message_chunk") };
}

test("load tells the conversation as it was told, and the session goes on", async () => {
  const { workspace, server } = await serve([
    { thinking: "First, look.", text: "I look.", calls: [bash("ls"), bash("exit 3")] },
    { calls: [edit({ command: "create", path: "{{cwd}}/a.txt", file_text: "one\n" })] },
    { calls: [edit({ command: "str_replace", path: "{{cwd}}/a.txt", old_str: "one", new_str: "two" })] },
    {
      calls: [
        { todo: { items: [{ text: "only", status: "active" }] } },
        edit({ command: "view", path: "a.txt" }),
      ],
    },
    { text: "Done.", thinking: "So." },
    { text: "Again." },
    { text: "And on." },
  ]);
  const live = await editor(workspace, auto);
  const id = await live.open();
  await live.say(id, "work");
  await live.say(id, "more");
  await live.close();
  const later = await editor(workspace, auto);
  await later.call("session/load", { sessionId: id, cwd: workspace.cwd, mcpServers: [] });
  expect(conversation(later.updates(id))).toEqual(conversation(live.updates(id)));
  const said = later.updates(id).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
  expect(said.map(({ content }) => (content as { text: string }).text)).toEqual(["work", "more"]);
  await later.say(id, "on");
  expect(server.requests).toHaveLength(7);
  expect(JSON.stringify(server.requests[6]?.messages)).toMatch(/work.*Done.*more.*Again.*on/);
});

test("after kill -9 the session is listed, resumes without being told again, and no process is left", async () => {
  const { workspace } = await serve([
    { text: "I wait.", calls: [bash("echo $BASHPID > shell; sleep 1000")] },
    { text: "went on" },
  ]);
  const killed = await editor(workspace, auto);
  const id = await killed.open();
  void killed.say(id, "wait here");
  const shell = join(workspace.cwd, "shell");
  await until(() => existsSync(shell) && readFileSync(shell, "utf8") !== "");
  killed.child.kill("SIGKILL");
  await killed.ended;
  const pid = Number(readFileSync(shell, "utf8"));
  await until(() => !existsSync(`/proc/${pid}`));
  const next = await editor(workspace, auto);
  const { sessions } = await next.call("session/list", { cwd: workspace.cwd });
  expect(sessions).toMatchObject([{ sessionId: id, title: "wait here", cwd: workspace.cwd }]);
  await next.call("session/resume", { sessionId: id, cwd: workspace.cwd });
  expect(next.updates(id).filter(({ sessionUpdate }) => sessionUpdate.endsWith("_chunk"))).toEqual([]);
  expect(await next.say(id, "go on")).toMatchObject({ result: { stopReason: "end_turn" } });
});

test("close ends a turn with its processes; delete removes the session; the list has pages", async () => {
  const { workspace } = await serve((body) =>
    JSON.stringify(body.messages).includes("wait")
      ? { calls: [bash("touch waits; sleep 1000")] }
      : { text: "said" },
  );
  const one = await editor(workspace, auto);
  const first = await one.open();
  const turn = one.say(first, "wait");
  await until(() => existsSync(join(workspace.cwd, "waits")));
  await one.call("session/close", { sessionId: first });
  expect(await turn).toMatchObject({ result: { stopReason: "cancelled" } });
  expect((await one.say(first, "more")).error).toMatchObject({
    code: -32002,
    message: expect.stringContaining("is not open here"),
  });
  const id = await one.open();
  await one.say(id, "hello");
  const [folder = ""] = globSync(`${workspace.home}/sawtooth/state/sessions/*/${id}`);
  for (let count = 100; count < 200; count++)
    cpSync(folder, join(dirname(folder), `20260101-000000-000${count}`), { recursive: true });
  const page = await one.call("session/list", {});
  const rest = await one.call("session/list", { cursor: page.nextCursor });
  expect([(page.sessions as []).length, (rest.sessions as []).length]).toEqual([100, 2]);
  expect(rest).not.toHaveProperty("nextCursor");
  await one.call("session/delete", { sessionId: first });
  expect(globSync(`sawtooth/state/sessions/*/${first}`, { cwd: workspace.home })).toEqual([]);
  expect((await one.request("session/delete", { sessionId: first })).error?.code).toBe(-32002);
});

test("a session that another process has open, or whose folder is gone, is refused with what to do", async () => {
  const { workspace } = await serve([{ text: "hi" }, { calls: [bash("touch ../held; sleep 1000")] }]);
  const cwd = join(workspace.cwd, "project");
  mkdirSync(cwd);
  const one = await editor(workspace, auto);
  const id = await one.open({ cwd });
  await one.say(id, "hello");
  await one.call("session/close", { sessionId: id });
  const other = start({ ...workspace, cwd }, ["-p", "wait", "-r", id, ...auto]);
  await until(() => existsSync(join(workspace.cwd, "held")));
  const load = (folder: string) =>
    one.request("session/load", { sessionId: id, cwd: folder, mcpServers: [] });
  expect((await load(cwd)).error?.message).toContain(`is in use by process ${other.child.pid}`);
  expect((await one.request("session/delete", { sessionId: id })).error?.message).toContain("is in use");
  other.child.kill("SIGKILL");
  await other.ended;
  expect((await load(workspace.cwd)).error?.message).toContain(`works in ${cwd}`);
  renameSync(cwd, join(workspace.cwd, "moved"));
  expect((await load(cwd)).error?.message).toContain("there is no such folder");
  expect((await load(workspace.cwd)).error?.message).toContain("no longer exists");
});

test("each edit of the context is told with its reason and price to a client that shows them, and the bill is the log's", async () => {
  const command = "seq 1 2500";
  const turns = [
    ...Array.from({ length: 14 }, (_, index) => ({ calls: [bash(`${command}; echo ${index}`)] })),
    { text: "done" },
  ];
  const { workspace } = await serve(turns);
  const words = [...auto, "--context", "masking", "--window", "30000"];
  const one = await editor(workspace, words);
  const id = await one.open();
  await one.say(id, "go");
  await one.close();
  const events = logOf(workspace);
  const edits = allOf(events, "context_edited");
  expect(edits.length).toBeGreaterThan(0);
  const told = one.updates(id).filter(({ sessionUpdate }) => sessionUpdate === "compaction_update");
  expect(told.map(({ compactionId }) => compactionId)).toEqual(edits.map(({ seq }) => `edit-${seq}`));
  for (const [index, { summary }] of told.entries())
    expect(JSON.stringify(summary)).toContain(edits[index]?.reason);
  const usage = one.updates(id).findLast(({ sessionUpdate }) => sessionUpdate === "usage_update");
  expect(usage).toMatchObject({ size: 30_000, cost: { amount: spending(events).cost } });
  const result = await sawtooth(workspace, ["sessions", "export", id, "--format", "json"]);
  expect(result.code).toBe(0);
  const plain = await editor(workspace, words, { capabilities: {} });
  await plain.call("session/load", { sessionId: id, cwd: workspace.cwd, mcpServers: [] });
  const kinds = new Set(plain.updates(id).map(({ sessionUpdate }) => sessionUpdate));
  expect([...kinds].filter((kind) => /compaction|notice/.test(kind))).toEqual([]);
});
