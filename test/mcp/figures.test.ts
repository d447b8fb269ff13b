/** Figures of servers: seven published ones with 96 tools, as they were recorded. None of them may cost the prefix. */

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { noUsage } from "../../src/core/model-card.ts";
import { testProgram } from "../support/programs.ts";
import { writeSettings } from "../support/sawtooth.ts";
import { mcp, type Seen, testServer, withServers } from "./session.ts";

const fixtures = fileURLToPath(new URL("../fixtures/mcp-servers.json", import.meta.url));
const program = testProgram("mcp-recorded");
type Recorded = Record<
  string,
  { package: string; version: string; license: string; tools: { name: string }[] }
>;
const recorded = JSON.parse(readFileSync(fixtures, "utf8")) as Recorded;
const entries = (file = "") =>
  Object.fromEntries(
    Object.keys(recorded).map((name) => [name, { command: process.execPath, args: [program, name, file] }]),
  );
const bash = (command: string) => ({ calls: [{ bash: { command } }] });
const tools = (body = "{}") => JSON.stringify((JSON.parse(body) as { tools: object[] }).tools);

/** A session that waits until the catalogues of `count` servers are stored. */
const learning = (count: number) =>
  bash(`until [ $(ls ~/sawtooth/state/mcp 2>/dev/null | grep -vc seen) = ${count} ]; do sleep 0.05; done`);
const auto = ["--permission-mode", "auto"];

test("each recorded server names its package, version and licence", () => {
  expect(Object.values(recorded).flatMap((one) => one.tools)).toHaveLength(96);
  for (const one of Object.values(recorded)) {
    expect(one.license).toMatch(/^(MIT|Apache-2\.0)$/);
    expect(`${one.package}@${one.version}`).toMatch(/^[@\w/-]+@\d+\.\d+\.\d+$/);
  }
});

test("the catalogue of 96 tools is at most 2,000 tokens with every name in it; the tools are the bytes of one server", async () => {
  const seven = await withServers([learning(7), { text: "known" }, { text: "on" }], entries());
  await seven.run(...auto);
  expect(seven.results()).toEqual(["(no output)"]);
  await seven.run(...auto);
  const one = await withServers([{ text: "on" }], { test: testServer("silent") });
  await one.run();
  const [first, , later] = seven.server.rawBodies;
  expect(tools(first)).toBe(tools(one.server.rawBodies[0]));
  expect(tools(later)).toBe(tools(first));
  const [, list = ""] = /<mcp_servers>([\s\S]*?)<\/mcp_servers>/.exec(later ?? "") ?? [];
  expect(Buffer.byteLength(list) / 4).toBeLessThanOrEqual(2000);
  for (const { name } of Object.values(recorded).flatMap((server) => server.tools))
    expect(list).toMatch(new RegExp(`[ ,]${name}(?:,|\\\\n)`));
});

test("of seven known servers only the called one is started, and one that never answers holds up no request", async () => {
  const seen = await withServers(
    [learning(7), { text: "known" }, { text: "on" }, mcpThen("memory", "read_graph"), { text: "on" }],
    {},
  );
  const file = join(seen.workspace.home, "started");
  writeSettings(seen.workspace, { mcpServers: { ...entries(file), silent: testServer("silent") } });
  await seen.run(...auto);
  expect(readFileSync(file, "utf8").trim().split("\n").sort()).toEqual(Object.keys(recorded).sort());
  rmSync(file);
  expect((await seen.run(...auto)).stdout).toBe("on\n");
  expect(seen.server.rawBodies[2]).toContain("silent: is starting for the first time");
  expect(existsSync(file)).toBe(false);
  await seen.run("-c", ...auto);
  expect(readFileSync(file, "utf8")).toBe("memory\n");
});

const mcpThen = (server: string, tool: string) => ({ calls: [mcp(server, tool)] });

test("without servers no byte of a request differs, whether the setting is there or not", async () => {
  const [without, empty, disabled] = await Promise.all(
    [undefined, {}, { off: { command: "x", disabled: true } }].map(async (mcpServers) => {
      const seen = await withServers([{ text: "on" }], {}, { mcpServers });
      await seen.run();
      return seen.server.rawBodies[0]?.replaceAll(seen.workspace.cwd, "<cwd>");
    }),
  );
  expect(empty).toBe(without);
  expect(disabled).toBe(without);
});

test("a server that was started anew with one tool changed, one gone and one new: 0 tokens are written again", async () => {
  const add = (a: number) => mcpThenWith({ a, b: 1 });
  const seen = await withServers(
    [
      add(1),
      add(2),
      { text: "3" },
      add(3),
      mcpThen("test", "fresh"),
      mcpThen("test", "old"),
      { text: "done" },
    ],
    {},
  );
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, {
    mcpServers: { test: { ...testServer("usual", file), changes: "trusted" } },
  });
  await seen.run(...auto);
  writeFileSync(`${file}.later`, "");
  await seen.run("-c", ...auto);
  expect(seen.server.rawBodies.at(-1)).toContain("new: fresh; changed: add; gone: old");
  const usages = usagesOf(seen);
  expect(usages).toHaveLength(7);
  for (const [at, { cacheReadTokens }] of usages.slice(1).entries()) {
    const { cacheReadTokens: read, cacheWrite5mTokens, cacheWrite1hTokens } = usages[at] ?? noUsage;
    // All that was in the cache is read: nothing of it is written a second time.
    expect(cacheReadTokens).toBe(read + cacheWrite5mTokens + cacheWrite1hTokens);
  }
  expect(usages[0]?.cacheWrite5mTokens).toBeGreaterThan(1000);
});

const mcpThenWith = (args: object) => ({ calls: [mcp("test", "add", { arguments: args })] });

function usagesOf(seen: Seen) {
  return seen.events().flatMap((event) => (event.type === "assistant_message" ? [event.usage] : []));
}
