/** The choice of an engine: what is taken for bubblewrap and what is not, and what happens where it cannot start. */

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findEngine } from "../../src/sandbox/engine.ts";

const noLandlock = async () => ({ reason: "this kernel has no Landlock" });

/** Folders with a program of the name bwrap in each that says "taken", and the question after an engine in them. */
function withPrograms(script: string) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-engine-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [work, other] = [join(root, "work"), join(root, "other")];
  for (const folder of [join(work, "bin"), other]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\necho taken >> ${root}/taken\n${script}\n`);
    chmodSync(join(folder, "bwrap"), 0o755);
  }
  const ask = (path: string, system: string[] = []) =>
    findEngine(
      { env: { PATH: path }, writable: [work], cache: join(root, "cache.json"), system },
      noLandlock,
    );
  return { root, work, other, ask };
}

describe.runIf(process.platform === "linux")("S49 cannot-start", () => {
  test("a bwrap in the workspace is not run, by no entry of PATH that leads there", async () => {
    const { root, work, other, ask } = withPrograms("echo bubblewrap 9.9.9");
    symlinkSync(join(work, "bin"), join(root, "link"));
    rmSync(join(other, "bwrap"));
    symlinkSync(join(work, "bin", "bwrap"), join(other, "bwrap"));
    const path = `${work}/bin:${root}/link:${other}:.:work/bin:${work}/../${basename(work)}/bin`;
    const cwd = process.cwd();
    process.chdir(work);
    onTestFinished(() => process.chdir(cwd));
    const { status } = await ask(path);
    expect(status).toMatchObject({
      engine: "none",
      reason: "bubblewrap is not installed (apt-get install bubblewrap); this kernel has no Landlock",
    });
    expect(() => rmSync(join(root, "taken"))).toThrow("ENOENT");
  });

  test("a folder of the system comes before PATH, and what is no program is passed over", async () => {
    const { root, other, ask } = withPrograms("echo bubblewrap 0.0.1");
    const system = join(root, "system");
    mkdirSync(join(system, "bwrap"), { recursive: true });
    expect((await ask(other, [system])).status.reason).toContain("bubblewrap 0.0.1 is too old");
    rmSync(join(system, "bwrap"), { recursive: true });
    writeFileSync(join(system, "bwrap"), "#!/bin/sh\n");
    expect((await ask(other, [system])).status.reason).toContain("bubblewrap 0.0.1 is too old");
    chmodSync(join(system, "bwrap"), 0o755);
    expect((await ask(other, [system])).status.reason).toContain("does not tell a version");
  });

  test("what it says when it cannot start is the reason", async () => {
    const { other, ask } = withPrograms(
      '[ "$1" = --version ] && echo bubblewrap 0.8.0 || { echo "bwrap: No permissions to create new namespace" >&2; exit 1; }',
    );
    expect((await ask(other)).status.reason).toBe(
      "bubblewrap cannot start here: No permissions to create new namespace; this kernel has no Landlock",
    );
    const silent = withPrograms('[ "$1" = --version ] && echo bubblewrap 0.8.0 || kill -9 $$');
    expect((await silent.ask(silent.other)).status.reason).toMatch(/ended at once \(SIGKILL\)/);
  });

  test("Landlock is taken in its place, with the reason why it is not bubblewrap", async () => {
    const { ask } = withPrograms("");
    expect((await ask("")).status.engine).toBe("none");
    const landlock = { abi: 6, words: ["/usr/bin/perl", "-e", "", "157"] };
    const question = { env: {}, writable: [], cache: "/nonexistent/cache", system: [] };
    expect((await findEngine(question, async () => landlock)).status).toEqual({
      ...{ engine: "landlock", version: "6", files: true, hidden: true, processes: true, network: "open" },
      reason: "bubblewrap is not installed (apt-get install bubblewrap)",
    });
  });
});
