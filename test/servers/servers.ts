/** The published servers, where `npm run test:servers` put them. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Programs of the packages, by the names that their tools are recorded under. */
const programs = {
  everything: "mcp-server-everything",
  filesystem: "mcp-server-filesystem",
  memory: "mcp-server-memory",
  "sequential-thinking": "mcp-server-sequential-thinking",
  playwright: "playwright-mcp",
  "chrome-devtools": "chrome-devtools-mcp",
  context7: "context7-mcp",
};

/** An entry that starts one of them. Throws an Error outside of `npm run test:servers`. */
export function live(name: keyof typeof programs, words: readonly string[] = [], more: object = {}) {
  const folder = process.env.SAWTOOTH_SERVERS;
  if (!folder) throw new Error("there are no servers: these tests are run by `npm run test:servers`");
  const program = join(folder, "node_modules/.bin", programs[name]);
  return { command: process.execPath, args: [program, ...words], ...more };
}

/** Each with the words that it needs to be listed. */
export const all = () => ({
  ...{
    everything: live("everything", ["stdio"]),
    filesystem: live("filesystem", ["."]),
    memory: live("memory"),
  },
  ...{ "sequential-thinking": live("sequential-thinking"), playwright: live("playwright") },
  ...{ "chrome-devtools": live("chrome-devtools"), context7: live("context7") },
});

/** Serves a page with a button that changes when it is pressed. Returns its address. */
export async function servedPage(): Promise<string> {
  const page =
    "<title>A page</title><h1>Hello</h1><button onclick=\"this.textContent='pressed'\">Press</button>";
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
