/** An editor in a temporary folder: every call and its result go to a log, as in a session. */

import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { resultText } from "../../src/core/blocks.ts";
import type { Access, EventLog, ToolOutput } from "../../src/core/ports.ts";
import { editorTool } from "../../src/tools/editor/tool.ts";
import { call, memoryLog, reply, started } from "./logs.ts";

type Input = Record<string, unknown>;

export type Editor = {
  folder: string;
  log: EventLog;
  /** Runs a call and logs it. `path` is relative to the folder. `decide`: is shown what the call touches. */
  run(input: Input, budgetTokens?: number, decide?: (access: Access) => void): Promise<ToolOutput>;
  /** The same, its text only. */
  say(input: Input, budgetTokens?: number): Promise<string>;
  write(name: string, content: string | Buffer): string;
  read(name: string): Buffer;
  /** Names in the folder. */
  names(): string[];
};

/** Removed with the test. `base`: where the folder is made. */
export function editorHere(base = tmpdir()): Editor {
  const folder = realpathSync(mkdtempSync(join(base, "editor-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return editorIn(folder, memoryLog([started()]));
}

/** An editor on a folder and a log that exist. */
export function editorIn(folder: string, log: EventLog): Editor {
  const tool = editorTool({ description: "", workspace: folder });
  const run = async (input: Input, budgetTokens = 8000, decide: (access: Access) => void = () => {}) => {
    const id = `call-${log.events().length}`;
    log.append(reply(call(id, tool.name, input)));
    const access = tool.access(input);
    decide(access);
    const output = await tool.run(input, {
      toolUseId: id,
      signal: new AbortController().signal,
      events: [...log.events()],
      access,
      budgetTokens,
      artifacts: { folder, create: () => unused(), write: () => unused() },
      onProgress: () => {},
    });
    const { content, isError = false, stats } = output;
    const result = { type: "tool_result" as const, toolUseId: id, toolName: tool.name, content, isError };
    log.append(stats ? { ...result, stats } : result);
    return output;
  };
  return {
    folder,
    log,
    run,
    say: async (input, budgetTokens) => resultText((await run(input, budgetTokens)).content),
    write(name, content) {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    read: (name) => readFileSync(join(folder, name)),
    names: () => readdirSync(folder).sort(),
  };
}

function unused(): never {
  throw new Error("the editor keeps no artifacts");
}
