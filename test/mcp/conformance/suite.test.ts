/** The protocol's own conformance suite, against our connection and our sign-in: every scenario but the named ones. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const suite = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const client = `"${process.execPath}" "${join(root, "test/mcp/conformance/client.ts")}"`;

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
    execFile(process.execPath, [suite, ...words], options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** A scenario of the list, with the versions of the protocol that have it. */
async function scenarios(): Promise<{ name: string; versions: string[] }[]> {
  const listed = await run("list", "--client");
  return [...listed.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = "", versions = ""]) => ({
    ...{ name, versions: versions.split(",") },
  }));
}

const versions = ["2025-11-25", "2026-07-28"];

test.each(versions)("every scenario of %s passes", async (version) => {
  const wanted = (await scenarios()).filter((one) => one.versions.includes(version));
  expect(wanted.length).toBeGreaterThan(15);
  // Many at once on a busy machine: the limit is for one that hangs.
  const patience = ["--timeout", "250000"];
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
  const all = await scenarios();
  const others = all.filter((one) => !one.versions.some((version) => versions.includes(version)));
  const extensions = others.filter((one) => one.versions.includes("extension"));
  expect(extensions.map(({ name }) => name)).toEqual(Object.keys(left).sort(byList(extensions)));
  for (const { name } of others.filter((one) => !extensions.includes(one)))
    expect(await run("client", "--command", client, "--scenario", name)).toContain("OVERALL: PASSED");
});

function byList(list: readonly { name: string }[]): (a: string, b: string) => number {
  const at = (wanted: string) => list.findIndex(({ name }) => name === wanted);
  return (a, b) => at(a) - at(b);
}
