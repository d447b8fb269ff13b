/** Strange surroundings: closed and silent streams, an empty CI variable, and the debug file. */

import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noBubblewrap } from "../network/inside.ts";
import { entry } from "../support/entry.ts";
import { jsonLines, sawtooth, type Workspace } from "../support/sawtooth.ts";
import { serve, tempWorkspace } from "../support/served.ts";

function scriptedWorkspace(): Workspace {
  const workspace = tempWorkspace();
  writeFileSync(join(workspace.cwd, "s.json"), '{ "turns": [{ "text": "fine" }] }');
  return workspace;
}

/** Runs a line of bash in which `$sawtooth` is the program. */
function inBash(workspace: Workspace, line: string): Promise<{ code: number | null; output: string }> {
  const env = { ...workspace.env, sawtooth: `${process.execPath} ${entry}`, CI: "" };
  const child = spawn("bash", ["-c", line], {
    cwd: workspace.cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  return new Promise((done) => child.on("close", (code) => done({ code, output })));
}

test.each([
  ["a closed standard input", "$sawtooth -p hi --model scripted/s.json <&-", "fine\n"],
  ["/dev/null", "$sawtooth -p hi --model scripted/s.json </dev/null", "fine\n"],
  ["a folder as standard input", "$sawtooth -p hi --model scripted/s.json <.", "fine\n"],
  ["a closed standard error", "$sawtooth -p hi --model scripted/s.json 2>&- </dev/null", "fine\n"],
  ["a closed standard output", "$sawtooth -p hi --model scripted/s.json >&- </dev/null", ""],
  ["piped text and no -p", "echo hi | $sawtooth --model scripted/s.json", "fine\n"],
])("%s is no reason to wait or to fail", async (_, line, output) => {
  expect(await inBash(scriptedWorkspace(), line)).toMatchObject({ code: 0, output });
});

test("a reader that takes one line and goes: no error is heard, and the program ends", async () => {
  const line =
    "$sawtooth -p hi --model scripted/s.json --output-format stream-json </dev/null 2>&1 | head -1";
  const { code, output } = await inBash(scriptedWorkspace(), line);
  expect(code).toBe(0);
  expect(jsonLines(output)).toMatchObject([{ type: "system" }]);
});

test("--debug: events and exact requests go to a private file, without the key, and stdout stays as it is", async () => {
  const { workspace } = await serve([{ text: "fine" }]);
  const words = ["-p", "the key is sk-canary-7f3a", "--output-format", "stream-json", "--debug", "debug.log"];
  const { code, stdout } = await sawtooth(workspace, words);
  expect({ code, last: jsonLines(stdout).at(-1)?.type }).toEqual({ code: 0, last: "result" });
  const file = join(workspace.cwd, "debug.log");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const lines = jsonLines(readFileSync(file, "utf8"));
  expect(lines.map((line) => line.type)).toEqual(
    expect.arrayContaining(["user_message", "request", "assistant_message", "turn_ended"]),
  );
  expect(readFileSync(file, "utf8")).not.toContain("sk-canary-7f3a");
});

test.each(["--debug", "--record"])(
  "a disk that is full for %s is told in one line, and the run goes on",
  async (option) => {
    const words = ["-p", "x", "--model", "scripted/s.json", option, "/dev/full"];
    const { code, stdout, stderr } = await sawtooth(scriptedWorkspace(), words);
    expect({ code, stdout, lines: stderr.trimEnd().split("\n") }).toEqual({
      code: 0,
      stdout: "fine\n",
      lines: [expect.stringContaining("sawtooth: cannot write /dev/full: ")],
    });
  },
);

test("a debug file that cannot be written is a usage error with a result", async () => {
  const workspace = scriptedWorkspace();
  const words = [
    "-p",
    "x",
    "--model",
    "scripted/s.json",
    "--debug",
    "no/such/folder.log",
    "--output-format",
    "json",
  ];
  const { code, stdout, stderr } = await sawtooth(workspace, words);
  expect({ code, lines: jsonLines(stdout).length }).toEqual({ code: 2, lines: 1 });
  expect(stderr).toContain("cannot write no/such/folder.log");
});

test.skipIf(noBubblewrap() !== undefined)(
  "mode auto without every wall is told once on standard error, but not where that was chosen or another mode asks",
  async () => {
    const workspace = tempWorkspace();
    const [one, two] = ["one", "two"].map((word) => ({ calls: [{ bash: { command: `echo ${word}` } }] }));
    writeFileSync(join(workspace.cwd, "s.json"), JSON.stringify({ turns: [one, two, { text: "fine" }] }));
    // Inside of this one no other can be started.
    const nested =
      "bwrap --dev-bind / / --unshare-user --disable-userns $sawtooth -p hi --model scripted/s.json";
    const told = async (mode: string, sandbox: string) => {
      const line = `${nested} --permission-mode ${mode} --sandbox ${sandbox} 2>&1 >/dev/null </dev/null`;
      const { output } = await inBash(workspace, line);
      return output.split("mode auto asks nothing, and not every wall stands: ").length - 1;
    };
    expect([
      await told("auto", "auto"),
      await told("auto", "off"),
      await told("accept-edits", "auto"),
    ]).toEqual([1, 0, 0]);
  },
);
