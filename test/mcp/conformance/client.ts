/**
 * The client of the conformance suite: our connection and our sign-in, which call all that a server offers. The person is
 * played: the browser follows every page, and forms are sent with what stands in them.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readForm } from "../../../src/core/form/read.ts";
import { serversOf } from "../../../src/mcp/configuration.ts";
import { type CallOptions, type Connection, connect } from "../../../src/mcp/connection.ts";
import type { Elicit } from "../../../src/mcp/elicitation.ts";
import { CallFailed, ConnectFailed } from "../../../src/mcp/failures.ts";
import { beginLogin } from "../../../src/mcp/oauth/login.ts";

/** Words of the suite about a scenario. */
type Context = {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};

type HttpServer = Extract<ReturnType<typeof serversOf>["servers"][number], { kind: "http" }>;
/** A server, and the folder for what is kept of the sign-in to it. */
type Place = { server: HttpServer; credentials: string };

/** Many scenarios run at once, on busy machines too. */
const patienceMs = 250_000;
const options: CallOptions = {
  ...{ signal: new AbortController().signal, timeoutMs: patienceMs },
  onProgress() {},
};
const version = "0.0.0";
/** A person tries no more often than this. */
const mostSignIns = 2;

/** Sends forms as they stand. */
const elicit: Elicit = async (question) => {
  if (question.kind === "url") return { action: "accept" };
  const read = readForm(
    question.fields,
    question.fields.map(({ initial }) => initial),
  );
  return "content" in read ? { action: "accept", content: read.content } : { action: "decline" };
};

async function signIn({ server, credentials }: Place): Promise<void> {
  const signing = await beginLogin({ server, credentials, version });
  if (signing === "not_needed") return;
  signing.done.catch(() => {});
  const page = await fetch(signing.url, { redirect: "manual" });
  const wrong = signing.paste(page.headers.get("location") ?? "");
  if (wrong) throw new Error(wrong);
  await signing.done;
}

async function connected(place: Place): Promise<Connection> {
  const target = { kind: "http", ...place } as const;
  const begin = () =>
    connect({ target, ...{ prior: undefined, version, elicit, onChanged() {}, onEnded() {} } });
  for (let left = mostSignIns; ; left--) {
    try {
      return await begin();
    } catch (error) {
      if (!(error instanceof ConnectFailed) || error.kind !== "sign_in" || left === 0) throw error;
      await signIn(place);
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

/** Calls all that a server offers. `say`: takes what the person would be told. */
async function callAll(place: Place, { toolCalls }: Context, say: (text: string) => void): Promise<void> {
  const connection = await connected(place);
  /** Where the server wants more rights, signs in once more and tries again, as a person would. */
  const call = async (make: () => Promise<unknown>) => {
    try {
      await make();
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      say(`${error.kind}: ${error.message}\n`);
      if (error.kind !== "sign_in") return;
      await signIn(place);
      await make();
    }
  };
  const { catalogue } = connection;
  const calls =
    toolCalls ?? catalogue.tools.map(({ name, inputSchema }) => ({ name, arguments: inputFor(inputSchema) }));
  // One tool wants to be told the schema of another, as it arrived here.
  const schema = catalogue.tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  for (const one of calls) if (one.name === "json_schema_echo") one.arguments = { schema };
  for (const { name, arguments: input } of calls) await call(() => connection.call(name, input, options));
  for (const { uri, template } of catalogue.resources ?? [])
    if (!template) await call(() => connection.read(uri, options));
  for (const { name, arguments: wanted } of catalogue.prompts ?? []) {
    const input = Object.fromEntries(wanted.map((one) => [one.name, "text"]));
    await call(() => connection.prompt(name, input, options));
  }
  await sleep(100);
  await connection.close();
}

/** Plays a scenario of the suite against its server. Returns what the person would be told, and the exit code. */
export async function play(
  scenario: string,
  said: string,
  url: string,
): Promise<{ code: number; told: string }> {
  const context = JSON.parse(said || "{}") as Context;
  const ownClient =
    scenario === "auth/basic-cimd"
      ? "https://conformance-test.local/client-metadata.json"
      : context.client_id;
  const oauth = {
    ...(ownClient ? { clientId: ownClient } : {}),
    ...(context.client_secret ? { clientSecret: context.client_secret } : {}),
  };
  const { servers, problems } = serversOf({ tested: { type: "http", url, oauth } }, {});
  const [server] = servers;
  if (server?.kind !== "http") throw new Error(problems.join("\n"));
  const credentials = mkdtempSync(join(tmpdir(), "sawtooth-conformance-"));
  let told = "";
  const say = (text: string) => {
    told += text;
  };
  try {
    await callAll({ server, credentials }, context, say);
    return { code: 0, told };
  } catch (error) {
    return { code: 1, told: `${told}${(error as Error).stack ?? String(error)}\n` };
  } finally {
    rmSync(credentials, { recursive: true, force: true });
  }
}
