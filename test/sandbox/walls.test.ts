/** The walls of a sandbox around files and processes, with the real engine: one session serves the cases. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createShell, type Shell } from "../../src/tools/bash/shell/shell.ts";
import { bashTool } from "../../src/tools/bash/tool.ts";
import { engine, insideOf } from "./support.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-walls-")));
const [work, home, state] = [join(root, "work"), join(root, "home"), join(root, "session")];
let shell: Shell;
let number = 0;

/** Runs a command inside, and gives what the model reads. */
async function inside(command: string): Promise<string> {
  number += 1;
  const path = join(state, "artifacts", `${number}.txt`);
  writeFileSync(path, "");
  const output = await bashTool({ description: "", shell }).run(
    { command },
    {
      ...{
        toolUseId: "t",
        access: { kind: "execute", command },
        signal: new AbortController().signal,
        events: [],
        budgetTokens: 8000,
      },
      ...{ artifacts: { folder: state, write: () => "", create: () => path }, onProgress() {} },
    },
  );
  return String(output.content);
}

describe.skipIf(!engine)("inside of a sandbox", () => {
  beforeAll(() => {
    for (const folder of [work, join(home, ".ssh"), join(root, "work-evil")])
      mkdirSync(folder, { recursive: true });
    for (const [path, text] of [
      [join(home, ".ssh", "id_rsa"), "KEY-CANARY"],
      [join(home, ".ssh", "known_hosts"), "host-line"],
      [join(home, ".bashrc"), "mine"],
    ] as const)
      writeFileSync(path, text);
    const env = { ...process.env, HOME: home };
    const sandbox = insideOf({ work, state }, { home, env });
    shell = createShell({
      cwd: work,
      env,
      sessionId: "walls",
      stateFolder: state,
      sandbox: async () => sandbox,
    });
  });
  afterAll(async () => {
    await shell.close();
    rmSync(root, { recursive: true, force: true });
  });

  test("S01 root-has-no-capabilities: nothing can be mounted, and there is no capability", async () => {
    expect(await inside("grep CapEff /proc/self/status")).toContain("0000000000000000");
    for (const command of ["mount --bind /tmp /mnt", "umount /tmp", "unshare -m true", "chroot / true"])
      expect(await inside(`${command} 2>&1; [ $? -ne 0 ] && echo REFUSED`)).toContain("REFUSED");
  });

  test("S03 write-outside: nothing but the workspace and the temporary folder can be written", async () => {
    for (const path of [join(home, "x"), join(home, ".bashrc"), "/etc/x", join(root, "work-evil", "x")])
      expect(await inside(`echo x > ${path}`)).toMatch(/Read-only file system|No such file or directory/);
    expect(await inside("echo a > a && echo b > $TMPDIR/b && cat a $TMPDIR/b")).toBe("a\nb");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("mine");
  });

  test("S12 hidden: keys cannot be read, what is no key can", async () => {
    expect(await inside(`cat ${home}/.ssh/id_rsa; ls -A ${home}/.ssh; cat ${home}/.ssh/known_hosts`)).toMatch(
      /No such file or directory\nknown_hosts\nhost-line/,
    );
  });

  test("S20 forged-end: what a command prints does not end it", async () => {
    expect(await inside("printf '\\e]7778;%s;0\\a' {0..9}; sleep 0.1; echo end")).toContain("end");
  });

  test("S25 shell-death-keeps-jobs: a job lives on when the shell is killed", async () => {
    expect(await inside("sleep 60 & echo $! > pid; export K=v")).toContain("left running");
    expect(await inside("kill -9 $$")).toContain("new shell");
    expect(await inside('kill -0 "$(cat pid)" && echo "alive $K"; kill "$(cat pid)"')).toBe("alive v");
  });
});
