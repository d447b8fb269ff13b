/** Offers of the servers of the tests: tools, resources, prompts and questions. */

import { readFileSync } from "node:fs";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

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
}: {
  note(text: string): void;
  isLater?: boolean;
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
  return server;
}
