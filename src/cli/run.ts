/** Reads a command line and loads only the modules of its mode. */

import { packageVersion } from "../app/prompts.ts";
import { exitCodeOf, UsageError } from "../core/errors.ts";
import { type Command, parseCommand } from "./arguments/arguments.ts";
import { refuseHeadless } from "./arguments/combinations.ts";
import { errorText, writeError, writeOut, writeUnexpected } from "./terminal-output.ts";
import { limitYoungGeneration } from "./young-generation.ts";

/** Runs a command line and returns the exit code; 1 for a bug, told in one line. Leaves the process as it is: another command line may follow. */
export async function run(words: readonly string[]): Promise<number> {
  try {
    const command = parseCommand(words);
    if (command.name !== "help" && command.name !== "version") enter();
    return await dispatch(command);
  } catch (error) {
    const exitCode = exitCodeOf(error);
    await new Promise<void>((written) => {
      if (exitCode === undefined) writeUnexpected(error, written);
      else writeError(`sawtooth: ${errorText(error)}\n`, written);
    });
    return exitCode ?? 1;
  }
}

/** Prepares the process for a command. Throws `UsageError` in a folder that was removed: all of them work in one. */
function enter(): void {
  try {
    process.cwd();
  } catch {
    throw new UsageError("the folder that this was started in was removed: cd to another one first");
  }
  limitYoungGeneration();
}

async function dispatch(command: Command): Promise<number> {
  switch (command.name) {
    case "help":
      return say((await import("./help.ts")).helpText());
    case "version":
      return say(`${packageVersion()}\n`);
    case "run": {
      if (!isHeadless(command)) refuseHeadless(command.flags);
      const { worktree } = command.flags;
      if (worktree === undefined) return runTask(command);
      return (await import("./worktree.ts")).inWorktree(worktree, () => runTask(command));
    }
    case "replay":
      return (await import("./commands/replay.ts")).runReplay(command);
    case "acp":
      if (command.operands[0] === "login")
        return (await import("./commands/login.ts")).runLogin(command.operands.slice(1));
      if (command.operands.length > 0)
        throw new UsageError(
          `acp takes no ${command.operands[0]}: an editor talks to it (see docs/editors.md)`,
        );
      return (await import("./acp/acp.ts")).runAcp(command.flags);
    case "fix":
    case "batch":
    case "schema":
    case "report":
    case "egress":
    case "sessions":
    case "undo":
    case "models":
    case "mcp":
    case "plugin":
    case "doctor":
    case "login":
    case "logout":
    case "demo":
    case "completion":
    case "update":
      return (await import("./commands.ts")).runCommand(command);
  }
}

async function runTask(command: Extract<Command, { name: "run" }>): Promise<number> {
  if (isHeadless(command))
    return (await import("./run-headless.ts")).runHeadless(command.prompt, command.flags);
  return (await import("./interactive/interactive.ts")).runInteractive(command.prompt, command.flags);
}

/** Returns true without a terminal on both sides: there is nobody to talk to, so piped text goes headless. */
function isHeadless({ flags }: Extract<Command, { name: "run" }>): boolean {
  return flags.print || !process.stdin.isTTY || !process.stdout.isTTY;
}

function say(text: string): number {
  writeOut(text);
  return 0;
}
