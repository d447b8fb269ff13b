import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sawtooth } from "../../support/sawtooth.ts";
import { bash } from "../../support/served.ts";
import { fix, git, read, repairing, setUp, small, smallCheck } from "./fix-workspace.ts";

const check = ["--check", smallCheck];

describe("what becomes of a repair", () => {
  test("--commit: the repair alone, on top of the branch; other changes stay as they were", async () => {
    const { workspace } = await setUp(repairing, { files: { ...small, "other.txt": "one\n" } });
    writeFileSync(join(workspace.cwd, "other.txt"), "mine\n");
    writeFileSync(join(workspace.cwd, "new.txt"), "mine too\n");
    const { code, result } = await fix(workspace, [...check, "--commit"]);
    expect(code).toBe(0);
    expect(git(workspace.cwd, "rev-parse", "HEAD").trim()).toBe(result.fix.commit);
    expect(git(workspace.cwd, "show", "--name-only", "--format=%s", "HEAD")).toBe(
      "Make `sh test/value.sh` pass\n\nvalue.txt\n",
    );
    expect(git(workspace.cwd, "status", "--short")).toBe(" M other.txt\n?? new.txt\n");
  });

  test("--branch: a new branch with one commit, and the old one as it was", async () => {
    const { workspace } = await setUp(repairing);
    const { code, result } = await fix(workspace, [...check, "--branch", "fix/value"]);
    expect({ code, branch: result.fix.branch }).toEqual({ code: 0, branch: "fix/value" });
    expect(git(workspace.cwd, "rev-parse", "fix/value~1", "main")).toMatch(/^(\w+)\n\1\n$/);
    expect(git(workspace.cwd, "branch", "--show-current")).toBe("fix/value\n");
    expect(git(workspace.cwd, "status", "--short")).toBe("");
  });

  test("hooks of the repository do not run", async () => {
    const { workspace } = await setUp(repairing);
    writeFileSync(join(workspace.cwd, ".git/hooks/pre-commit"), "#!/bin/sh\ntouch hooked\n", { mode: 0o755 });
    writeFileSync(join(workspace.cwd, ".git/hooks/reference-transaction"), "#!/bin/sh\ntouch hooked\n", {
      mode: 0o755,
    });
    await fix(workspace, [...check, "--commit"]);
    expect(existsSync(join(workspace.cwd, "hooked"))).toBe(false);
  });

  test("without git it works, with a patch", async () => {
    const { workspace } = await setUp(repairing, { plain: true });
    const { code, result } = await fix(workspace, [...check, "--patch", "out/fix.diff"]);
    expect({ code, changed: result.fix.changed }).toEqual({ code: 0, changed: ["value.txt"] });
    expect(read(workspace, "out/fix.diff")).toContain("-bad\n+good\n");
    expect(existsSync(join(workspace.cwd, ".git"))).toBe(false);
  });

  test.each([
    [["--commit"], /needs a git repository/],
    [["--branch", "b"], /needs a git repository/],
  ])("without git %s is refused with words, before anything is run", async (words, message) => {
    const { workspace, server } = await setUp(repairing, { plain: true });
    const { code, stderr } = await sawtooth(workspace, ["fix", ...check, ...words]);
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toMatch(message);
    expect(server.exchanges).toHaveLength(0);
  });

  test("not repaired: exit 1, and the attempt that came nearest is kept as a patch", async () => {
    const near = "seq 1 3 > value.txt";
    const { workspace } = await setUp([{ calls: [bash(near)] }, { text: "no luck" }, { text: "I give up" }]);
    const { code, result } = await fix(workspace, [...check, "--patch", "out.diff", "--max-attempts", "2"]);
    expect({ code, state: result.fix.state, patch: result.fix.patch }).toEqual({
      code: 1,
      state: "failed",
      patch: null,
    });
    expect(result.fix.best_attempt?.file).toBe(join(workspace.cwd, "out.attempt.diff"));
    expect(read(workspace, "out.attempt.diff")).toContain("+1\n+2\n+3\n");
    expect(result.errors.join()).toContain("out.attempt.diff");
    expect(existsSync(join(workspace.cwd, "out.diff"))).toBe(false);
  });
});
