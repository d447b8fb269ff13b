/**
 * Machines that lack something, and people who are not root, through the front door: the program starts with the walls
 * that it can have and names them, or says why not.
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SandboxStatus } from "../../src/core/sandbox.ts";
import { probeLandlock } from "../../src/sandbox/landlock.ts";
import { entry } from "../support/entry.ts";
import { jsonLines, makeWorkspace, type Workspace } from "../support/sawtooth.ts";
import { engine } from "./support.ts";

const hasLandlock = !("reason" in (await probeLandlock()));
const fallback = hasLandlock ? "landlock" : "none";
/** The user that nobody works as; only root can become it, and its programs must be able to read the program. */
const nobody = 65534;
const canBecome =
  process.getuid?.() === 0 &&
  spawnSync("setpriv", ["--reuid", String(nobody), "--clear-groups", process.execPath, "--check", entry])
    .status === 0;

/** Runs one command with a scripted model. `before`: words in front of the program. */
async function once(
  workspace: Workspace,
  options: { before?: string[]; words?: string[]; cwd?: string; command?: string } = {},
) {
  const {
    before = [],
    words = [],
    cwd = workspace.cwd,
    command = "id -u; pwd; echo x > ~/outside; echo in > made",
  } = options;
  const script = join(workspace.cwd, "..", "script.json");
  writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ bash: { command } }] }, { text: "done" }] }));
  const all = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto", "--output-format"];
  const line = [...before, process.execPath, entry, ...all, "stream-json", "--sandbox", "auto", ...words];
  const [program = "", ...rest] = line;
  const child = spawn(program, rest, { cwd, env: workspace.env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (bytes) => {
    stdout += bytes;
  });
  child.stderr.on("data", (bytes) => {
    stderr += bytes;
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  const events = jsonLines(stdout);
  const init = events.find(({ subtype }) => subtype === "init") as { sandbox?: SandboxStatus } | undefined;
  const told = events.filter(({ type }) => type === "user").map((event) => JSON.stringify(event));
  return { code, stdout, stderr, sandbox: init?.sandbox, output: told.join("\n"), result: events.at(-1) };
}

function fresh(): Workspace {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  return workspace;
}

/** Puts the program into a place on a machine that differs; only where bubblewrap can make one. */
const on = (...words: string[]) => ["bwrap", ...words];

describe.skipIf(!engine)("S49 cannot-start, on a machine", () => {
  test.each([
    [
      "without bubblewrap",
      on("--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap"),
      /is not installed/,
    ],
    [
      "without user namespaces",
      on("--unshare-user", "--disable-userns", "--dev-bind", "/", "/"),
      /cannot start here: .*namespace/,
    ],
    ["without /proc", on("--dev-bind", "/", "/", "--tmpfs", "/proc"), /cannot start here: .*proc/],
  ])("%s, auto takes what there is and says why; on exits with 2", async (_what, before, why) => {
    const workspace = fresh();
    // What worked before is no promise.
    expect((await once(workspace)).sandbox?.engine).toBe("namespaces");
    const { code, sandbox, output, stderr } = await once(workspace, { before });
    expect(stderr).not.toContain("unexpected error");
    expect([code, sandbox?.engine]).toEqual([0, fallback]);
    expect(sandbox?.reason).toMatch(why);
    if (hasLandlock) expect(output).toContain("Permission denied");
    expect(readdirSync(workspace.cwd)).toContain("made");
    const refused = await once(workspace, { before, words: ["--sandbox", "on"] });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(why);
  });
});

describe.skipIf(!engine)("a sandbox", () => {
  test("stands with a home that can only be read", async () => {
    const workspace = fresh();
    const { SAWTOOTH_HOME: _, ...env } = workspace.env;
    const home = on("--dev-bind", "/", "/", "--ro-bind", workspace.home, workspace.home);
    const { code, sandbox, stdout } = await once({ ...workspace, env }, { before: home });
    // Inside of bubblewrap it cannot start once more: what matters is that something stands, and that it is told.
    expect([code, ["namespaces", fallback].includes(sandbox?.engine ?? "")]).toEqual([0, true]);
    expect(stdout).toContain("this session is kept in");
  });

  test("stands around a workspace below a link, in a folder with 300 repositories, and after a resume", async () => {
    const workspace = fresh();
    for (let at = 0; at < 300; at++)
      mkdirSync(join(workspace.cwd, "r", String(at), ".git"), { recursive: true });
    symlinkSync(workspace.cwd, `${workspace.cwd}-link`);
    const first = await once(workspace, { cwd: `${workspace.cwd}-link` });
    expect([first.code, first.sandbox?.engine]).toEqual([0, "namespaces"]);
    expect(first.output).toMatch(/Read-only file system/);
    const command = "cat made; echo again > made; cat made";
    const again = await once(workspace, { words: ["-c", "--max-turns", "9"], command });
    expect(again.sandbox?.engine).toBe("namespaces");
  });

  test.skipIf(!canBecome)(
    "stands for an ordinary user, also with a workspace that belongs to somebody else",
    async () => {
      const workspace = fresh();
      const root = join(workspace.cwd, "..");
      execFileSync("git", ["init", "-q"], { cwd: workspace.cwd });
      execFileSync("chown", ["-R", String(nobody), root]);
      const before = ["setpriv", "--reuid", String(nobody), "--regid", String(nobody), "--clear-groups"];
      const { code, sandbox, output } = await once(workspace, { before });
      expect([code, sandbox?.engine, sandbox?.network]).toEqual([0, "namespaces", "names"]);
      expect(output).toMatch(/65534\\n[\s\S]*Read-only file system/);
      expect(readdirSync(workspace.cwd)).toContain("made");
      chownSync(workspace.cwd, 0, 0);
      chmodSync(workspace.cwd, 0o755);
      const foreign = await once(workspace, { before, command: "echo y > other; echo still here" });
      expect(foreign.output).toContain("still here");
      expect(readdirSync(workspace.cwd)).not.toContain("other");
    },
  );
});
