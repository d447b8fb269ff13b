/** Our ends of terminals, and programs that are started while there are some. */

import { spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { withoutTerminals } from "../../src/disk/without-terminals.ts";
import { openTerminal } from "../../src/tools/bash/shell/terminal.ts";
import { hasTerminal } from "../tools/bash/shell-fixture.ts";

test.skipIf(!hasTerminal || process.platform !== "linux")(
  "a program inherits none of them, and has its three ends as they were asked for",
  async () => {
    for (let count = 0; count < 2; count++) {
      const terminal = await openTerminal(process.env);
      onTestFinished(() => terminal?.close());
    }
    const script = "ls -l /proc/$$/fd; cat";
    const plain = spawnSync("sh", ["-c", script], { input: "words", encoding: "utf8" });
    const covered = withoutTerminals(["pipe", "pipe", "pipe"], (stdio) =>
      spawnSync("sh", ["-c", script], { input: "words", stdio, encoding: "utf8" }),
    );
    // Without it, each is there.
    expect(plain.stdout.match(/ptmx/g)?.length).toBeGreaterThanOrEqual(2);
    expect(covered.stdout).not.toContain("ptmx");
    expect(covered.stdout).toMatch(/words$/);
  },
);

test("where there are none nothing is changed", () => {
  expect(withoutTerminals(["ignore", 1, "pipe"], (ends) => ends.slice(0, 3))).toEqual(["ignore", 1, "pipe"]);
});
