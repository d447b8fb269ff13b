/** The protocol's own conformance suite, against our connection and our sign-in: every scenario but the named ones. */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { beforeAll, expect, test } from "vitest";
import { testProgram } from "../../support/programs.ts";
import { play } from "./client.ts";

/**
 * Hands a scenario to the client, which stays in this process. The suite starts it. Its input is a socket: without
 * `--norc` bash would read the files of the person at this machine.
 */
const handOver =
  'exec 3<>/dev/tcp/127.0.0.1/"$0"; printf "%s\\0" "$MCP_CONFORMANCE_SCENARIO" "$MCP_CONFORMANCE_CONTEXT" "$1" >&3; read -r -d "" code <&3; cat <&3 >&2; exit "$code"';
let client: string;

async function answer(socket: Socket): Promise<void> {
  let received = "";
  for await (const text of socket.setEncoding("utf8")) {
    received += text;
    const [scenario = "", context = "", url, end] = received.split("\0");
    if (url === undefined || end === undefined) continue;
    const { code, told } = await play(scenario, context, url);
    socket.end(`${code}\0${told}`);
  }
}

beforeAll(async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket)).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  client = `bash --norc -c '${handOver}' ${(server.address() as AddressInfo).port}`;
  return () => void server.close();
});

/** Scenarios that are not for us, with the reason. All are extensions, which a client may leave out. */
const left: Record<string, string> = {
  "auth/client-credentials-jwt": "a sign-in of a machine: in CI a token stands in a header",
  "auth/client-credentials-basic": "the same",
  "auth/wif-jwt-bearer": "the same, with the identity of a workload",
  "auth/enterprise-managed-authorization": "needs the identity provider of a company in the middle",
  "auth/dpop": "tokens bound to a key: no server that we know asks for them",
  "auth/dpop-nonce": "the same",
  "sep-2640-client-no-prefetch": "skills of servers, which are not read",
  "sep-2640-client-verify-digest": "the same",
  "sep-2640-client-verify-size": "the same",
  "sep-2640-client-verify-frontmatter": "the same",
};

function run(...words: string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, HOME: process.env.HOME }, maxBuffer: 64_000_000 };
    execFile(process.execPath, [testProgram("conformance"), ...words], options, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

/** The scenarios of the list, with the versions of the protocol that have them. */
let scenarios: { name: string; versions: string[] }[];
beforeAll(async () => {
  const listed = await run("list", "--client");
  scenarios = [...listed.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = "", versions = ""]) => ({
    ...{ name, versions: versions.split(",") },
  }));
});

const versions = ["2025-11-25", "2026-07-28"];
/** Many at once on a busy machine: the limit is for one that hangs. */
const patience = ["--timeout", "250000"];

test.each(versions)("every scenario of %s passes", { timeout: 300_000 }, async (version) => {
  const wanted = scenarios.filter((one) => one.versions.includes(version));
  expect(wanted.length).toBeGreaterThan(15);
  const said = await run(
    "client",
    "--command",
    client,
    "--suite",
    "all",
    "--spec-version",
    version,
    ...patience,
  );
  const passed = [...said.matchAll(/^✓ (\S+):/gm)].map(([, name]) => name);
  expect(said.match(/^✗ .*$/gm)).toBeNull();
  expect(passed).toEqual(expect.arrayContaining(wanted.map(({ name }) => name)));
});

test("what an older version had on its own passes, and what is left out is an extension", async () => {
  const others = scenarios.filter((one) => !one.versions.some((version) => versions.includes(version)));
  const extensions = others.filter((one) => one.versions.includes("extension"));
  expect(extensions.map(({ name }) => name)).toEqual(Object.keys(left).sort(byList(extensions)));
  for (const { name } of others.filter((one) => !extensions.includes(one)))
    expect(await run("client", "--command", client, "--scenario", name, ...patience)).toContain(
      "OVERALL: PASSED",
    );
});

function byList(list: readonly { name: string }[]): (a: string, b: string) => number {
  const at = (wanted: string) => list.findIndex(({ name }) => name === wanted);
  return (a, b) => at(a) - at(b);
}
