/** Prompts of servers as `/server:prompt`: in the screen, in its plain form, headless, and in an editor. */

import { expect, onTestFinished, test } from "vitest";
import { readPromptArguments } from "../../src/mcp/prompt-words.ts";
import { editor } from "../acp/editor.ts";
import { drive } from "../support/pty-drive.ts";
import { jsonLines, sawtooth, writeSettings } from "../support/sawtooth.ts";
import { atRest, lastUserText } from "../support/terminal-fixture.ts";
import { published, testServer, withServers } from "./session.ts";

const weather = {
  name: "weather",
  description: "",
  arguments: [
    { name: "city", description: "where", required: true },
    { name: "tone", description: "", required: false },
  ],
};

test.each([
  ["city=Oslo", { values: { city: "Oslo" } }],
  ["city=New York tone=a=b c", { values: { city: "New York", tone: "a=b c" } }],
  [`tone='' city="Oslo "`, { values: { tone: "", city: "Oslo " } }],
  ["", { wrong: "needs city (where)" }],
  ["city= tone=dry", { wrong: "needs city (where)" }],
  ["Oslo", { wrong: "does not take Oslo" }],
  ["town=Oslo city=Oslo", { wrong: "does not take town=Oslo" }],
  ["city=Oslo city=Bergen", { wrong: "was given city twice" }],
])("the arguments %s are read or refused", (text, read) => {
  expect(readPromptArguments(text, weather)).toEqual(read);
});

test("the only argument of a prompt needs no name", () => {
  const one = { ...weather, arguments: weather.arguments.slice(0, 1) };
  expect(readPromptArguments("New York", one)).toEqual({ values: { city: "New York" } });
});

const rich = { test: testServer("rich") };

test("a headless run says what the server makes of a prompt, framed, before what was piped", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], rich);
  const ended = await sawtooth(seen.workspace, ["-p", "/test:weather city=New York tone=dry"], {
    input: "a log",
  });
  expect(ended.code).toBe(0);
  const said = seen.events().flatMap((event) => (event.type === "user_message" ? event.content : []));
  expect(said.slice(-2)).toEqual([
    {
      type: "text",
      text: 'I start this prompt of the MCP server test, which wrote the text in the tag.\n\n<mcp_prompt server="test" name="weather" arguments={"city":"New York","tone":"dry"}>\nWhat is the weather in New York? Be dry.\n</mcp_prompt>',
    },
    { type: "text", text: "<stdin>\na log\n</stdin>" },
  ]);
});

test.each([
  ["/test:weather", "/test:weather needs city (where). Usage: /test:weather city=… [tone=…]"],
  ["/test:nothing", "MCP server test has no prompt nothing. Its prompts: /test:weather"],
  ["/dies:weather", "ended with exit code 7"],
])("a headless run with %s ends with a clear line, before any request", async (line, why) => {
  const seen = await withServers([{ text: "final" }], { ...rich, dies: testServer("dies") });
  const ended = await sawtooth(seen.workspace, ["-p", line]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(why);
  expect(seen.server.requests).toHaveLength(0);
});

test("a driving program starts a prompt with any message; one that fails ends its turn, not the session", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], rich);
  const words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
  const text = (line: string) => ({ type: "text", text: line });
  const messages = [[text("/test:weather")], [text("/test:weather city=Oslo"), text("and tomorrow?")]];
  const lines = messages.map((content) =>
    JSON.stringify({ type: "user", message: { role: "user", content } }),
  );
  const { code, stdout } = await sawtooth(seen.workspace, words, { input: `${lines.join("\n")}\n` });
  expect(code).toBe(0);
  const told = jsonLines(stdout).filter(({ type }) => type === "warning" || type === "turn");
  expect(told).toMatchObject([
    { type: "warning", message: expect.stringContaining("/test:weather needs city (where)") },
    { type: "turn", reason: "error", num_turns: 0 },
    { type: "turn", reason: "completed", result: "final" },
  ]);
  const said = seen.events().flatMap((event) => (event.type === "user_message" ? event.content : []));
  expect(JSON.stringify(said)).toContain("What is the weather in Oslo?");
  expect(said.at(-1)).toEqual(text("and tomorrow?"));
});

test("a line that names no server of the session is said as it stands", async () => {
  const seen = await withServers([{ text: "final" }], rich);
  expect((await sawtooth(seen.workspace, ["-p", "/other:weather city=Oslo"])).code).toBe(0);
  expect(lastUserText(seen.server)).toBe("/other:weather city=Oslo");
});

test("prompts of the reference server are said with their images and resources", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], {
    everything: published("everything", "stdio"),
  });
  const run = async (line: string) => {
    expect((await sawtooth(seen.workspace, ["-p", line])).stderr).toBe("");
    return lastUserText(seen.server);
  };
  expect(await run("/everything:simple-prompt")).toContain("This is a simple prompt without arguments.");
  expect(await run("/everything:args-prompt city=Oslo")).toContain("What's weather in Oslo?");
  expect(await run("/everything:resource-prompt resourceType=Text resourceId=1")).toContain(
    "demo://resource/dynamic/text/1",
  );
});

test("the screen completes the prompts that are known, asks for what is missing, and says one", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], rich);
  await sawtooth(seen.workspace, ["-p", "/test:weather city=Bergen"]);
  const terminal = drive(seen.workspace, [], { rows: 50, columns: 140 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("/test:w");
  await terminal.until(/❯ \/test:weather +Asks for the weather/);
  terminal.send("\t\r");
  await terminal.until("/test:weather needs city (where). Usage: /test:weather city=… [tone=…]");
  terminal.send("/test:weather city=Oslo\r");
  await terminal.until("final");
  await atRest(terminal);
  expect(lastUserText(seen.server)).toContain("What is the weather in Oslo?\n</mcp_prompt>");
  terminal.send("/test:storm\r");
  await terminal.until("Unknown command /test:storm");
});

test("a server that was never connected to has its prompts after a restart, also in the plain screen", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], {});
  writeSettings(seen.workspace, { mcpServers: rich });
  const terminal = drive(seen.workspace, ["--plain"], { rows: 50, columns: 140 });
  onTestFinished(() => terminal.kill());
  await terminal.until("/help");
  terminal.send("/mcp restart test\r");
  await terminal.until("test was started again");
  terminal.send("/test:weather city=Oslo\r");
  await terminal.until("final");
  expect(lastUserText(seen.server)).toContain("What is the weather in Oslo?\n</mcp_prompt>");
});

test("an editor is told of the prompts that are known, and starts one", async () => {
  const seen = await withServers([{ text: "final", repeat: 9 }], rich);
  await sawtooth(seen.workspace, ["-p", "/test:weather city=Bergen"]);
  const one = await editor(seen.workspace);
  const id = await one.open();
  await one.say(id, "/test:weather");
  expect(JSON.stringify(one.updates(id))).toContain("/test:weather needs city (where)");
  await one.say(id, "/test:weather city=Oslo");
  expect(lastUserText(seen.server)).toContain("What is the weather in Oslo?\n</mcp_prompt>");
  await one.until(
    ({ sessionUpdate, availableCommands }) =>
      sessionUpdate === "available_commands_update" &&
      JSON.stringify(availableCommands).includes('"test:weather"'),
  );
});
