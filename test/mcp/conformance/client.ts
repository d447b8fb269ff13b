/**
 * The client that the conformance suite starts: our connection and our sign-in, which call all that a server offers. The
 * person is played: the browser follows every page, and forms are sent with what stands in them.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serversOf } from "../../../src/mcp/configuration.ts";
import { type CallOptions, type Connection, connect } from "../../../src/mcp/connection.ts";
import type { Elicit } from "../../../src/mcp/elicitation.ts";
import { CallFailed, ConnectFailed } from "../../../src/mcp/failures.ts";
import { beginLogin } from "../../../src/mcp/oauth/login.ts";

type Context = {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};

const url = process.argv.at(-1) ?? "";
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}") as Context;
const credentials = mkdtempSync(join(tmpdir(), "sawtooth-conformance-"));
const ownClient =
  scenario === "auth/basic-cimd" ? "https://conformance-test.local/client-metadata.json" : context.client_id;
const oauth = {
  ...(ownClient ? { clientId: ownClient } : {}),
  ...(context.client_secret ? { clientSecret: context.client_secret } : {}),
};
const { servers, problems } = serversOf({ tested: { type: "http", url, oauth } }, {});
const [server] = servers;
if (server?.kind !== "http") throw new Error(problems.join("\n"));

const options: CallOptions = { signal: new AbortController().signal, timeoutMs: 10_000, onProgress() {} };
const version = "0.0.0";
/** A person tries no more often than this. */
const mostSignIns = 2;

/** Sends forms as they stand. */
const elicit: Elicit = async (question) => {
  if (question.kind === "url") return { action: "accept" };
  const content = question.fields.flatMap((field): [string, string | number | boolean | string[]][] => {
    if (field.initial === "") return [];
    if (field.type === "yes_no") return [[field.key, field.initial === "true"]];
    if (field.type === "number" || field.type === "integer") return [[field.key, Number(field.initial)]];
    return [[field.key, field.type === "some" ? field.initial.split(", ") : field.initial]];
  });
  return { action: "accept", content: Object.fromEntries(content) };
};

async function signIn(): Promise<void> {
  if (server?.kind !== "http") return;
  const signing = await beginLogin({ server, credentials, version });
  if (signing === "not_needed") return;
  signing.done.catch(() => {});
  const page = await fetch(signing.url, { redirect: "manual" });
  const wrong = signing.paste(page.headers.get("location") ?? "");
  if (wrong) throw new Error(wrong);
  await signing.done;
}

async function connected(): Promise<Connection> {
  const begin = () =>
    connect({
      target: { kind: "http", server: server as Extract<typeof server, { kind: "http" }>, credentials },
      ...{ prior: undefined, version, elicit, onChanged() {}, onEnded() {} },
    });
  for (let left = mostSignIns; ; left--) {
    try {
      return await begin();
    } catch (error) {
      if (!(error instanceof ConnectFailed) || error.kind !== "sign_in" || left === 0) throw error;
      await signIn();
    }
  }
}

/** Arguments that a schema asks for. */
function inputFor(schema: unknown): Record<string, unknown> {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { type?: string }>;
    required?: string[];
  };
  const names = Object.keys(properties).filter((name) => required.includes(name));
  const values: Record<string, unknown> = { number: 5, integer: 5, boolean: true, array: [], object: {} };
  return Object.fromEntries(names.map((name) => [name, values[properties[name]?.type ?? ""] ?? "text"]));
}

/** Makes a call; where the server wants more rights, signs in once more and tries again, as a person would. */
async function call(make: (connection: Connection) => Promise<unknown>): Promise<void> {
  try {
    await make(await connection());
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    process.stderr.write(`${error.kind}: ${error.message}\n`);
    if (error.kind !== "sign_in") return;
    await signIn();
    await make(await connection());
  }
}

let current: Promise<Connection> | undefined;
const connection = (): Promise<Connection> => {
  current ??= connected();
  return current;
};

try {
  const { catalogue } = await connection();
  const calls =
    context.toolCalls ??
    catalogue.tools.map(({ name, inputSchema }) => ({ name, arguments: inputFor(inputSchema) }));
  // One tool wants to be told the schema of another, as it arrived here.
  const schema = catalogue.tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  for (const one of calls) if (one.name === "json_schema_echo") one.arguments = { schema };
  for (const { name, arguments: input } of calls) await call((one) => one.call(name, input, options));
  for (const { uri, template } of catalogue.resources ?? [])
    if (!template) await call((one) => one.read(uri, options));
  for (const { name, arguments: wanted } of catalogue.prompts ?? []) {
    const input = Object.fromEntries(wanted.map((one) => [one.name, "text"]));
    await call((one) => one.prompt(name, input, options));
  }
  await sleep(100);
  await (await connection()).close();
} catch (error) {
  process.stderr.write(`${(error as Error).stack ?? String(error)}\n`);
  process.exitCode = 1;
} finally {
  rmSync(credentials, { recursive: true, force: true });
}
