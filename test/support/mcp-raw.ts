/**
 * A server of the older protocol, written by hand so that it can break its rules. The first argument says how, the second
 * names a file for notes on what it saw.
 */

import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [kind = "", file = ""] = process.argv.slice(2);
const note = (text: string) => file && appendFileSync(file, `${text}\n`);
note(`started ${process.pid}`);

const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let version = 1;
const tools = () =>
  ["go", ...(kind === "changes" ? [`tool${version}`] : [])].map((name) => ({
    ...{ name, description: `Number ${version}.`, inputSchema: { type: "object" } },
  }));

if (kind === "changes")
  setInterval(() => {
    version += 1;
    send({ method: "notifications/tools/list_changed" });
  }, 100);

type Asked = { id?: number; method?: string; params?: { name?: string } };

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line) as Asked;
  note(String(method));
  if (id === undefined) return;
  switch (method) {
    case "initialize":
      return send({
        id,
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "raw", version: "1" },
        },
      });
    case "tools/list":
      return send({ id, result: { tools: tools() } });
    case "tools/call":
      return answer(id);
    default:
      if (kind === "ends-at-question") process.exit(1);
      return send({ id, error: { code: -32601, message: "no such method" } });
  }
});

function answer(id: number): void {
  const result = { content: [{ type: "text", text: "went" }] };
  switch (kind) {
    case "wrong-id":
      send({ id: id + 1000, result });
      return;
    case "notifies": {
      const more = (): void => {
        const one = { method: "notifications/message", params: { level: "info", data: "x" } };
        for (let count = 0; count < 500; count++) send(one);
        if (process.stdout.writableNeedDrain) process.stdout.once("drain", more);
        else setImmediate(more);
      };
      more();
      return;
    }
    case "changes":
      setTimeout(() => send({ id, result }), 1500);
      return;
    default:
      send({ id, result });
  }
}
