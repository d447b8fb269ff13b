/** Resources of servers: listed in a file, read by address, with the same rules and results as tools. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { mcp, published, testServer, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const read = (resource: string, server = "test") => ({ mcp: { server, resource } });

test("are listed one a line, read whole or as files, and one that is not there is told with the list", async () => {
  const reads = [
    read("note://today"),
    read("note://days/monday"),
    read("other://x"),
    { mcp: { server: "test" } },
  ];
  const seen = await withServers([...reads.map((call) => ({ calls: [call] })), { text: "on" }], {
    test: testServer("rich"),
  });
  await seen.run(...auto);
  const [today, monday = "", missing, neither] = seen.results();
  expect(today).toBe("[note://today]\nthe note of today");
  const [, file = ""] = /: (\S+)\]$/.exec(monday) ?? [];
  expect(readFileSync(file, "utf8")).toBe("note of monday");
  expect(missing).toMatch(/^MCP server test has no resource other:\/\/x: .*\/mcp\/test\/resources\.jsonl$/);
  expect(neither).toBe("A call has a tool or a resource: give one of them.");
  const list = readFileSync(join(seen.folder(), "mcp/test/resources.jsonl"), "utf8").trim().split("\n");
  expect(list.map((line) => JSON.parse(line) as object)).toEqual([
    { resource: "note://today", name: "notes", description: "", type: "text/plain" },
    { resource_template: "note://days/{day}", name: "day", description: "A note by its day.", type: "" },
  ]);
  expect(seen.server.rawBodies[1]).toContain("8 tools, 2 resources in ");
});

test("are denied in headless with the rule that would allow them, which allows them", async () => {
  const call = { calls: [read("note://today")] };
  const seen = await withServers([call, { text: "no" }, call, { text: "on" }], { test: testServer("rich") });
  expect((await seen.run()).code).toBe(5);
  expect(seen.results()[0]).toContain("--allow 'mcp(test/resource:note://today)'");
  await seen.run("-c", "--allow", "mcp(test/resource:note://*)");
  expect(seen.results()[1]).toBe("[note://today]\nthe note of today");
});

test("published: a resource of the server everything, and a result that is one", async () => {
  const zip = mcp("everything", "gzip-file-as-resource", {
    arguments: { name: "a.gz", data: "data:text/plain;base64,aGVsbG8=", outputType: "resource" },
  });
  const dynamic = read("demo://resource/dynamic/text/1", "everything");
  const seen = await withServers([{ calls: [zip] }, { calls: [dynamic] }, { text: "on" }], {
    everything: published("everything", "stdio"),
  });
  await seen.run(...auto);
  const [packed = "", text] = seen.results();
  const [, file = ""] = /application\/gzip, \d+ bytes: (\S+)\]/.exec(packed) ?? [];
  expect(gunzipSync(readFileSync(file)).toString()).toBe("hello");
  expect(text).toContain("[demo://resource/dynamic/text/1]");
});
