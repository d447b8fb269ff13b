/** Pages through the whole program: which sessions have the tool, what it costs those without it, and one that reads. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { jsonLines, sawtooth, start } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];
const nothing = { text: "done" };

async function site(body: string): Promise<{ url: string; rule: string; waiting(): number }> {
  let waiting = 0;
  const server = createServer((request, response) => {
    if (request.url === "/never") {
      waiting += 1;
      request.socket.once("close", () => {
        waiting -= 1;
      });
    } else response.setHeader("content-type", "text/html").end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://localhost:${port}`, rule: `host(localhost:${port})`, waiting: () => waiting };
}

test("only a session that begins with a rule for it declares the tool; others are not a byte longer, also on resume", async () => {
  const { workspace, server } = await serve(() => nothing);
  const run = (...words: string[]) => sawtooth(workspace, ["-p", "go", ...auto, ...words]);
  await run();
  await run("-c", "--allow", "host(docs.example)");
  await run("--allow", "host(docs.example)");
  await run("-c");
  await run("--allow", "fetch");
  await run("--allow", "host(docs.example)", "--deny", "fetch");
  const tools = server.requests.map((body) => JSON.stringify(body.tools));
  const [without, resumedWithout, first, resumed, offered, denied] = tools;
  expect(resumedWithout).toBe(without);
  expect(denied).toBe(without);
  expect(without).not.toContain('"fetch"');
  expect(first).toContain('"fetch"');
  expect(resumed).toBe(first);
  expect(offered).toBe(first);
});

test("a page is read, its view reaches the model, and the connection is in the result and in the ledger", async () => {
  const { url, rule } = await site("<main><h1>Head</h1><p>The words of the page.</p></main>");
  const turns = [{ calls: [{ fetch: { url: `${url}/a` } }] }, nothing];
  const { workspace, server } = await serve(turns);
  const { stdout, code } = await sawtooth(workspace, ["-p", `read ${url}/a`, ...auto, "--allow", rule]);
  expect(code).toBe(0);
  expect(server.rawBodies.at(-1)).toContain("The words of the page.");
  const lines = jsonLines(stdout);
  expect(lines.at(-1)).toMatchObject({
    egress: [{ host: "localhost", decision: "allow", rule, connections: 1 }],
  });
  const ledger = await sawtooth(workspace, ["egress"]);
  expect(ledger.stdout).toContain("localhost");
});

test("nothing of a fetch is left when the program is killed", async () => {
  const { url, rule, waiting } = await site("");
  const { workspace } = await serve([{ calls: [{ fetch: { url: `${url}/never` } }] }, nothing]);
  const run = start(workspace, ["-p", `read ${url}/never`, ...auto, "--allow", rule]);
  await until(() => waiting() === 1, "the request");
  run.child.kill("SIGTERM");
  await run.ended;
  await until(() => waiting() === 0, "the end of the connection");
});
