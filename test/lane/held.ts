/**
 * A proxy before the real server that holds the model to what a test needs: a call of bash with each of its commands,
 * one after the other, and then a short answer. The model is too small to choose; what it says still comes through the
 * server's own parser, sampler and stream. Everything else passes as it is.
 */

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

type Body = Record<string, unknown>;
/** `raw`: our own bytes. `answer`: the bytes of the server. `cut`: we hung up before their end. */
export type Exchange = { path: string; raw: string; status: number; answer: string; cut: boolean };
export type Held = { url: string; exchanges: Exchange[] };
/** `commands`: run once each. `fields`: put into each body as they are. Without both the model is free. */
export type Hold = { commands?: readonly string[]; fields?: Body };

/** Puts a proxy before `server` until the test is over. `exchanges` are the posted ones. */
export async function hold(server: string, held: Hold = {}): Promise<Held> {
  const exchanges: Exchange[] = [];
  const proxy = createServer(async (incoming, response) => {
    const raw = await text(incoming);
    const exchange: Exchange = { path: incoming.url ?? "", raw, status: 0, answer: "", cut: false };
    const posted = incoming.method === "POST" && exchange.path in wires;
    if (posted) exchanges.push(exchange);
    pass({ server, incoming, response, exchange }, posted ? heldBody(exchange, held) : raw);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, exchanges };
}

type Passing = { server: string; incoming: IncomingMessage; response: ServerResponse; exchange: Exchange };

/**
 * The server is hung up on by us when the client hangs up: it must hear of it. Each request has a connection of its
 * own: the server closes idle ones after 5 s, which a command on a busy machine takes.
 */
function pass({ server, incoming, response, exchange }: Passing, body: string): void {
  const bytes = Buffer.from(body);
  const own = { host: new URL(server).host, connection: "close", "content-length": bytes.length };
  const options = { method: incoming.method, headers: { ...incoming.headers, ...own }, agent: false };
  const outgoing = request(new URL(incoming.url ?? "/", server), options, (answer) => {
    exchange.status = answer.statusCode ?? 0;
    response.writeHead(exchange.status, answer.headers);
    answer.on("data", (piece: Buffer) => {
      exchange.answer += piece.toString();
      response.write(piece);
    });
    answer.on("end", () => response.end());
    answer.on("error", () => response.destroy());
  });
  outgoing.on("error", () => response.destroy());
  response.on("close", () => {
    if (response.writableFinished) return;
    exchange.cut = true;
    outgoing.destroy();
  });
  outgoing.end(bytes);
}

/** How each wire says what the proxy changes. */
type Wire = {
  calls(body: Body): number;
  bash(parameters: object): object;
  required: unknown;
  stop: string;
  limit: string;
  /** The body with the beginning of a reply, which the server lets the model continue. */
  begun(body: Body, text: string): Body;
};

const description = "Runs a command.";
const reply = (type: string, text: string) => ({ role: "assistant", content: [{ type, text }] });

const wires: Record<string, Wire> = {
  "/v1/chat/completions": {
    calls: ({ messages }) => count(messages, (message) => message.tool_calls),
    bash: (parameters) => ({ type: "function", function: { name: "bash", description, parameters } }),
    required: "required",
    stop: "stop",
    limit: "max_tokens",
    begun: (body, text) => ({ ...body, messages: [...(body.messages as object[]), reply("text", text)] }),
  },
  "/v1/messages": {
    calls: ({ messages }) => count(messages, ({ content }) => (content as Body[]).filter(isToolUse)),
    bash: (input_schema) => ({ name: "bash", description, input_schema }),
    required: { type: "any" },
    stop: "stop_sequences",
    limit: "max_tokens",
    begun: (body, text) => ({ ...body, messages: [...(body.messages as object[]), reply("text", text)] }),
  },
  "/v1/responses": {
    calls: ({ input }) => (input as Body[]).filter(({ type }) => type === "function_call").length,
    bash: (parameters) => ({ type: "function", name: "bash", description, parameters }),
    required: "required",
    stop: "stop",
    limit: "max_output_tokens",
    begun: (body, text) => ({
      ...body,
      input: [...(body.input as object[]), { type: "message", ...reply("output_text", text) }],
    }),
  },
};

/** One of these begins the next word. */
const endings = [" ", "\n", ".", ","];
/** Far more tokens than a held reply takes, so that one that is not held after all ends the test with its reason. */
const most = 200;

const begunCall = '\n<tool_call>\n{"name": "bash", "arguments": {"command": ';

const isToolUse = ({ type }: Body): boolean => type === "tool_use";

function count(messages: unknown, callsOf: (message: Body) => unknown): number {
  return (messages as Body[]).reduce(
    (sum, message) => sum + ((callsOf(message) as unknown[])?.length ?? 0),
    0,
  );
}

/**
 * The body for the next command, or for an answer of three words. The server lets prose come before a call, which this
 * model never ends, and blanks between the words of JSON, of which it writes up to 60: so the reply is begun for it, up
 * to the argument. The mark of a call comes after a new line, because the model's tokens put a space before a first
 * word.
 */
function heldBody({ path, raw }: Exchange, { commands, fields = {} }: Hold): string {
  const wire = wires[path];
  const body = { ...(JSON.parse(raw) as Body), ...fields };
  if (!wire || !commands) return JSON.stringify(body);
  const { tools: _, tool_choice: __, ...free } = body;
  const [command] = commands.slice(wire.calls(body));
  const cool = { ...free, temperature: 0, [wire.limit]: most };
  if (command === undefined)
    return JSON.stringify({ ...wire.begun(cool, "I looked at"), [wire.stop]: endings });
  const parameters = {
    type: "object",
    properties: { command: { enum: [command] } },
    required: ["command"],
    additionalProperties: false,
  };
  return JSON.stringify({
    ...wire.begun(cool, begunCall),
    tools: [wire.bash(parameters)],
    tool_choice: wire.required,
    [wire.stop]: ["</tool_call>"],
  });
}
