/** The launcher under today's Node and under an old one, with a small program in the place of the agent. */

import { execFileSync, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { spawn as spawnInTerminal } from "@lydell/node-pty";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readToTheEnd } from "../support/pty-drive.ts";
import { patienceMs } from "../support/until.ts";

const launcher = join(import.meta.dirname, "../../bin");
const oldNode = findOldNode();

/** Prints what reached it, and does what its first argument says. */
const program = `
import { readFileSync } from "node:fs";
const [act] = process.argv.slice(2);
if (act === "echo") {
  console.log(JSON.stringify({ node: process.version, args: process.argv.slice(2), stdin: readFileSync(0, "utf8") }));
  process.exitCode = 7;
}
if (act === "parts") console.log(JSON.stringify(process.moduleLoadList));
if (act === "die") process.kill(process.pid, "SIGKILL");
if (act === "count") {
  let signals = [];
  const end = () => { console.log("got " + signals.join(" ")); process.exit(130); };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => { signals.push(signal); if (signals.length === 1) setTimeout(end, 500); });
  setTimeout(() => process.exit(1), 60000);
  console.log("ready");
}
`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-launcher-"));
  for (const name of ["dist", "node_modules/node/bin"]) mkdirSync(join(folder, name), { recursive: true });
  cpSync(launcher, join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "dist/main.js"), program);
  symlinkSync(process.execPath, join(folder, "node_modules/node/bin/node"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("under a Node that is new enough", () => {
  test("the agent gets the arguments and standard input, and its exit code is kept", () => {
    const run = launch(process.execPath, ["echo", "-p", "two words"], "from a pipe");
    expect(JSON.parse(run.stdout)).toEqual({
      node: process.version,
      args: ["echo", "-p", "two words"],
      stdin: "from a pipe",
    });
    expect([run.stderr, run.status]).toEqual(["", 7]);
  });

  test("the launcher loads no part of Node that it does not use", () => {
    const parts: string[] = JSON.parse(launch(process.execPath, ["parts"]).stdout);
    expect(parts).toContain("NativeModule module");
    const unused = /NativeModule (child_process|dgram|net)$/;
    expect(parts.filter((name) => unused.test(name))).toEqual([]);
  });

  test.runIf(process.platform === "linux")("a state folder that cannot be made holds nothing up", () => {
    for (const home of ["/proc", "/proc/none/at/all"]) {
      const env = { ...process.env, SAWTOOTH_HOME: home };
      const run = spawnSync(process.execPath, [join(folder, "bin/sawtooth.js"), "echo"], {
        env,
        input: "",
        encoding: "utf8",
        timeout: patienceMs,
        killSignal: "SIGKILL",
      });
      expect(run.status).toBe(7);
    }
  });

  test("a clone that was not built says in one line what to run", () => {
    rmSync(join(folder, "dist"), { recursive: true });
    const run = launch(process.execPath, ["echo"]);
    expect([run.stdout, run.status]).toEqual(["", 2]);
    expect(run.stderr).toMatch(/^sawtooth: .*npm install.*\n$/);
  });
});

describe.skipIf(!oldNode)(
  "under a Node that is too old (skipped where none older than 22.12 is found)",
  () => {
    const old = oldNode ?? "";

    test("the pinned Node takes over arguments, standard input and exit code", () => {
      const run = launch(old, ["echo", "-p", "two words"], "from a pipe");
      expect(JSON.parse(run.stdout)).toEqual({
        node: process.version,
        args: ["echo", "-p", "two words"],
        stdin: "from a pipe",
      });
      expect([run.stderr, run.status]).toEqual(["", 7]);
    });

    test("without the pinned Node one line says what to install", () => {
      rmSync(join(folder, "node_modules"), { recursive: true });
      const run = launch(old, ["echo"]);
      expect([run.stdout, run.status]).toEqual(["", 2]);
      expect(run.stderr).toMatch(/^sawtooth: Node [\d.]+ is too old: install Node 22\.12 or newer.*\n$/);
    });

    test("an agent killed by a signal gives the shell's exit code for it", () => {
      expect(launch(old, ["die"]).status).toBe(128 + 9);
    });

    test.each(["SIGINT", "SIGTERM"] as const)(
      "%s sent to the launcher reaches the agent once",
      async (signal) => {
        const child = spawn(old, [join(folder, "bin/sawtooth.js"), "count"], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          if (text.includes("ready")) child.kill(signal);
        });
        expect(await once(child, "close")).toEqual([130, null]);
        expect(output).toBe(`ready\ngot ${signal}\n`);
      },
    );

    test("the agent hears a hang-up when the launcher is killed with SIGKILL", async () => {
      const child = spawn(old, [join(folder, "bin/sawtooth.js"), "count"], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (text.includes("ready")) child.kill("SIGKILL");
      });
      // Its output is closed when the agent, too, is gone.
      expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
      expect(output).toBe("ready\ngot SIGHUP\n");
    });

    test("Ctrl-C in a terminal reaches the agent once", async () => {
      const terminal = spawnInTerminal(old, [join(folder, "bin/sawtooth.js"), "count"], { cwd: folder });
      readToTheEnd(terminal);
      let output = "";
      terminal.onData((text) => {
        output += text;
        if (text.includes("ready")) terminal.write("\x03");
      });
      const exitCode = await new Promise((resolve) => terminal.onExit((end) => resolve(end.exitCode)));
      expect(output.replaceAll("\r", "")).toContain("got SIGINT\n");
      expect(exitCode).toBe(130);
    });
  },
);

function launch(node: string, args: string[], input = ""): SpawnSyncReturns<string> {
  return spawnSync(node, [join(folder, "bin/sawtooth.js"), ...args], { input, encoding: "utf8" });
}

/** A Node older than 22.12 among those on the PATH and those that nvm keeps. */
function findOldNode(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((one) => !one.includes("node_modules"));
  const kept = globSync(join(homedir(), ".nvm/versions/node/*/bin"));
  return [...folders, ...kept]
    .flatMap((one) => globSync(join(one, "node")))
    .find((path) => {
      const [major = 0, minor = 0] = execFileSync(path, ["-p", "process.versions.node"], { encoding: "utf8" })
        .split(".")
        .map(Number);
      return major >= 18 && (major < 22 || (major === 22 && minor < 12));
    });
}
