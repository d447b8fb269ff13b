/** Copies of a folder in which something else runs: nothing is followed out of it. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyFolder } from "../../../src/cli/batch/copy.ts";
import { putIn } from "../../support/tree.ts";
import { until } from "../../support/until.ts";

test("a folder and a file that are swapped for links while they are copied bring nothing from elsewhere", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-copy-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const source = join(root, "source");
  for (const name of ["key", "config"]) putIn(root, `away/${name}`, "KEY-CANARY");
  for (const name of ["key", "config"]) putIn(source, `keys/${name}`, "mine");
  putIn(source, "z", "last");
  const swap = `import os
os.rename("keys", "kept")
while True:
    os.symlink("${root}/away", "keys"); os.unlink("keys")
    os.rename("kept", "keys"); os.rename("keys/key", "old"); os.symlink("${root}/away/key", "keys/key")
    os.unlink("keys/key"); os.rename("old", "keys/key"); os.rename("keys", "kept")`;
  const swapper = spawn("python3", ["-c", swap], { cwd: source, stdio: "ignore" });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  await until(() => !existsSync(join(source, "keys")), "the swapping");
  const targets = join(root, "target");
  for (let round = 0; round < 600; round++) await copyFolder(source, join(targets, String(round)), [targets]);
  // Not through links.
  expect(spawnSync("grep", ["-r", "CANARY", targets], { encoding: "utf8" }).stdout).toBe("");
});
