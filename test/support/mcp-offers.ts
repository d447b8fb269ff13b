/** Offers of the servers of the tests: tools, resources, prompts and questions. */

import { readFileSync } from "node:fs";
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";

type Numbers = { a: number; b: number };
const numbers = fromJsonSchema<Numbers>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
});
const paths = fromJsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } });
const nothing = fromJsonSchema<Record<string, never>>({ type: "object" });

/** Makes the server. `isLater`: one tool is changed, one gone, one new. `note`: writes down what it saw. */
export function testOffers({
  note,
  isLater = false,
  isRich = false,
}: {
  note(text: string): void;
  isLater?: boolean;
  /** Has resources, prompts and a tool that asks, too. */
  isRich?: boolean;
}): McpServer {
  const server = new McpServer(
    { name: "test", version: "1.0.0" },
    { instructions: "Adds numbers.\u200b\nAnd more." },
  );
  const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
  const reads = { annotations: { readOnlyHint: true } };
  const description = isLater ? "Adds two numbers well." : "Adds two numbers.";
  server.registerTool("add", { description, inputSchema: numbers, ...reads }, async ({ a, b }) =>
    text(`${a + b}`),
  );
  server.registerTool("environment", { inputSchema: nothing }, async () => text(JSON.stringify(process.env)));
  server.registerTool("read", { inputSchema: paths }, async ({ path }) => text(readFileSync(path, "utf8")));
  server.registerTool("long", { inputSchema: nothing }, async () =>
    text(
      Array.from({ length: 60_000 }, (_, line) => `line ${line} ${line === 31_000 ? "needle" : "hay"}`).join(
        "\n",
      ),
    ),
  );
  server.registerTool(isLater ? "fresh" : "old", { inputSchema: nothing }, async () => text("here"));
  server.registerTool("die", { inputSchema: nothing }, async () => {
    process.stderr.write("a reason to die\n");
    return process.exit(3);
  });
  server.registerTool("wait", { inputSchema: nothing }, async (_, { mcpReq }) => {
    note("waiting");
    await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
    note("cancelled");
    return text("late");
  });
  if (isRich) addRest(server);
  return server;
}

const person = fromJsonSchema<{ name: string }>({ type: "object", properties: { name: { type: "string" } } });

/** Resources, prompts, and a tool that asks. */
function addRest(server: McpServer): void {
  server.registerResource("notes", "note://today", { mimeType: "text/plain" }, async ({ href }) => ({
    contents: [{ uri: href, text: "the note of today" }],
  }));
  const one = new ResourceTemplate("note://days/{day}", { list: undefined });
  server.registerResource("day", one, { description: "A note by its day." }, async ({ href }, { day }) => ({
    contents: [{ uri: href, blob: Buffer.from(`note of ${String(day)}`).toString("base64") }],
  }));
  const argsSchema = fromJsonSchema<{ city: string; tone?: string }>({
    type: "object",
    properties: { city: { type: "string", description: "where" }, tone: { type: "string" } },
    required: ["city"],
  });
  const weather = { description: "Asks for the weather.", argsSchema };
  server.registerPrompt("weather", weather, async ({ city, tone }) => ({
    messages: [
      {
        role: "user",
        content: { type: "text", text: `What is the weather in ${city}?${tone ? ` Be ${tone}.` : ""}` },
      },
    ],
  }));
  server.registerTool("greet", { inputSchema: nothing }, async (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "name");
    if (answer.kind === "missing")
      return inputRequired({ inputRequests: { name: inputRequired.elicit(question) } });
    const content = await acceptedContent(mcpReq.inputResponses, "name", person);
    const said = content ? `Hello ${content.name}` : `no name: ${JSON.stringify(answer)}`;
    return { content: [{ type: "text", text: said }] };
  });
}

const question = {
  message: "Who is there?",
  requestedSchema: {
    type: "object" as const,
    properties: { name: { type: "string" as const, title: "Name" } },
    required: ["name"],
  },
};
