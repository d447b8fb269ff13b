/** Pages through the whole program: which sessions have the tool, what it costs those without it, and one that reads. */

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSecure } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { jsonLines, sawtooth, start } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];
const nothing = { text: "done" };

async function listening(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address() as AddressInfo;
}

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
  const { port } = await listening(server);
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

const noOpenssl = spawnSync("openssl", ["version"]).status !== 0;

test.skipIf(noOpenssl)(
  "https is read where its certificate is trusted and names the host, and refused elsewhere",
  async () => {
    const { workspace } = await serve(({ messages }) => {
      const port = /localhost:(\d+)/.exec(JSON.stringify(messages))?.[1];
      const urls = [`https://localhost:${port}/`, `https://127.0.0.1:${port}/`];
      return messages.length > 1 ? nothing : { calls: urls.map((url) => ({ fetch: { url } })) };
    });
    const [key, certificate] = [join(workspace.home, "key.pem"), join(workspace.home, "certificate.pem")];
    const made = [
      "-keyout",
      key,
      "-out",
      certificate,
      "-subj",
      "/CN=localhost",
      "-addext",
      "subjectAltName=DNS:localhost",
    ];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...made], { stdio: "ignore" });
    const server = createSecure({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) =>
      response.setHeader("content-type", "text/plain").end("behind TLS"),
    );
    const { port } = await listening(server);
    const rules = ["--allow", `host(localhost:${port})`, "--allow", `host(127.0.0.1:${port})`];
    const words = ["-p", `read https://localhost:${port}/ and https://127.0.0.1:${port}/`, ...auto, ...rules];
    const results = async (env: Record<string, string>) => {
      const { stdout } = await start(workspace, words, { env }).ended;
      const lines = jsonLines(stdout).filter(({ type }) => type === "user");
      return JSON.stringify(lines);
    };
    const trusted = await results({ NODE_EXTRA_CA_CERTS: certificate });
    expect(trusted).toContain("behind TLS");
    expect(trusted).toContain("does not match certificate's altnames");
    const unknown = await results({});
    expect(unknown).toContain("self-signed certificate");
    expect(unknown).not.toContain("behind TLS");
  },
);
