#!/usr/bin/env node
// Launcher. Loads the built agent; under an old Node it runs the pinned one, or says what to install.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import * as nodeModule from "node:module";
import { constants, homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const dist = new URL("../dist/main.js", import.meta.url);
const pinned = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
const [major, minor] = process.versions.node.split(".").map(Number);
const isNew = major > 22 || (major === 22 && minor >= 12);

if (isNew && existsSync(dist)) {
  // V8 keeps compiled code here: the next start reads it instead of compiling anew.
  const cache = process.env.SAWTOOTH_HOME || process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  // Set by `runPinned`, or by a program that forks us. Its end hangs up on the agent, and it holds no agent at its end.
  process.channel?.unref();
  process.on("disconnect", () => process.kill(process.pid, "SIGHUP"));
  const compiled = join(cache, "sawtooth-compile-cache");
  if (isFolder(cache) && isFolder(compiled)) nodeModule.enableCompileCache?.(compiled);
  await import(dist.href);
} else if (isNew) {
  fail("dist/ is missing: run `npm install` in the project folder first");
} else if (existsSync(pinned)) {
  runPinned();
} else {
  fail(`Node ${process.versions.node} is too old: install Node 22.12 or newer from https://nodejs.org`);
}

/** Returns true when the folder is there, made if need be, but not those above it: under /proc Node would try that for ever. */
function isFolder(path) {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return existsSync(path);
  }
}

function runPinned() {
  // The channel carries no messages: it tells the agent when we are gone, even by SIGKILL.
  const child = spawn(pinned, process.argv.slice(1), { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  // A terminal signals its whole foreground group: passed on, its signals would reach the agent twice.
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"]) {
    process.on(signal, () => {
      if (signal === "SIGTERM" || !hasTerminal) child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`cannot start ${pinned}: ${error.message}`));
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function fail(text) {
  process.stderr.write(`sawtooth: ${text}\n`);
  process.exitCode = 2;
}
