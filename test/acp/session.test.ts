/** Sessions over the Agent Client Protocol: prompts, permissions, cancellation, choices, and what the client is told. */

import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { spending } from "../../src/core/questions.ts";
import { mcp, testServer } from "../mcp/session.ts";
import { serveMcp } from "../support/mcp-http.ts";
import { jsonLines, sawtooth, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { editor, shown } from "./editor.ts";

const edit = (input: object) => ({ str_replace_editor: { ...input } });
const auto = ["--permission-mode", "auto"];

function eventsOf({ home }: Workspace, id = ""): LogEvent[] {
  const [file = ""] = globSync(`sawtooth/state/sessions/*/${id}*/events.jsonl`, { cwd: home });
  return jsonLines(readFileSync(join(home, file), "utf8")) as LogEvent[];
}

const alive = (file: string): boolean => {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
};

test("a turn: words, thoughts, a call that is asked about, its result, the title, and the bill of the result object", async () => {
  const turns = [
    { thinking: "What is there?", text: "I look.", calls: [bash("echo made > made.txt; cat made.txt")] },
    { text: "There is a file." },
  ];
  const { workspace } = await serve(turns);
  const one = await editor(workspace);
  const id = await one.open();
  expect(await one.say(id, "make a file")).toMatchObject({ result: { stopReason: "end_turn" } });
  const [asked] = one.asked;
  expect(asked?.toolCall).toMatchObject({ title: "echo made > made.txt; cat made.txt", kind: "execute" });
  expect(asked?.options.map(({ kind }) => kind)).toEqual([
    ...["allow_once", "allow_always", "allow_always", "allow_always", "reject_once"],
  ]);
  expect(asked?.options[1]?.name).toBe(
    "Yes, always in this session: bash(echo made > made.txt; cat made.txt)",
  );
  const updates = one.updates(id);
  // Output that streams in meanwhile comes without a status.
  const statuses = updates.filter((update) => update.toolCallId).flatMap(({ status }) => status ?? []);
  expect(statuses).toEqual(["pending", "pending", "in_progress", "completed"]);
  const { entries } = shown(updates);
  expect(entries.map(([, entry]) => entry.text ?? entry.kind)).toEqual([
    ...["What is there?", "I look.", "execute", "There is a file."],
  ]);
  expect(JSON.stringify(entries)).toContain("made\\n```");
  expect(updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: "session_info_update", title: "make a file" }),
  );
  await one.close();
  const usage = updates.findLast(({ sessionUpdate }) => sessionUpdate === "usage_update");
  const { cost } = spending(eventsOf(workspace));
  expect(usage).toMatchObject({ cost: { amount: cost, currency: "USD" } });
  const again = await serve(turns);
  const { stdout } = await sawtooth(again.workspace, [
    "-p",
    "make a file",
    ...auto,
    "--output-format",
    "json",
  ]);
  const result = JSON.parse(stdout) as { total_cost_usd: number };
  // The folders' names differ, and with them some tokens of the first message.
  expect(Math.abs(result.total_cost_usd - cost) / cost).toBeLessThan(0.02);
});

test("no is a failed call that the model hears of; always is a rule: the second time nobody is asked", async () => {
  const { workspace, server } = await serve([
    { calls: [bash("touch no.txt")] },
    { calls: [bash("npm test")] },
    { calls: [bash("npm test")] },
    { text: "done" },
  ]);
  const one = await editor(workspace);
  const id = await one.open();
  one.answerWith(({ toolCall }) => (toolCall.title === "touch no.txt" ? "reject_once" : "allow_always"));
  await one.say(id, "go");
  expect(one.asked.map(({ toolCall }) => toolCall.title)).toEqual(["touch no.txt", "npm test"]);
  expect(existsSync(join(workspace.cwd, "no.txt"))).toBe(false);
  expect(server.rawBodies[1]).toContain("The user did not allow this");
  const calls = shown(one.updates(id)).entries.filter(([, entry]) => entry.kind === "execute");
  expect(calls.map(([, { status }]) => status)).toEqual(["failed", "failed", "failed"]);
  expect(one.asked[1]?.options[1]?.name).toContain("bash(npm test:*)");
});

test("cancel ends a running command with its whole tree, and the session goes on", async () => {
  const command = "sleep 1000 & echo $! > child; echo $BASHPID > shell; sleep 1001";
  const { workspace } = await serve([{ calls: [bash(command)] }, { text: "went on" }]);
  const one = await editor(workspace, auto);
  const id = await one.open();
  const turn = one.say(id, "sleep");
  const child = join(workspace.cwd, "child");
  await until(() => existsSync(child) && readFileSync(child, "utf8") !== "");
  one.notify("session/cancel", { sessionId: id });
  expect(await turn).toMatchObject({ result: { stopReason: "cancelled" } });
  await until(() => !alive(child));
  expect(await one.say(id, "go on")).toMatchObject({ result: { stopReason: "end_turn" } });
  expect((await one.close()).code).toBe(0);
});

test("cancel closes an open question, and so does a mode that answers it", async () => {
  const { workspace } = await serve([
    { calls: [bash("touch one.txt")] },
    { calls: [bash("touch two.txt")] },
    { text: "done" },
  ]);
  const one = await editor(workspace, [], { choose: () => undefined });
  const id = await one.open();
  const first = one.say(id, "go");
  await until(() => one.asked.length === 1);
  one.notify("session/cancel", { sessionId: id });
  expect(await first).toMatchObject({ result: { stopReason: "cancelled" } });
  const second = one.say(id, "go");
  await until(() => one.asked.length === 2);
  await one.call("session/set_mode", { sessionId: id, modeId: "auto" });
  expect(await second).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(existsSync(join(workspace.cwd, "one.txt"))).toBe(false);
  expect(existsSync(join(workspace.cwd, "two.txt"))).toBe(true);
});

test("two sessions work at once, each with its own folder, model output and mode", async () => {
  const { workspace } = await serve((body) => {
    const said = JSON.stringify(body.messages);
    if (said.includes("tool_result")) return { text: said.includes("alpha") ? "A" : "B" };
    return { calls: [bash("pwd > place; until [ -e ../both ]; do sleep 0.1; done")] };
  });
  const other = join(workspace.cwd, "other");
  mkdirSync(other);
  const one = await editor(workspace, auto);
  const [first, second] = [await one.open(), await one.open({ cwd: other })];
  const turns = [one.say(first, "alpha"), one.say(second, "beta")];
  const places = [join(workspace.cwd, "place"), join(other, "place")];
  await until(() => places.every((place) => existsSync(place)));
  writeFileSync(join(workspace.cwd, "../both"), "");
  writeFileSync(join(workspace.cwd, "both"), "");
  await Promise.all(turns);
  expect(places.map((place) => readFileSync(place, "utf8").trim())).toEqual([workspace.cwd, other]);
  const words = (id: string) => shown(one.updates(id)).entries.map(([, entry]) => entry.text);
  expect([words(first).at(-1), words(second).at(-1)]).toEqual(["A", "B"]);
});

test("mode, model, effort and context are choices; during a turn the last three wait for its end", async () => {
  const { workspace, server } = await serve([
    { calls: [bash("touch begun; until [ -e go ]; do sleep 0.1; done")] },
    { text: "one" },
    { text: "two" },
  ]);
  const one = await editor(workspace);
  const result = await one.call("session/new", { cwd: workspace.cwd, mcpServers: [] });
  const id = String(result.sessionId);
  const valuesIn = (options: unknown) =>
    Object.fromEntries(
      (options as { id: string; currentValue: string }[]).map((option) => [option.id, option.currentValue]),
    );
  expect(valuesIn(result.configOptions)).toEqual({
    ...{ mode: "ask", model: "anthropic/claude-sonnet-5-5", effort: "default", context: "economist" },
  });
  const set = (configId: string, value: string) =>
    one.request("session/set_config_option", { sessionId: id, configId, value });
  expect((await set("mode", "auto")).result).toBeDefined();
  const turn = one.say(id, "begin");
  await until(() => existsSync(join(workspace.cwd, "begun")));
  await set("model", "anthropic/claude-opus-5-5");
  await set("effort", "high");
  const { result: last } = await set("context", "masking");
  expect(valuesIn(last?.configOptions)).toEqual({
    ...{ mode: "auto", model: "anthropic/claude-opus-5-5", effort: "high", context: "masking" },
  });
  writeFileSync(join(workspace.cwd, "go"), "");
  await turn;
  expect(server.requests.map(({ model }) => model)).toEqual(["claude-sonnet-5-5", "claude-sonnet-5-5"]);
  await one.say(id, "again");
  expect(server.requests[2]).toMatchObject({ model: "claude-opus-5-5", output_config: { effort: "high" } });
  expect(
    eventsOf(workspace).some((event) => event.type === "settings_changed" && event.context === "masking"),
  ).toBe(true);
  const wrong = [await set("mode", "yolo"), await set("model", "no/such"), await set("colour", "red")];
  for (const { error } of wrong) expect(error).toMatchObject({ code: -32602 });
  expect(wrong.map(({ error }) => error?.message)).toEqual([
    "Invalid params: mode takes ask, accept-edits, plan, auto, not yolo",
    expect.stringContaining("unknown model no/such"),
    "Invalid params: there is no option colour",
  ]);
});

test("an edit is a diff with its place, the list of tasks a plan, output is told while a command runs", async () => {
  const { workspace } = await serve([
    { calls: [edit({ command: "create", path: "{{cwd}}/a.txt", file_text: "one\ntwo\nthree\n" })] },
    { calls: [edit({ command: "str_replace", path: "{{cwd}}/a.txt", old_str: "two", new_str: "2" })] },
    {
      calls: [
        {
          todo: {
            items: [
              { text: "first", status: "done" },
              { text: "next", status: "active" },
            ],
          },
        },
      ],
    },
    { calls: [bash("echo begun; until [ -e heard ]; do sleep 0.1; done; echo over")] },
    { text: "done" },
  ]);
  const one = await editor(workspace, auto);
  const id = await one.open();
  const path = join(workspace.cwd, "a.txt");
  const turn = one.say(id, "go");
  await one.until(
    ({ status, content }) => status === undefined && JSON.stringify(content ?? "").includes("begun"),
  );
  writeFileSync(join(workspace.cwd, "heard"), "");
  await turn;
  const { entries, plan } = shown(one.updates(id));
  const edits = entries.filter(([, entry]) => entry.kind === "edit").map(([, entry]) => entry);
  expect(edits).toMatchObject([
    { status: "completed", content: [{ type: "diff", path, oldText: null, newText: "one\ntwo\nthree\n" }] },
    {
      status: "completed",
      title: "edit a.txt",
      content: [{ type: "diff", path, oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" }],
      locations: [{ path, line: 2 }],
    },
  ]);
  expect(plan).toEqual([
    { content: "first", priority: "medium", status: "completed" },
    { content: "next", priority: "medium", status: "in_progress" },
  ]);
});

test("images are scaled, files and links become part of the message; what cannot be read is refused by name", async () => {
  const { workspace, server } = await serve([{ text: "seen" }]);
  const one = await editor(workspace);
  const id = await one.open();
  const large = PNG.sync.write(new PNG({ width: 3000, height: 10 })).toString("base64");
  const reply = await one.say(id, [
    { type: "text", text: "look" },
    { type: "image", mimeType: "image/png", data: large },
    { type: "resource", resource: { uri: "file:///p/a%20b.txt#L2", text: "embedded </attached> words" } },
    { type: "resource_link", name: "b.txt", uri: "file:///p/b.txt" },
    { type: "resource", resource: { uri: "x:y.bin", blob: Buffer.from("abc").toString("base64") } },
  ]);
  expect(reply).toMatchObject({ result: { stopReason: "end_turn" } });
  const content = server.requests[0]?.messages[0]?.content as { type: string; text?: string }[];
  const texts = content.map((block) => block.text ?? block.type);
  expect(texts).toContain("image");
  expect(texts).toContain(
    "block 2: png image, 3000x10, 193 bytes; shown at 2000x7".replace(
      "193",
      String(Buffer.from(large, "base64").length),
    ),
  );
  expect(texts).toContain('<attached path="/p/a b.txt#L2">\nembedded <\\/attached> words\n</attached>');
  expect(texts).toContain("@/p/b.txt");
  expect(texts.some((text) => /^\[attached x:y\.bin, 3 bytes: .*\.bin\]$/.test(text))).toBe(true);
  const refused = async (block: object) => (await one.say(id, [block])).error?.message;
  expect(await refused({ type: "image", mimeType: "image/png", data: "aGVsbG8=" })).toContain(
    "block 1 is no PNG",
  );
  expect(await refused({ type: "audio", mimeType: "audio/wav", data: "aGVsbG8=" })).toContain("is audio");
  expect(await refused({ type: "text", text: "  " })).toContain("the prompt is empty");
});

test("slash commands answer without the model, a command of one's own is sent, anything else is just words", async () => {
  const { workspace, server } = await serve([{ text: "reviewed" }, { text: "said" }]);
  const folder = join(workspace.env.SAWTOOTH_HOME ?? "", "config/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "review.md"), "---\ndescription: Reviews\n---\nReview $ARGUMENTS please.");
  const one = await editor(workspace);
  const id = await one.open();
  const { availableCommands } = await one.until(
    ({ sessionUpdate }) => sessionUpdate === "available_commands_update",
  );
  const names = (availableCommands as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["context", "compact", "undo", "review"]));
  expect(names).not.toContain("exit");
  expect(await one.say(id, "/context")).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(server.requests).toHaveLength(0);
  await one.say(id, "/review a.ts");
  expect(server.rawBodies[0]).toContain("Review a.ts please.");
  await one.say(id, "/etc/hosts is wrong");
  expect(server.rawBodies[1]).toContain("/etc/hosts is wrong");
});

test("commands of the project are data until the client's user trusts them", async () => {
  const { workspace, server } = await serve([{ text: "hello" }]);
  const folder = join(workspace.cwd, ".sawtooth/commands");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "greet.md"), "Greet everybody.");
  const one = await editor(workspace);
  const id = await one.open();
  const named = () =>
    one
      .updates(id)
      .flatMap((update) =>
        update.sessionUpdate === "available_commands_update"
          ? [(update.availableCommands as { name: string }[]).some(({ name }) => name === "greet")]
          : [],
      );
  await until(() => named().length > 0);
  one.answerWith(() => "reject_once");
  await one.say(id, "/trust");
  expect(named()).toEqual([false]);
  one.answerWith(() => "allow_once");
  await one.say(id, "/trust");
  await until(() => named().includes(true));
  expect(one.asked).toHaveLength(2);
  await one.say(id, "/greet");
  expect(server.rawBodies[0]).toContain("Greet everybody.");
});

test("a reply that breaks off and begins again is told once", async () => {
  const { workspace } = await serve([
    { text: "A whole sentence.", fault: { closeAfterEvents: 3 } },
    { text: "A whole sentence." },
  ]);
  const one = await editor(workspace);
  const id = await one.open();
  await one.say(id, "go");
  const { entries } = shown(one.updates(id));
  expect(entries.map(([, { text }]) => text)).toEqual(["A whole sentence."]);
  expect(
    one.updates(id).some((update) => update.sessionUpdate === "notice" && update.severity === "warning"),
  ).toBe(true);
});

test("servers of tools that the client names are started, or connected to, as given, and called", async () => {
  const { command, args } = testServer();
  const { url, asked } = await serveMcp();
  const { workspace } = await serve([
    { calls: [mcp("given", "environment")] },
    { calls: [mcp("web", "add", { arguments: { a: 20, b: 22 } })] },
    { text: "done" },
  ]);
  const one = await editor(workspace, auto);
  // In settings this is a variable; an editor means what it says.
  const value = `$${"{HOME}"} stays`;
  const id = await one.open({
    mcpServers: [
      { name: "given", command, args, env: [{ name: "GIVEN", value }] },
      { type: "http", name: "web", url, headers: [{ name: "X-Team", value }] },
    ],
  });
  await one.say(id, "go");
  const calls = shown(one.updates(id)).entries.filter(([, { kind }]) => kind === "other");
  expect(calls.map(([, { title, status }]) => [title, status])).toEqual([
    ["mcp given/environment", "completed"],
    ["mcp web/add", "completed"],
  ]);
  expect(JSON.stringify(calls[0])).toContain(value);
  expect(JSON.stringify(calls[1])).toContain("42");
  expect(asked.every(({ headers }) => headers["x-team"] === value)).toBe(true);
});
