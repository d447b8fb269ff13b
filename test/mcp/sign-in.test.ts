/** Signing in with a server by OAuth: in a browser, by a pasted address, refreshed, and ended. */

import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serveMcp } from "../support/mcp-http.ts";
import { type IssuerOptions, type SignInServer, serveWithSignIn } from "../support/mcp-issuer.ts";
import { start, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { mcp, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const add = { calls: [mcp("web", "add", { arguments: { a: 20, b: 22 } })] };
const needed = "MCP server web needs a sign-in, which only the person can do: sawtooth mcp login web";
const stored = ({ home }: Workspace) => join(home, "sawtooth/state/credentials/mcp.json");

async function prepared(turns: number, options: IssuerOptions = {}) {
  const issuer = await serveWithSignIn(options);
  const all = Array.from({ length: turns }, () => [add, { text: "on" }]).flat();
  const seen = await withServers(all, {});
  writeSettings(seen.workspace, { mcpServers: { web: { type: "http", url: issuer.url } } });
  return { issuer, seen };
}

/** Begins a sign-in; `come`: how the address reaches it. */
async function login(
  workspace: Workspace,
  issuer: SignInServer,
  come: (address: string, run: ReturnType<typeof start>) => Promise<unknown>,
) {
  const run = start(workspace, ["mcp", "login", "web"], { input: "open" });
  await run.until("It comes back here by itself");
  const page = /^http\S+$/m.exec(run.stdout())?.[0] ?? "";
  await come(await issuer.browse(page), run);
  run.child.stdin?.end();
  return run.ended;
}

describe("sawtooth mcp login", () => {
  test("signs in, the next call works, a token that ended is refreshed, and logout ends it", async () => {
    const { issuer, seen } = await prepared(4);
    await seen.run(...auto);
    expect(seen.results()).toEqual([needed]);
    const { code, stdout } = await login(seen.workspace, issuer, (address) => fetch(address));
    expect({ code, last: stdout.trim().split("\n").at(-1) }).toEqual({
      code: 0,
      last: "Signed in with web. sawtooth mcp logout web signs out.",
    });
    expect(statSync(stored(seen.workspace)).mode & 0o777).toBe(0o600);
    await seen.run("-c", ...auto);
    issuer.expire();
    await seen.run("-c", ...auto);
    expect(seen.results()).toEqual([needed, "42", "42"]);
    expect(issuer.steps).toEqual(["register", "authorize", "code", "refresh"]);
    const out = start(seen.workspace, ["mcp", "logout", "web"]);
    expect((await out.ended).stdout).toBe("Signed out of web.\n");
    expect(issuer.steps.at(-1)).toBe("revoke");
    await seen.run("-c", ...auto);
    expect(seen.results().at(-1)).toBe(needed);
    expect(issuer.refusals).toEqual([]);
    const written = globSync("**/*", { cwd: seen.folder(), withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("");
    expect(written).not.toMatch(/(?:access|refresh)-[0-9a-f]{8}-/);
  });

  test("takes the address that a browser elsewhere ended on, and no other", async () => {
    const { issuer, seen } = await prepared(1);
    const { code, stderr } = await login(seen.workspace, issuer, async (address, { child }) => {
      child.stdin?.write("http://127.0.0.1:1/callback?code=x\n");
      child.stdin?.write(`${address.replace(/state=./, "state=!")}\n`);
      child.stdin?.write(`${address}\n`);
    });
    expect(code).toBe(0);
    expect(stderr.match(/this is not that address/g)).toHaveLength(2);
    await seen.run(...auto);
    expect(seen.results()).toEqual(["42"]);
  });

  test.each([
    ["declined", { declines: true }, "access_denied"],
    ["from another issuer", { iss: "https://elsewhere.example" }, "the sign-in ended without tokens"],
  ])("an answer that is %s stores nothing", async (_, options, said) => {
    const { issuer, seen } = await prepared(1, options);
    const { code, stderr } = await login(seen.workspace, issuer, (address) => fetch(address));
    expect(code).toBe(4);
    expect(stderr).toContain(said);
    expect(issuer.steps).not.toContain("code");
    await seen.run(...auto);
    expect(seen.results()).toEqual([needed]);
  });

  test("two runs whose token ended refresh it once", async () => {
    const { issuer, seen } = await prepared(3);
    await login(seen.workspace, issuer, (address) => fetch(address));
    issuer.expire();
    const both = await Promise.all([seen.run(...auto), seen.run(...auto)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(issuer.steps.filter((step) => step === "refresh")).toHaveLength(1);
    expect(issuer.refusals).toEqual([]);
  });

  test("a refresh token that the issuer refuses needs a new sign-in, which uses the registration again", async () => {
    const { issuer, seen } = await prepared(2);
    await login(seen.workspace, issuer, (address) => fetch(address));
    issuer.expire();
    const file = stored(seen.workspace);
    const broken = readFileSync(file, "utf8").replace(/refresh-[\w-]+/, "refresh-stolen-and-used");
    writeFileSync(file, broken);
    await seen.run(...auto);
    expect(seen.results()).toEqual([needed]);
    await login(seen.workspace, issuer, (address) => fetch(address));
    expect(issuer.steps.filter((step) => step === "register")).toHaveLength(1);
  });

  test("a server that needs none, a program and an unknown name are told", async () => {
    const { url } = await serveMcp();
    const seen = await withServers([], { web: { url }, local: { command: "x" } });
    const ask = async (name: string) => {
      const { stdout, stderr, code } = await start(seen.workspace, ["mcp", "login", name]).ended;
      return `${code} ${stdout}${stderr}`;
    };
    expect(await ask("web")).toBe("0 web answers without a sign-in.\n");
    expect(await ask("local")).toContain("2 sawtooth: local is a program");
    expect(await ask("other")).toContain("2 sawtooth: there is no server other in the settings");
  });
});
