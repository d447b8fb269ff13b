#!/usr/bin/env node
// Launcher. Loads the built agent, or under an old Node what starts the pinned one.

const [major, minor] = process.versions.node.split(".").map(Number);

if (major > 22 || (major === 22 && minor >= 12)) await load();
else (await import("./old-node.js")).runPinned();

/** Takes parts of Node without `import`, which makes it evaluate all that they export: 8 ms of a start. */
async function load() {
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  const { homedir } = process.getBuiltinModule("node:os");
  const { join } = process.getBuiltinModule("node:path");
  if (!existsSync(new URL("../dist/main.js", import.meta.url))) {
    process.stderr.write("sawtooth: dist/ is missing: run `npm install` in the project folder first\n");
    process.exitCode = 2;
    return;
  }
  // V8 keeps compiled code here: the next start reads it instead of compiling anew.
  const cache = process.env.SAWTOOTH_HOME || process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  // Set by old-node.js, or by a program that forks us. Its end hangs up on the agent, and it holds no agent at its end.
  process.channel?.unref();
  process.on("disconnect", () => process.kill(process.pid, "SIGHUP"));
  const compiled = join(cache, "sawtooth-compile-cache");
  if (isFolder(cache) && isFolder(compiled)) enableCompileCache(compiled);
  await import("../dist/main.js");
}

/** Returns true when the folder is there, made if need be, but not those above it: under /proc Node would try that for ever. */
function isFolder(path) {
  const { existsSync, mkdirSync } = process.getBuiltinModule("node:fs");
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return existsSync(path);
  }
}
