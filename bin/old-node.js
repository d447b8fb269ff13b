// Runs the agent in the pinned Node where the person's own is too old, or says what to install.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const pinned = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

/** Ends this process with the exit code of the agent, or 2. */
export function runPinned() {
  if (!existsSync(pinned))
    return fail(
      `Node ${process.versions.node} is too old: install Node 22.12 or newer from https://nodejs.org`,
    );
  // A terminal signals its whole foreground group: passed on, its signals would reach the agent twice.
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // Before the agent is there, which may be told to end as soon as it is: we would end without it.
  for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"]) {
    process.on(signal, () => {
      if (signal === "SIGTERM" || !hasTerminal) child.kill(signal);
    });
  }
  // The channel carries no messages: it tells the agent when we are gone, even by SIGKILL.
  const child = spawn(pinned, process.argv.slice(1), { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  child.on("error", (error) => fail(`cannot start ${pinned}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(text) {
  process.stderr.write(`sawtooth: ${text}\n`);
  process.exitCode = 2;
}
