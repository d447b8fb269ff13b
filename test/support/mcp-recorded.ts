/**
 * A server that offers what a published one offered: names, descriptions and schemas as `test/fixtures/mcp-servers.json`
 * has them, each entry with its package, version and licence (MIT or Apache-2.0). Its calls return their arguments. The
 * first argument names the entry, the second a file for a note on its start.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

type Recorded = { instructions: string; tools: object[] };
type Message = {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; arguments?: object };
};

const [name = "", file = ""] = process.argv.slice(2);
const all = JSON.parse(
  readFileSync(new URL("../fixtures/mcp-servers.json", import.meta.url), "utf8"),
) as Record<string, Recorded>;
const { instructions = "", tools = [] } = all[name] ?? {};
if (file) appendFileSync(file, `${name}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  if (id === undefined) return;
  const result = resultOf(method, params);
  const error = { code: -32601, message: "no such method" };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) })}\n`);
});

function resultOf(method = "", params: Message["params"]): object | undefined {
  switch (method) {
    case "initialize": {
      const serverInfo = { name, version: "1" };
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo,
        instructions,
      };
    }
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: JSON.stringify(params?.arguments ?? {}) }] };
    default:
      return undefined;
  }
}
