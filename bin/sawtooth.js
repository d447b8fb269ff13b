#!/usr/bin/env node
// Launcher. Runs under any Node from 18 on far enough to say what is needed, then loads the built agent.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const dist = new URL("../dist/main.js", import.meta.url);
const pinned = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

if (major > 22 || (major === 22 && minor >= 12)) {
  if (existsSync(dist)) {
    // V8 keeps the compiled code here: start-up then reads it instead of compiling anew.
    const home = process.env.SAWTOOTH_HOME || process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
    nodeModule.enableCompileCache?.(join(home, "sawtooth-compile-cache"));
    await import(dist.href);
  } else {
    fail("dist/ is missing: run `npm install` or `npm run build` in the project folder first");
  }
} else if (existsSync(pinned)) {
  const child = spawn(pinned, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`cannot start ${pinned}: ${error.message}`));
  child.on("exit", (code, signal) => {
    const numbers = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };
    process.exit(code ?? 128 + (numbers[signal] ?? 0));
  });
} else {
  fail(
    `Node ${process.versions.node} is too old: install Node 22.12 or newer (https://nodejs.org) and try again`,
  );
}

function fail(text) {
  process.stderr.write(`sawtooth: ${text}\n`);
  process.exit(2);
}
