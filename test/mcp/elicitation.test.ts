/** Questions of servers in the middle of a call: shown to the person, answered over both protocols, declined by default. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { elicitByPerson } from "../../src/app/mcp/elicit.ts";
import type { Person } from "../../src/app/session.ts";
import { serversOf } from "../../src/mcp/configuration.ts";
import { type CallOptions, connect } from "../../src/mcp/connection.ts";
import type { Elicitation } from "../../src/mcp/elicitation.ts";
import { startOnMachine } from "../../src/mcp/process.ts";
import { tempWorkspace } from "../support/served.ts";
import { published, testServer } from "./session.ts";

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
function personWho(decision: "allow" | "deny") {
  const asked: Asked[] = [];
  const told: string[] = [];
  const ask: Person["ask"] = async (question) => {
    asked.push(question);
    return decision === "allow" ? { decision } : { decision, say: "" };
  };
  return { asked, told, elicit: elicitByPerson(ask, (text) => void told.push(text)) };
}

test("a page is shown with its address and a form with what stands in it; yes accepts and no declines", async () => {
  const yes = personWho("allow");
  expect(await yes.elicit("shop", page, never)).toEqual({ action: "accept", content: {} });
  expect(await yes.elicit("shop", form, never)).toEqual({ action: "accept", content: { name: "two" } });
  expect(yes.asked.map(({ elicitation }) => elicitation?.lines)).toEqual([
    ["Sign in", "https://pay.example/x"],
    ["Book it?", "Name: two"],
  ]);
  const no = personWho("deny");
  expect(await no.elicit("shop", page, never)).toEqual({ action: "decline" });
});

test("without a person everything is declined; a form that must be typed into is declined and told", async () => {
  expect(await elicitByPerson(undefined, () => {})("shop", page, never)).toEqual({ action: "decline" });
  const person = personWho("allow");
  const empty: Elicitation = { kind: "form", message: "Who?", fields: [{ ...field, type: "text" }] };
  expect(await person.elicit("shop", empty, never)).toEqual({ action: "decline" });
  expect(person.asked).toEqual([]);
  expect(person.told).toEqual([
    "MCP server shop asked for what only typing could answer, and was declined: Who?",
  ]);
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
  const connection = await connect({
    target: { kind: "program", start: () => startOnMachine({ configuration, cwd: root, env, errors }) },
    ...{ prior: undefined, version: "0", onChanged() {}, onEnded() {} },
    async elicit(question) {
      await new Promise((resolve) => setTimeout(resolve, 700));
      const fields = question.kind === "form" ? question.fields : [];
      const wanted = fields.filter(({ required }) => required);
      return { action: "accept", content: Object.fromEntries(wanted.map(({ key }) => [key, "Ada"])) };
    },
  });
  const options: CallOptions = { signal: never, timeoutMs: 300, onProgress() {} };
  const result = await connection.call(tool, {}, options);
  await connection.close();
  expect(JSON.stringify(result.content)).toContain(said);
});
