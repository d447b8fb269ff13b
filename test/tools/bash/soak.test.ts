/** Five hundred commands through one shell: no byte lost, no process left, descriptors constant (T17, T25). */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sized } from "../../support/size.ts";
import { backends, openFixture, until } from "./shell-fixture.ts";

const commands = 500;
/** One of so many commands starts programs; the others write by themselves. */
const perProgram = sized(7, 1);
const descriptors = () => readdirSync("/proc/self/fd").length;

test.each(backends)(
  "a shell over %s is the same after 500 commands",
  { timeout: 300_000 },
  async (backend) => {
    const shell = openFixture(backend);
    const controller = new AbortController();
    await shell.text("n=0; exit_with() { return $1; }");
    const before = descriptors();
    for (let index = 0; index < commands; index++) {
      const size = (index * 7919) % 60_000;
      const kind = index % 10;
      const startsPrograms = index % perProgram === 0;
      const write = startsPrograms
        ? `head -c ${size} /dev/zero | tr '\\0' '${kind}'`
        : `printf '%*s' ${size} ''`;
      const command = `n=$((n + 1)); ${write}; exit_with ${kind}`;
      const output = await shell.call(command, { budgetTokens: 300, signal: controller.signal });
      expect(output.stats).toMatchObject({ exitCode: kind, bytes: size });
      const hash = (bytes: Buffer) => createHash("sha1").update(bytes).digest("hex");
      expect(hash(readFileSync(output.artifact ?? ""))).toBe(
        hash(Buffer.alloc(size, startsPrograms ? String(kind) : " ")),
      );
      if (index % 50 === 7) await shell.call({ command: "sleep 9", timeout_s: 0.05 });
      if (index % 50 === 9) await shell.call("(sleep 0.05; echo late) &");
      if (index % 100 === 11) await shell.call("exit 1");
      if (index % 100 === 11) await shell.call(`n=${index + 1}; exit_with() { return $1; }`);
    }
    expect(await shell.text("echo $n")).toBe(String(commands));
    expect(Math.abs(descriptors() - before)).toBeLessThanOrEqual(3);
    expect(await until(() => shell.processes().length === 0)).toBe(true);
    await shell.dispose();
    expect(descriptors()).toBeLessThanOrEqual(before);
  },
);
