/** `/mcp` and `/trust` in the screen: how the servers stand, a restart, and those of the project that wait. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { drive } from "../support/pty-drive.ts";
import { writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { mcp, testServer, withServers } from "./session.ts";

test("/mcp lists the servers with how they stand, and restarts one", async () => {
  const seen = await withServers([{ text: "final" }], {});
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, {
    mcpServers: { test: testServer("usual", file), dies: testServer("dies") },
  });
  const terminal = drive(seen.workspace, [], { rows: 50, columns: 120 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("/mcp\r");
  await terminal.until(/test {2}not started\s+dies {2}not started/);
  terminal.send("/mcp restart test\r");
  await terminal.until("test was started again");
  terminal.send("/mcp restart test\r");
  await terminal.until(/test was started again[\s\S]*test was started again/);
  expect(readFileSync(file, "utf8").match(/started/g)).toHaveLength(2);
  terminal.send("/mcp restart dies\r");
  await terminal.until("ended with exit code 7");
  terminal.send("/mcp restart nobody\r");
  await terminal.until("there is no server nobody");
  terminal.send("/mcp\r");
  await terminal.until(
    /test {2}running, 7 tools\s+dies {2}not started, its last start failed: ended with exit code 7/,
  );
});

test("Esc ends a call: the server hears that it is cancelled and serves the next one", async () => {
  const wait = { calls: [mcp("test", "wait")] };
  const seen = await withServers([wait, { calls: [mcp("test", "old")] }, { text: "final" }], {});
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, { mcpServers: { test: testServer("usual", file) } });
  const terminal = drive(seen.workspace, ["--permission-mode", "auto"], { rows: 50, columns: 120 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("go\r");
  await until(() => notesIn(file).includes("waiting"), "the call");
  terminal.send("\x1b");
  await terminal.until(/interrupted/i);
  await until(() => notesIn(file).includes("cancelled"), "the cancellation");
  terminal.send("again\r");
  await terminal.until("final");
  expect(seen.results()).toEqual(["[cancelled by user]", "here"]);
  expect(notesIn(file).match(/started/g)).toHaveLength(1);
});

const notesIn = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");

test("a server of the project that was put off is allowed by /trust, for the sessions that follow", async () => {
  const seen = await withServers([{ text: "final" }], {});
  writeFileSync(
    join(seen.workspace.cwd, ".mcp.json"),
    JSON.stringify({ mcpServers: { theirs: testServer() } }),
  );
  const terminal = drive(seen.workspace, [], { rows: 50, columns: 120 });
  onTestFinished(() => terminal.kill());
  await terminal.until("Use the server theirs");
  terminal.send("1");
  await terminal.until("not used from .mcp.json: theirs; /trust shows them");
  terminal.send("/mcp\r");
  await terminal.until("theirs  of this project's .mcp.json, not used");
  terminal.send("/trust\r");
  await terminal.until(/runs +\S+node [\s\S]*Use the server theirs of this project\?/);
  terminal.send("y");
  await terminal.until("allowed: theirs; the next session uses them");
  terminal.send("/clear\r");
  await terminal.until(/› \/clear[\s\S]*Sawtooth/);
  terminal.send("/mcp\r");
  await terminal.until("theirs  not started");
});
