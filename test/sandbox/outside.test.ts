/** Commands that leave the sandbox: a fresh shell on the machine, which nothing inside has prepared. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outsideShell } from "../../src/tools/bash/outside.ts";
import { createShell } from "../../src/tools/bash/shell/shell.ts";
import { bashTool } from "../../src/tools/bash/tool.ts";
import { engine, insideOf } from "./support.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-outside-")));
const [work, home, state] = [join(root, "work"), join(root, "home"), join(root, "session")];
const env = { ...process.env, HOME: home, PATH: `${work}/bin:.:${process.env.PATH}`, OWN: "mine" };

describe.skipIf(!engine)("a command outside of the sandbox", () => {
  const sandbox = engine && insideOf({ work, state }, { home, env });
  const shell = createShell({
    ...{ cwd: tmpdir(), env, sessionId: root.slice(-6), stateFolder: state },
    sandbox: async () => sandbox,
  });
  const outside = outsideShell({
    ...{ env, sessionId: root.slice(-6), stateFolder: state, workspace: work },
    writable: () => [work],
    hostPath: (path) => sandbox?.hostPath(path) ?? path,
  });
  const tool = bashTool({
    description: "",
    shell,
    sandbox: { isOn: () => true, outside, after: async () => [] },
  });
  let number = 0;

  async function run(input: Record<string, unknown>): Promise<string> {
    number += 1;
    const path = join(state, "artifacts", `${number}.txt`);
    writeFileSync(path, "");
    const output = await tool.run(input, {
      ...{ toolUseId: "t", access: tool.access(input), signal: new AbortController().signal },
      ...{ events: [], budgetTokens: 8000, onProgress() {} },
      artifacts: { folder: state, write: () => "", create: () => path },
    });
    return String(output.content);
  }

  beforeAll(async () => {
    for (const folder of [join(work, "bin"), home, join(state, "artifacts")])
      mkdirSync(folder, { recursive: true });
    for (const name of ["git", "ls"]) {
      writeFileSync(join(work, "bin", name), "#!/bin/sh\necho EVIL\n");
      chmodSync(join(work, "bin", name), 0o755);
    }
    await run({ command: `cd ${work}` });
  });
  afterAll(async () => {
    await Promise.all([shell.close(), outside.close()]);
    rmSync(root, { recursive: true, force: true });
  });

  test("S46 outside-poison: has neither aliases, functions, exports nor programs of the shell inside, and says that its own are lost", async () => {
    await run({
      command: `shopt -s expand_aliases; alias git='echo EVIL'; function ls { echo EVIL; }; export -f ls
        export LD_PRELOAD=/evil.so PATH=.:$PATH GIT_SSH_COMMAND=evil NODE_OPTIONS=--evil BASH_ENV=/evil IFS=x OWN=changed
        PROMPT_COMMAND='echo EVIL'`,
    });
    const text = await run({
      command:
        'git --version; ls; env | grep -E "^(LD_PRELOAD|GIT_SSH|NODE_OPTIONS|BASH_ENV|OWN)"; echo "[$IFS]"; type -p git',
      outside: true,
      reason: "a test",
    });
    expect(text).toMatch(/^git version \d/);
    expect(text).not.toContain("EVIL");
    expect(text).not.toMatch(/LD_PRELOAD|GIT_SSH_COMMAND=evil|--evil|BASH_ENV/);
    expect(text).toContain("OWN=mine");
    expect(text).toContain("[ \t\n]");
    expect(text).toContain("[ran outside the sandbox; its cd, exports and functions are not kept]");
  });

  test("reaches the machine, in the real folder of the shell inside, and leaves nothing behind in it", async () => {
    await run({ command: `mkdir -p real && ln -sfn real link && cd link` });
    const text = await run({
      command: "pwd; echo out > ~/made; export KEPT=1; cd /",
      outside: true,
      reason: "r",
    });
    expect(text.split("\n")[0]).toBe(join(work, "real"));
    expect(readFileSync(join(home, "made"), "utf8")).toBe("out\n");
    expect(await run({ command: 'pwd; echo "[$KEPT]"; echo in > ~/other' })).toMatch(
      /link\n\[\]\n.*Read-only file system/,
    );
    expect(existsSync(join(home, "other"))).toBe(false);
  });

  test("is decided with the folder that it runs in, also when a link takes its place, and runs no background job", async () => {
    symlinkSync(home, join(work, "away"));
    await run({ command: `cd ${work}/away` });
    expect(tool.access({ command: "pwd", outside: true })).toMatchObject({ outside: { cwd: home } });
    expect(await run({ command: "sleep 9", background: true, outside: true, reason: "r" })).toContain(
      "a background job cannot run outside of the sandbox",
    );
  });
});
