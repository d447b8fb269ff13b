/** Ways in which a run with servers ends: no server on the machine runs on. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noBubblewrap } from "../network/inside.ts";
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

/** Processes with a word of their command line that begins so: servers, and the sandboxes around them. */
function processesOf(path: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`\0${path}`);
    } catch {
      return false;
    }
  });
}

/** Runs to the end and waits until nothing of it is left. `settings`: more than the server. */
async function endsWithoutServers(ending: Ending, settings: object = {}): Promise<void> {
  const { kind = "usual", tools = [], words = [], end } = ending;
  const calls = tools.map((tool) => ({ calls: [mcp("test", tool)] }));
  const seen = await withServers([...calls, { text: "on" }, { text: "on" }], {});
  const { cwd } = seen.workspace;
  const notes = join(cwd, "notes");
  const entry = { ...testServer(kind, notes), timeoutSeconds: end ? 60 : 2 };
  writeSettings(seen.workspace, { mcpServers: { test: entry }, ...settings });
  const mode = words.includes("--permission-mode") ? [] : ["--permission-mode", "auto"];
  const run = start(seen.workspace, ["-p", "go", ...mode, ...words]);
  if (end) {
    await until(() => existsSync(notes) && readFileSync(notes, "utf8").includes("waiting"), "the call");
    expect(processesOf(notes)).not.toEqual([]);
    const isWalled = processesOf(cwd).some((pid) => readFileSync(`/proc/${pid}/comm`, "utf8") === "bwrap\n");
    expect(isWalled).toBe("sandbox" in settings);
    end(run);
  }
  await run.ended;
  await until(() => processesOf(cwd).length === 0, "the end of the server");
}

describe("on the machine", () => {
  test.each(endings)("no server is left by a run that ends $name", (ending) => endsWithoutServers(ending));
});

/** Those that differ most: behind walls one kill ends all, however the server behaves. */
const inside = [
  "after a call",
  "after the server died and was started again",
  "with a server that does not end by itself",
  "by SIGTERM in a call",
  "by SIGKILL in a call",
];

describe.skipIf(noBubblewrap())("in a sandbox", () => {
  test.each(endings.filter(({ name }) => inside.includes(name)))(
    "no server and no sandbox is left by a run that ends $name",
    (ending) => endsWithoutServers(ending, { sandbox: undefined }),
  );
});
