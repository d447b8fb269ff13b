/** A session inside of a real sandbox, for tests: a workspace, a home, and the tool that runs commands. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultText } from "../../src/core/blocks.ts";
import type { Sandbox } from "../../src/core/sandbox.ts";
import type { InsideOptions } from "../../src/sandbox/inside.ts";
import type { ProcessTable } from "../../src/tools/bash/shell/process-table.ts";
import { createShell, type Shell } from "../../src/tools/bash/shell/shell.ts";
import type { ShellTiming } from "../../src/tools/bash/shell/timing.ts";
import { bashTool } from "../../src/tools/bash/tool.ts";
import { insideOf } from "./support.ts";

export type InsideSession = {
  root: string;
  work: string;
  home: string;
  /** The session's folder. */
  state: string;
  shell: Shell;
  /** Runs a command inside, and gives what the model reads. */
  run(input: string | Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
};

/**
 * Opens a session. `files`: texts by path below the root, made before the sandbox looks around. `mainBelow`: our own
 * main file.
 */
export function openInside(
  files: Readonly<Record<string, string>> = {},
  more: Partial<InsideOptions> & {
    switchedOff?: () => boolean;
    mainBelow?: string;
    timing?: ShellTiming;
    processes?: ProcessTable;
    onSandbox?: (sandbox: Sandbox) => void;
  } = {},
): InsideSession {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-inside-")));
  const [work, home, state] = [join(root, "work"), join(root, "home"), join(root, "session")];
  for (const folder of [work, home]) mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const env = { ...process.env, HOME: home, ...more.env };
  const main = more.mainBelow === undefined ? undefined : join(root, more.mainBelow);
  const sandbox = insideOf({ work, state }, { home, main, ...more, env });
  more.onSandbox?.(sandbox);
  const shell = createShell({
    ...{ cwd: work, env, sessionId: root.slice(-6), stateFolder: state },
    sandbox: async () => (more.switchedOff?.() ? undefined : sandbox),
    ...(more.timing ? { timing: more.timing } : {}),
    ...(more.processes ? { processes: more.processes } : {}),
  });
  const tool = bashTool({ description: "", shell });
  let number = 0;
  return {
    ...{ root, work, home, state, shell },
    async run(input) {
      number += 1;
      const path = join(state, "artifacts", `${number}.txt`);
      const call = typeof input === "string" ? { command: input } : input;
      const output = await tool.run(call, {
        ...{ toolUseId: "t", signal: new AbortController().signal, events: [], budgetTokens: 8000 },
        access: { kind: "execute", command: String(call.command) },
        artifacts: {
          folder: join(state, "artifacts"),
          write: () => "",
          create() {
            writeFileSync(path, "");
            return path;
          },
        },
        onProgress() {},
      });
      return resultText(output.content);
    },
    async close() {
      await shell.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
