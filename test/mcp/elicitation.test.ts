/** Questions of servers in the middle of a call: shown to the person, answered over both protocols, declined by default. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { elicitByPerson } from "../../src/app/mcp/elicit.ts";
import type { Person } from "../../src/app/session.ts";
import { serversOf } from "../../src/mcp/configuration.ts";
import { connect } from "../../src/mcp/connection.ts";
import type { Elicitation } from "../../src/mcp/elicitation.ts";
import { startOnMachine } from "../../src/mcp/process.ts";
import type { Answer } from "../../src/tui/ports/session.ts";
import { drive } from "../support/pty-drive.ts";
import { tempWorkspace } from "../support/served.ts";
import { withLimit } from "../support/until.ts";
import { mcp, published, testServer, withServers } from "./session.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const never = new AbortController().signal;
const field = { key: "name", title: "Name", description: "", required: true, initial: "" };
const page: Elicitation = { kind: "url", message: "Sign in", url: "https://pay.example/x" };
const form: Elicitation = {
  kind: "form",
  message: "Book it?",
  fields: [{ ...field, type: "text", initial: "two" }],
};

type Asked = Parameters<Person["ask"]>[0];

/** A person who answers the same to everything. */
function personWho(answer: Answer) {
  const asked: Asked[] = [];
  const ask: Person["ask"] = async (question) => {
    asked.push(question);
    return answer;
  };
  return { asked, elicit: elicitByPerson(ask, () => {}) };
}

test("a page is shown with its address and a form with its fields; yes accepts, no declines, Escape cancels", async () => {
  const yes = personWho({ decision: "allow", content: { name: "two" } });
  expect(await yes.elicit("shop", form, never)).toEqual({ action: "accept", content: { name: "two" } });
  await yes.elicit("shop", page, never);
  expect(yes.asked.map(({ elicitation }) => elicitation)).toMatchObject([
    { lines: ["Book it?"], fields: [{ key: "name", initial: "two" }] },
    { lines: ["Sign in", "https://pay.example/x"], url: "https://pay.example/x" },
  ]);
  const no = personWho({ decision: "deny", say: "" });
  expect(await no.elicit("shop", page, never)).toEqual({ action: "decline" });
  const away = personWho({ decision: "deny", say: "", dismissed: true });
  expect(await away.elicit("shop", form, never)).toEqual({ action: "cancel" });
});

test("in a run without a person a question is declined, and one line says of whom and what about", async () => {
  const call = mcp("everything", "trigger-elicitation-request");
  const seen = await withServers([{ calls: [call] }, { text: "on" }], {
    everything: published("everything", "stdio"),
  });
  const { stderr } = await seen.run("--permission-mode", "auto");
  expect(seen.results()[0]).toContain("User declined");
  expect(stderr).toContain(
    "MCP server everything asked a person, and nobody is here to answer: declined: Please provide inputs for the following fields:",
  );
});

test("a form is filled in on the screen: what is wrong is told, and the server gets values of the right kinds", async () => {
  const call = mcp("everything", "trigger-elicitation-request");
  const seen = await withServers([{ calls: [call] }, { text: "final" }], {
    everything: published("everything", "stdio"),
  });
  const terminal = drive(seen.workspace, ["--permission-mode", "auto"], { rows: 40, columns: 100 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("go\r");
  await terminal.until(/everything asks[\s\S]*❯ String \*/);
  terminal.send("\r");
  await terminal.until("String is required");
  terminal.send("Ada\r");
  await terminal.until("❯ Boolean");
  // Keys that come at once are a paste.
  const press = async (keys: string[], wanted: string | RegExp) => {
    for (const key of keys) {
      terminal.send(key);
      await terminal.drawn();
    }
    await terminal.until(wanted);
  };
  await press(["y", "\r", "\r", "ada\r"], "must be an email address");
  await press(["@example.org\r", "\r", "\r"], "❯ Integer");
  await press(["\x7f", "\x7f", "7\r", "\r"], /❯ Untitled Single Select Enum +‹Monica›/);
  await press(["\x1b[C", "\r", "2", "\r", "\r", "\r", "\r"], "❯ Send");
  terminal.send("\r");
  await terminal.until("final");
  const [, raw = ""] = /Raw result: ([\s\S]*)/.exec(seen.results()[0] ?? "") ?? [];
  const content = { name: "Ada", check: true, email: "ada@example.org", integer: 7, number: 3.14 };
  expect(JSON.parse(raw)).toMatchObject({
    action: "accept",
    content: {
      ...{ ...content, untitledSingleSelectEnum: "Rachel", untitledMultipleSelectEnum: ["Guitar", "Piano"] },
      ...{
        titledSingleSelectEnum: "hero-1",
        titledMultipleSelectEnum: ["fish-1"],
        legacyTitledEnum: "pet-1",
      },
    },
  });
  expect(raw).not.toContain("homepage");
});

test("a page that a server needs first is shown and not opened; after the yes the call is made again", async () => {
  const url = "https://pay.example/x";
  const call = mcp("everything", "trigger-url-elicitation", { arguments: { url, errorPath: true } });
  const seen = await withServers(
    [{ calls: [call] }, { text: "first" }, { calls: [call] }, { text: "second" }],
    {
      everything: published("everything", "stdio"),
    },
  );
  const terminal = drive(seen.workspace, ["--permission-mode", "auto"], { rows: 40, columns: 100 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("go\r");
  await terminal.until(/wants you to open a page[\s\S]*https:\/\/modelcontextprotocol\.io\//);
  terminal.send("y");
  await terminal.until(url);
  terminal.send("y");
  await terminal.until("first");
  expect(seen.results()[0]).toContain("User completed the URL elicitation flow");
  terminal.send("go\r");
  await terminal.until("wants you to open a page");
  terminal.send("n");
  await terminal.until("second");
  expect(seen.results()[1]).toBe(
    "MCP server everything refused the call: a person has to open https://modelcontextprotocol.io first",
  );
});

test("--plain asks for one field after the other, then whether to send", async () => {
  const seen = await withServers([{ calls: [mcp("test", "greet")] }, { text: "final" }], {
    test: testServer("rich"),
  });
  const terminal = drive(seen.workspace, ["--plain", "--permission-mode", "auto"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("/help");
  terminal.send("go\r");
  await terminal.until(/Who is there\?\s+Name \(required\)\s+Type it\./);
  terminal.send("\r");
  await terminal.until("Name is required");
  terminal.send("Ada\r");
  await terminal.until(/Name: Ada\s+1 Send\s+2 Decline/);
  terminal.send("1\r");
  await terminal.until("final");
  expect(seen.results()).toEqual(["Hello Ada"]);
  expect(terminal.raw()).not.toContain("\x1b");
});

test.each([
  ["the newest protocol", testServer("rich"), "greet", "Hello Ada"],
  ["the one before", published("everything", "stdio"), "trigger-elicitation-request", "User provided"],
])("a question over %s is answered, and its time is not that of the call", async (_, entry, tool, said) => {
  const { home } = tempWorkspace();
  const [configuration] = serversOf({ asking: entry }, {}).servers;
  if (configuration?.kind !== "program") throw new Error("a program");
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const errors = join(home, "errors.txt");
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  let timeoutMs = 0;
  const connection = await connect({
    target: { kind: "program", start: () => startOnMachine({ configuration, cwd: root, env, errors }) },
    ...{ prior: undefined, version: "0", onChanged() {}, onEnded() {} },
    async elicit(question) {
      await sleep(1.8 * timeoutMs);
      // Our own process stands still while the limit would pass for the second time.
      setImmediate(() => Atomics.wait(nobody, 0, 0, 0.3 * timeoutMs));
      const fields = question.kind === "form" ? question.fields : [];
      const wanted = fields.filter(({ required }) => required);
      return { action: "accept", content: Object.fromEntries(wanted.map(({ key }) => [key, "Ada"])) };
    },
  });
  const { result } = await withLimit(
    (seconds) => {
      timeoutMs = 1000 * seconds;
      const made = connection.call(tool, {}, { signal: never, timeoutMs, onProgress() {} });
      return made.then(({ content }) => JSON.stringify(content), String);
    },
    (words) => words.includes(said),
  );
  await connection.close();
  expect(result).toContain(said);
});
