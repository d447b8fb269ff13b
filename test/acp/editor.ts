/** An editor for tests: talks to the real program, and holds every message of it against the protocol's own schema. */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { onTestFinished } from "vitest";
import { type Ended, type Started, start, type Workspace } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";

type Json = Record<string, unknown>;
/** An update, or the request for a permission, with what tests look at. */
export type Update = Json & {
  sessionUpdate: string;
  toolCallId?: string;
  status?: string;
  title?: string;
  content?: unknown;
};
export type Failure = { code: number; message: string; data?: unknown };
export type Reply = { result?: Json; error?: Failure };
/** Fills in a form: what the client sends back; undefined: it cannot show forms. */
export type Filler = ((request: Json) => Json) | undefined;
/** Chooses one of the options by its kind, or `cancelled`; undefined: the question stays open. */
export type Chooser = (request: Asked) => string | undefined;
export type Asked = {
  sessionId: string;
  toolCall: Update;
  options: { optionId: string; name: string; kind: string }[];
};

const schemaFile = new URL(
  "../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json",
  import.meta.url,
);
const schema = JSON.parse(readFileSync(fileURLToPath(schemaFile), "utf8")) as {
  $defs: Record<string, { "x-method"?: string; "x-side"?: string }>;
};
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ ...schema, $id: "acp" });

/** Returns the definition for the messages of a method: `Request`, `Response` or `Notification`. */
function definition(method: string, kind: string): string {
  const found = Object.entries(schema.$defs).find(
    ([name, one]) => one["x-method"] === method && name.endsWith(kind),
  );
  if (!found) throw new Error(`the schema has no ${kind} of ${method}`);
  return found[0];
}

/** Throws when a message of the agent is not as the schema has it. `method`: of the request that it answers. */
function check(message: Json, method: string | undefined): void {
  const fits = (name: string, value: unknown): void => {
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    if (!validate?.(value))
      throw new Error(`${JSON.stringify(value).slice(0, 400)}: ${JSON.stringify(validate?.errors)}`);
  };
  if (!ajv.validate("acp", message))
    throw new Error(`no message of the protocol: ${JSON.stringify(message)}`);
  if (message.error) fits("Error", message.error);
  else if (typeof message.method !== "string") fits(definition(method ?? "", "Response"), message.result);
  else fits(definition(message.method, "id" in message ? "Request" : "Notification"), message.params);
}

const usual = { session: { compaction: {}, notices: {} }, auth: { terminal: true } };

type Seen = {
  /** Forms that the agent asked for. */
  forms: Json[];
  asked: Asked[];
  told: { sessionId: string; update: Update }[];
  /** Errors of this client: a message that is not as the schema has it. */
  faults: unknown[];
  /** Replies to nothing that was asked. */
  strays: Reply[];
};

/** Reads and checks what the agent says, and answers its questions by `chooser`. */
function connect(run: Started, chooser: { choose: Chooser; fill: Filler }) {
  const seen: Seen = { asked: [], told: [], faults: [], strays: [], forms: [] };
  const waiting = new Map<unknown, { method: string; resolve(reply: Reply): void }>();
  let lastId = 0;
  const write = (message: object | string): void =>
    void run.child.stdin?.write(typeof message === "string" ? message : `${JSON.stringify(message)}\n`);
  const answer = (id: unknown, request: Asked): void => {
    seen.asked.push(request);
    const kind = chooser.choose(request);
    if (kind === undefined) return;
    const option = request.options.find((one) => one.kind === kind);
    const outcome = option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" };
    write({ jsonrpc: "2.0", id, result: { outcome } });
  };
  createInterface({ input: run.child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    try {
      const message = JSON.parse(line) as Json & Reply;
      const request = waiting.get(message.id);
      check(message, request?.method);
      if (message.method === "session/update") seen.told.push(message.params as Seen["told"][0]);
      else if (message.method === "session/request_permission") answer(message.id, message.params as Asked);
      else if (message.method === "elicitation/create") {
        seen.forms.push(message.params as Json);
        write({ jsonrpc: "2.0", id: message.id, result: chooser.fill?.(message.params as Json) ?? {} });
      } else if (request) request.resolve(message);
      else if (typeof message.method !== "string") seen.strays.push(message);
    } catch (error) {
      seen.faults.push(error);
    }
  });
  const request = async (method: string, params: object): Promise<Reply> => {
    const id = ++lastId;
    const reply = new Promise<Reply>((resolve) => waiting.set(id, { method, resolve }));
    write({ jsonrpc: "2.0", id, method, params });
    const ended = run.ended.then(({ stderr }) => ({ error: { code: 0, message: `it ended: ${stderr}` } }));
    const received = await Promise.race([reply, ended]);
    if (seen.faults.length > 0) throw seen.faults[0];
    return received;
  };
  const notify = (method: string, params: object): void => write({ jsonrpc: "2.0", method, params });
  return { ...seen, write, request, notify };
}

/** Starts the agent and greets it. `capabilities`: of the client. `choose`: answers its questions; by default it allows once. */
export async function editor(
  workspace: Workspace,
  words: string[] = [],
  {
    capabilities = usual as Json,
    choose = (() => "allow_once") as Chooser,
    fill = undefined as Filler,
    env = {},
  } = {},
) {
  const run = start(workspace, ["acp", ...words], { input: "open", env });
  const chooser = { choose, fill };
  const wire = connect(run, chooser);
  const { told, request } = wire;
  /** Returns the result. Throws when there is an error. */
  const call = async (method: string, params: object): Promise<Json> => {
    const { result, error } = await request(method, params);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  onTestFinished(async () => {
    run.child.kill("SIGKILL");
    await run.ended;
  });
  const elicitation = fill ? { elicitation: { form: {} } } : {};
  const clientCapabilities = { ...capabilities, ...elicitation };
  const greeting = await call("initialize", { protocolVersion: 1, clientCapabilities });
  return {
    ...{ ...run, ...wire, greeting, call },
    close(): Promise<Ended> {
      run.child.stdin?.end();
      return run.ended;
    },
    /** The updates of a session so far. */
    updates: (id?: string) =>
      told.flatMap(({ sessionId, update }) => (id === undefined || sessionId === id ? [update] : [])),
    async open(more: object = {}): Promise<string> {
      const result = await call("session/new", { cwd: workspace.cwd, mcpServers: [], ...more });
      return String(result.sessionId);
    },
    say: (sessionId: string, prompt: string | object[]) =>
      request("session/prompt", {
        sessionId,
        prompt: typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt,
      }),
    answerWith(next: Chooser): void {
      chooser.choose = next;
    },
    fillWith(next: Filler): void {
      chooser.fill = next;
    },
    async until(found: (update: Update) => boolean): Promise<Update> {
      await until(() => told.some(({ update }) => found(update)), "an update");
      return told.find(({ update }) => found(update))?.update as Update;
    },
  };
}

/** The conversation as a client shows it after these updates: messages by their id, calls, the plan, the usage. */
export function shown(updates: readonly Update[]) {
  const entries = new Map<string, Json>();
  let [plan, usage]: [unknown, unknown] = [undefined, undefined];
  for (const { sessionUpdate, ...update } of updates) {
    const { messageId, toolCallId } = update as { messageId?: string; toolCallId?: string };
    if (sessionUpdate.endsWith("_chunk")) {
      const content = update.content as { text?: string };
      const before = entries.get(String(messageId));
      const text = `${(before?.text as string | undefined) ?? ""}${content.text ?? "[image]"}`;
      entries.set(String(messageId), { kind: sessionUpdate, text });
    } else if (toolCallId) entries.set(toolCallId, { ...entries.get(toolCallId), ...update });
    else if (sessionUpdate === "compaction_update")
      entries.set(String(update.compactionId), { kind: sessionUpdate, ...update });
    else if (sessionUpdate === "plan") plan = update.entries;
    else if (sessionUpdate === "usage_update") usage = update;
  }
  return { entries: [...entries.entries()], plan, usage };
}
