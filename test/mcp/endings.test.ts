/** Ways in which a run with servers ends: no server on the machine runs on. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Started, start, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { mcp, testServer, withServers } from "./session.ts";

type Ending = {
  name: string;
  /** How the server behaves. */
  kind?: string;
  /** Calls of the model before its last words. */
  tools?: string[];
  words?: string[];
  /** Ends the run once the call runs. */
  end?: (run: Started) => unknown;
};

const kill = (signal: NodeJS.Signals) => ({
  name: `by ${signal} in a call`,
  tools: ["wait"],
  end: ({ child }: Started) => child.kill(signal),
});
const endings: Ending[] = [
  { name: "without a call" },
  { name: "after a call", tools: ["old"] },
  { name: "after many calls", tools: ["old", "old", "old", "old"] },
  { name: "after a call that had no such tool", tools: ["missing"] },
  { name: "after the server died in a call", tools: ["die"] },
  { name: "after the server died and was started again", tools: ["die", "old"] },
  { name: "after a call that was too long", tools: ["wait"] },
  { name: "with a server that never answers and is not called", kind: "silent" },
  { name: "with a server that does not end by itself", kind: "stays", tools: ["old"] },
  { name: "with a server that is not called and does not end by itself", kind: "stays" },
  { name: "with a server that dies at its start", kind: "dies", tools: ["old"] },
  { name: "with a server that writes without end", kind: "flood", tools: ["old"] },
  { name: "with a server that writes rubbish", kind: "rubbish", tools: ["old"] },
  { name: "at its limit of turns", tools: ["old", "old", "old"], words: ["--max-turns", "2"] },
  { name: "at its limit of time", tools: ["wait"], words: ["--max-time", "3s"] },
  { name: "denied", tools: ["old"], words: ["--permission-mode", "ask"] },
  kill("SIGTERM"),
  kill("SIGINT"),
  kill("SIGHUP"),
  kill("SIGKILL"),
  kill("SIGQUIT"),
  {
    name: "by SIGTERM twice, with a server that does not end by itself",
    ...{ kind: "stays", tools: ["wait"] },
    end: ({ child }) => [child.kill("SIGTERM"), child.kill("SIGTERM")],
  },
];

/** Processes that carry the path of the notes in their command line: the servers. */
function serversOf(notes: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0${notes}`);
    } catch {
      return false;
    }
  });
}

describe("on the machine", () => {
  test.each(endings)("no server is left by a run that ends $name", async (ending) => {
    const { kind = "usual", tools = [], words = [], end } = ending;
    const calls = tools.map((tool) => ({ calls: [mcp("test", tool)] }));
    const seen = await withServers([...calls, { text: "on" }, { text: "on" }], {});
    const notes = join(seen.workspace.cwd, "notes");
    const entry = { ...testServer(kind, notes), timeoutSeconds: end ? 60 : 2 };
    writeSettings(seen.workspace, { mcpServers: { test: entry } });
    const mode = words.includes("--permission-mode") ? [] : ["--permission-mode", "auto"];
    const run = start(seen.workspace, ["-p", "go", ...mode, ...words]);
    if (end) {
      await until(() => existsSync(notes) && readFileSync(notes, "utf8").includes("waiting"), "the call");
      expect(serversOf(notes)).not.toEqual([]);
      end(run);
    }
    await run.ended;
    await until(() => serversOf(notes).length === 0, "the end of the server");
  });
});
