/** Sessions with the published servers that people use most: their tools, progress, data, 5 MB, and the newest protocol. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Catalogue } from "../../src/mcp/catalogue.ts";
import { mcp, withServers } from "../mcp/session.ts";
import { sawtooth } from "../support/sawtooth.ts";
import { all, live } from "./servers.ts";

const auto = ["--permission-mode", "auto"];
const recorded = JSON.parse(
  readFileSync(new URL("../fixtures/mcp-servers.json", import.meta.url), "utf8"),
) as Record<string, { tools: { name: string }[] }>;

test("each is started by doctor and tells its protocol, and the next session knows its tools", async () => {
  const seen = await withServers([{ text: "on" }], all());
  const { stdout } = await sawtooth(seen.workspace, ["doctor"]);
  for (const name of Object.keys(recorded)) expect(stdout).toMatch(new RegExp(`${name}.*\\d+ tools?`));
  const stored = globSync("sawtooth/state/mcp/*[0-9a-f].json", { cwd: seen.workspace.home })
    .filter((file) => !file.endsWith(".seen.json"))
    .map((file) => JSON.parse(readFileSync(join(seen.workspace.home, file), "utf8")) as Catalogue);
  const protocols = stored.map(({ protocol }) => protocol).sort();
  expect(protocols).toEqual([...Array.from({ length: 6 }, () => "2025-11-25"), "2026-07-28"]);
  await seen.run();
  const [body = ""] = seen.server.rawBodies;
  const names = Object.entries(recorded).filter(([name]) => name !== "everything");
  for (const { name } of names.flatMap(([, { tools }]) => tools))
    expect(body).toMatch(new RegExp(`[ ,]${name}(?:,|\\\\n)`));
});

test("progress renews the time of a call, and data becomes a file with the same bytes", async () => {
  const text = Buffer.from("hello").toString("base64");
  const zip = { name: "hello.gz", data: `data:text/plain;base64,${text}`, outputType: "resource" };
  const calls = [
    mcp("everything", "trigger-long-running-operation", { arguments: { duration: 5, steps: 10 } }),
    mcp("everything", "gzip-file-as-resource", { arguments: zip }),
    mcp("sequential-thinking", "sequentialthinking", {
      arguments: { thought: "first", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    }),
    mcp("memory", "create_entities", {
      arguments: { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] },
    }),
    mcp("memory", "search_nodes", { arguments: { query: "Ada" } }),
  ];
  const seen = await withServers([...calls.map((call) => ({ calls: [call] })), { text: "done" }], {
    everything: live("everything", ["stdio"], { timeoutSeconds: 2 }),
    "sequential-thinking": live("sequential-thinking"),
    memory: live("memory", [], { env: { MEMORY_FILE_PATH: "/tmp/memory.jsonl" } }),
  });
  await seen.run(...auto);
  const [operation, zipped = "", thought, made, found] = seen.results();
  expect(operation).toBe("Long running operation completed. Duration: 5 seconds, Steps: 10.");
  const [, file = ""] = /application\/gzip, \d+ bytes: (\S+)\]/.exec(zipped) ?? [];
  expect(gunzipSync(readFileSync(file)).toString()).toBe("hello");
  expect(thought).toContain('"thoughtHistoryLength": 1');
  expect([made, found].join()).toContain("counts");
});

test("many files of 5 MB together are a view of at most 30 kB, and whole in the artifact", async () => {
  const paths = Array.from({ length: 5 }, (_, index) => `${index}.txt`);
  const call = mcp("filesystem", "read_multiple_files", { arguments: { paths }, want: "needle" });
  const seen = await withServers([{ calls: [call] }, { text: "done" }], {
    filesystem: live("filesystem", ["."]),
  });
  const texts = paths.map((path, index) =>
    Array.from({ length: 65_000 }, (_, line) =>
      index === 3 && line === 25_000 ? "a needle" : `${path} line ${line}`,
    ).join("\n"),
  );
  for (const [index, path] of paths.entries())
    writeFileSync(join(seen.workspace.cwd, path), texts[index] ?? "");
  await seen.run(...auto);
  const [view = ""] = seen.results();
  expect(Buffer.byteLength(view)).toBeLessThanOrEqual(30_000);
  expect(view).toContain("a needle");
  const whole = readFileSync(/whole output: (\S+)\]/.exec(view)?.[1] ?? "", "utf8");
  expect(whole.length).toBeGreaterThan(5_000_000);
  for (const text of texts) expect(whole.includes(text)).toBe(true);
});

test("with or without a network the answer of a server on the newest protocol is a result, and the session goes on", async () => {
  const call = mcp("context7", "resolve-library-id", {
    arguments: { query: "routing", libraryName: "react" },
  });
  const seen = await withServers([{ calls: [call] }, { text: "done" }], { context7: live("context7") });
  const { code, stdout } = await seen.run(...auto);
  expect([code, stdout]).toEqual([0, "done\n"]);
  expect(seen.results()[0]).toMatch(/fetch failed|Error searching|react/);
});
