/** `sawtooth doctor` starts each server once, says what it offers or why it cannot be used, and leaves none running. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sawtooth, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { published, testServer, withServers } from "./session.ts";

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

test("each server has a line with its tools, time and protocol, or with why not", async () => {
  const seen = await withServers([], {});
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, {
    mcpServers: {
      test: testServer("usual", file),
      memory: published("memory"),
      dies: testServer("dies"),
      absent: { command: "no-such-program-here" },
      lacking: { command: `$${"{NOT_SET}"}` },
      off: { command: "x", disabled: true },
    },
  });
  const offered = { theirs: testServer("usual", `${file}.project`) };
  writeFileSync(join(seen.workspace.cwd, ".mcp.json"), JSON.stringify({ mcpServers: offered }));
  const { stdout } = await sawtooth(seen.workspace, ["doctor"]);
  const text = stdout.replace(/\s+/g, " ");
  expect(text).toMatch(/ok mcp test: 7 tools in \d+\.\d s, protocol 2026-07-28/);
  expect(text).toMatch(/ok mcp memory: 9 tools in \d+\.\d s, protocol 2025-11-25/);
  expect(text).toContain("note mcp dies: ended with exit code 7; its last words: no licence →");
  expect(text).toContain("note mcp absent: there is no program no-such-program-here");
  expect(text).toContain("note mcp mcpServers.lacking is not used: the variable NOT_SET is not set");
  expect(text).toContain("note mcp theirs, a server of this project's .mcp.json, is not used");
  expect(text).not.toContain("off");
  const pids = [...readFileSync(file, "utf8").matchAll(/started (\d+)/g)].map(([, pid]) => Number(pid));
  expect(pids).toHaveLength(1);
  await until(() => !pids.some(isAlive), "the end of the server");
  expect(existsSync(`${file}.project`)).toBe(false);
});
