/** A server for tests. The first argument says how it behaves, the second names a file for notes on what it saw. */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [kind = "usual", file = ""] = process.argv.slice(2);
const note = (text: string) => file && appendFileSync(file, `${text}\n`);
note(`started ${process.pid}`);
// Beside the notes, as what it answers is redacted.
if (file) writeFileSync(`${file}.env`, JSON.stringify(process.env));

type Numbers = { a: number; b: number };
const numbers = fromJsonSchema<Numbers>({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
});
const paths = fromJsonSchema<{ path: string }>({ type: "object", properties: { path: { type: "string" } } });
const nothing = fromJsonSchema<Record<string, never>>({ type: "object" });

/** The tools differ after a file appeared: one is changed, one gone, one new. */
function made(): McpServer {
  const isLater = file !== "" && existsSync(`${file}.later`);
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

switch (kind) {
  case "dies":
    process.stderr.write("no licence\n");
    process.exit(7);
    break;
  case "silent":
    process.stdin.resume();
    process.on("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    break;
  case "rubbish":
    process.stdout.write("Welcome to my server!\n\u0000\u0001{not json}\n[1,2\n");
    serveStdio(made);
    break;
  case "flood":
    process.stdin.once("data", () => {
      const chunk = "x".repeat(1_000_000);
      const more = (): void => void process.stdout.write(chunk, more);
      more();
    });
    break;
  default:
    serveStdio(made);
}
