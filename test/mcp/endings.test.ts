/** Ways in which a run with servers ends: no server on the machine runs on. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noBubblewrap } from "../network/inside.ts";
import { type Started, start, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { mcp, testServer, withServers } from "./session.ts";

/** Servers by how they behave, with the calls of the model: all of them are servers of one run. */
const behaviours: { name: string; kind?: string; tools?: string[] }[] = [
  { name: "is not called" },
  { name: "was called", tools: ["old"] },
  { name: "was called often", tools: ["old", "old", "old", "old"] },
  { name: "has no such tool", tools: ["missing"] },
  { name: "died in a call", tools: ["die"] },
  { name: "died and was started again", tools: ["die", "old"] },
  { name: "took too long for a call", tools: ["wait"] },
  { name: "never answers and is not called", kind: "silent" },
  { name: "does not end by itself", kind: "stays", tools: ["old"] },
  { name: "is not called and does not end by itself", kind: "stays" },
  { name: "dies at its start", kind: "dies", tools: ["old"] },
  { name: "writes without end", kind: "flood", tools: ["old"] },
  { name: "writes rubbish", kind: "rubbish", tools: ["old"] },
];

/** Ways in which a run ends. */
type Ending = {
  name: string;
  /** How the server behaves. */
  kind?: string;
  /** Calls of the model before its last words. */
  tools: string[];
  words?: string[];
  /** Ends the run once the call runs. */
  end?: (run: Started) => unknown;
};

const kill = (signal: NodeJS.Signals): Ending => ({
  name: `by ${signal} in a call`,
  tools: ["wait"],
  end: ({ child }) => child.kill(signal),
});
const endings: Ending[] = [
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

/** Returns true where a server, or the sandbox around it, is a process of bubblewrap. */
function isWalled(path: string): boolean {
  return processesOf(path).some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8") === "bwrap\n";
    } catch {
      return false;
    }
  });
}

const noted = (file: string, word: string) => existsSync(file) && readFileSync(file, "utf8").includes(word);

/** Runs with servers that behave in every way, to an end as usual, and waits until nothing of it is left. */
async function endsWithoutAny(settings: object): Promise<void> {
  const calls = behaviours.flatMap(({ tools = [] }, index) =>
    tools.map((tool) => ({ calls: [mcp(`s${index}`, tool)] })),
  );
  const seen = await withServers([...calls, { text: "on" }], {});
  const { cwd } = seen.workspace;
  const notes = behaviours.map((_, index) => join(cwd, `notes-${index}.`));
  const entries = behaviours.map(({ kind = "usual" }, index) => [
    `s${index}`,
    { ...testServer(kind, notes[index] ?? ""), timeoutSeconds: 2 },
  ]);
  writeSettings(seen.workspace, { mcpServers: Object.fromEntries(entries) as object, ...settings });
  const run = start(seen.workspace, ["-p", "go", "--permission-mode", "auto"]);
  await until(() => notes.every((file) => noted(file, "started")), "the start of each server");
  expect(isWalled(cwd)).toBe("sandbox" in settings);
  const { stdout } = await run.ended;
  expect(stdout).toBe("on\n");
  // What a server is started with is below this folder.
  await until(() => processesOf(cwd).length === 0, "the end of everything").catch((error: Error) => {
    const left = behaviours.filter((_, index) => processesOf(notes[index] ?? "").length > 0);
    throw new Error(`${error.message}: ${left.map(({ name }) => name).join("; ")}`);
  });
}

/** Runs to the end and waits until nothing of it is left. `settings`: more than the server. */
async function endsWithoutServers(ending: Ending, settings: object): Promise<void> {
  const { kind = "usual", tools, words = [], end } = ending;
  const calls = tools.map((tool) => ({ calls: [mcp("test", tool)] }));
  const seen = await withServers([...calls, { text: "on" }, { text: "on" }], {});
  const { cwd } = seen.workspace;
  const notes = join(cwd, "notes");
  const entry = { ...testServer(kind, notes), timeoutSeconds: end ? 60 : 2 };
  writeSettings(seen.workspace, { mcpServers: { test: entry }, ...settings });
  const mode = words.includes("--permission-mode") ? [] : ["--permission-mode", "auto"];
  const run = start(seen.workspace, ["-p", "go", ...mode, ...words]);
  if (end) {
    await until(() => noted(notes, "waiting"), "the call");
    expect(processesOf(notes)).not.toEqual([]);
    expect(isWalled(cwd)).toBe("sandbox" in settings);
    end(run);
  }
  await run.ended;
  await until(() => processesOf(cwd).length === 0, "the end of the server");
}

describe.each([
  { where: "on the machine", settings: {}, isSkipped: false },
  { where: "in a sandbox", settings: { sandbox: undefined }, isSkipped: noBubblewrap() },
])("$where", ({ settings, isSkipped }) => {
  test.skipIf(isSkipped)("of servers that behave in 13 ways none is left by one run that ends as usual", () =>
    endsWithoutAny(settings),
  );
  test.skipIf(isSkipped).each(endings)("no server is left by a run that ends $name", (ending) =>
    endsWithoutServers(ending, settings),
  );
});
