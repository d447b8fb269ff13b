/** Sub-agents, worktrees and hooks of whole sessions whose commands run behind the walls. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { procTable } from "../../src/tools/bash/shell/process-table-proc.ts";
import type { WireBody } from "../support/mock-wire.ts";
import {
  jsonLines,
  makeWorkspace,
  sawtooth,
  start,
  type Workspace,
  writeSettings,
} from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { engine } from "./support.ts";

const running = (words: string): number => {
  const table = procTable();
  return table.all().filter(({ pid }) => table.commandLine(pid).includes(words)).length;
};

const inside = (url?: string): Workspace => {
  const workspace = makeWorkspace(url);
  writeSettings(workspace, { sandbox: "on" });
  return workspace;
};

const auto = ["-p", "go", "--permission-mode", "auto", "--output-format", "stream-json"];
const results = ({ messages }: WireBody): string =>
  JSON.stringify(messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])));

const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.com", ...words], {
    ...{ cwd, encoding: "utf8" },
  });

function repository(workspace: Workspace): void {
  git(workspace.cwd, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(workspace.cwd, "a"), "a\n");
  git(workspace.cwd, "add", "-A");
  git(workspace.cwd, "commit", "--quiet", "-m", "one");
}

/**
 * A session that delegates once for each command; a sub-agent runs its command, or makes the call, and reports. `before`:
 * a job of the session that runs meanwhile.
 */
async function delegating(commands: readonly (string | ReturnType<typeof creating>)[], before?: string) {
  const delegate = (_: unknown, at: number) => ({ delegate: { brief: `brief ${at}`, want: "the answer" } });
  const first = before ? [{ calls: [{ bash: { command: before, background: true } }] }] : [];
  const own: ScriptedReply[] = [...first, { calls: commands.map(delegate) }];
  const asked = (body: WireBody): ScriptedReply => {
    const replies = body.messages.filter(({ role }) => role === "assistant").length;
    if (!JSON.stringify(body.system).includes("You are a sub-agent")) return own[replies] ?? { text: "done" };
    const at = Number(/brief (\d)/.exec(JSON.stringify(body.messages))?.[1]);
    const call = commands[at] ?? "false";
    return replies === 0
      ? { calls: [typeof call === "string" ? bash(call) : call] }
      : { calls: [{ report_back: { attempted: "ran it", learned: "it ran", outcome: "found" } }] };
  };
  const served = await serve(asked, {}, inside);
  /** Results of their commands, as the sub-agents read them. */
  const read = () => {
    const own = served.server.requests.filter(({ system }) =>
      JSON.stringify(system).includes("You are a sub-agent"),
    );
    return own.map(results).join("\n");
  };
  return { ...served, read };
}

describe.skipIf(!engine)("a sub-agent behind the walls", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGKILL", null],
  ] as const)("ends at %s with its sandbox and all that it started there", async (signal, exit) => {
    const mark = `${3000 + signal.length * 10 + signal.charCodeAt(3)}.${process.pid}`;
    const stray = (seconds: string) =>
      `setsid -f sleep ${seconds}; (trap '' HUP TERM INT; exec sleep ${seconds}) & sleep ${seconds}`;
    const { workspace } = await delegating([stray(`${mark}1`), stray(`${mark}2`)]);
    const run = start(workspace, [...auto, "--allow", "delegate"]);
    await until(() => running(`sleep ${mark}`) >= 6, "the commands of both");
    run.child.kill(signal);
    expect((await run.ended).code).toBe(exit);
    await until(() => running(mark) === 0 && running(workspace.home) === 0, "the end of all processes");
  });

  test("sees the workspace and cannot write it, also not by a program, where it may only read", async () => {
    const { workspace, read } = await delegating([
      `cat a; python3 -c 'open("b", "w")'; echo x > ~/c; touch /tmp/d && echo own`,
    ]);
    repository(workspace);
    await sawtooth(workspace, [...auto, "--allow", "delegate"]);
    expect(readdirSync(workspace.cwd).sort()).toEqual([".git", "a"]);
    expect(existsSync(join(workspace.home, "c"))).toBe(false);
    expect(read()).toMatch(/a\\nTraceback.*Read-only file system.*own/);
  });

  test("writes the workspace alone, where it may write; what it started ends with it, and it reads no log", async () => {
    const mark = `3500.${process.pid}`;
    const { workspace, read } = await delegating([
      `echo b > b; echo x > ~/c; python3 -c 'open(".git/hooks/pre-commit", "w")'; mkdir .vscode; setsid -f sleep ${mark}; find ~ -name events.jsonl | wc -l`,
    ]);
    repository(workspace);
    await sawtooth(workspace, [...auto, "--allow", "delegate(write)"]);
    expect(readdirSync(workspace.cwd).sort()).toEqual([".git", "a", "b"]);
    expect(existsSync(join(workspace.cwd, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(workspace.home, "c"))).toBe(false);
    expect(read()).toMatch(/\\n0\\n\[left running/);
    expect(read()).toMatch(/\.vscode appeared\. Other programs would run it, so it was moved/);
    await until(() => running(mark) === 0, "the end of what it started");
  });
});

/** A job whose session looks at what it leaves the whole time. */
const busy = "while :; do sleep 0.05; done";
const creating = (path: string) => ({
  str_replace_editor: { command: "create", path, file_text: "{}\n" },
});
const quarantined = (stdout: string) => jsonLines(stdout).at(-1)?.quarantined;

describe.skipIf(!engine)("what a sub-agent makes that other programs would run", () => {
  const rules = ["--allow", "delegate(write)", "--allow", "edit(.vscode/**)"];

  test("is told to it and to the session, when the session is the one that moves it", async () => {
    const { workspace, read } = await delegating(
      ["mkdir .vscode; until [ ! -e .vscode ]; do sleep 0.05; done"],
      busy,
    );
    const { stdout } = await sawtooth(workspace, [...auto, ...rules]);
    expect(read()).toMatch(/\.vscode appeared\. Other programs would run it, so it was moved/);
    expect(quarantined(stdout)).toMatchObject([{ path: join(workspace.cwd, ".vscode") }]);
  });

  test("is told to the session too, when it moves it", async () => {
    const { workspace, read } = await delegating(["mkdir .vscode"]);
    const { stdout } = await sawtooth(workspace, [...auto, ...rules]);
    expect(read()).toMatch(/\.vscode appeared\. Other programs would run it, so it was moved/);
    expect(quarantined(stdout)).toMatchObject([{ path: join(workspace.cwd, ".vscode") }]);
  });

  test("stays where an edit was approved, also before its call has ended, and after the sub-agent", async () => {
    const { workspace } = await delegating([creating(".vscode/settings.json")], busy);
    const bait = join(workspace.cwd, ".idea");
    // A look that moves the bait has seen the edit, whose result is not there before the hook ends.
    const command = `mkdir ${bait}; until [ ! -e ${bait} ]; do sleep 0.05; done`;
    const hook = { matcher: "str_replace_editor", hooks: [{ type: "command", command }] };
    writeSettings(workspace, { sandbox: "on", hooks: { PostToolUse: [hook] } });
    const { stdout } = await sawtooth(workspace, [...auto, ...rules]);
    expect(quarantined(stdout)).toMatchObject([{ path: bait }]);
    expect(readFileSync(join(workspace.cwd, ".vscode/settings.json"), "utf8")).toBe("{}\n");
  });
});

describe.skipIf(!engine)("a worktree behind the walls", () => {
  test("commits on its branch, and changes neither the checkout beside it nor what git runs", async () => {
    const commit = "git -c user.name=n -c user.email=e@example.com commit -qam two && echo committed";
    const elsewhere = `python3 -c '
import subprocess
common = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True).strip()
for name in ["../a", "hooks/pre-commit", "config"]:
    try: open(common + "/" + name, "a").write("x")
    except OSError as error: print(error.strerror, flush=True)
subprocess.call(["git", "config", "core.pager", "x"])'`;
    const { workspace, server } = await serve(
      [
        {
          calls: [bash(`echo b >> a; ${commit}; ${elsewhere}`)],
        },
        { text: "done" },
      ],
      {},
      inside,
    );
    repository(workspace);
    const settings = readFileSync(join(workspace.cwd, ".git/config"), "utf8");
    const { code } = await sawtooth(workspace, [...auto, "-w", "topic"]);
    expect(code).toBe(0);
    expect(results(server.requests[1] as WireBody)).toMatch(
      /committed.*Read-only file system.*could not write config file.*\.git\/config is read-only here/,
    );
    expect(git(workspace.cwd, "log", "sawtooth/topic", "--topo-order", "--format=%s")).toBe("two\none\n");
    expect(readFileSync(join(workspace.cwd, "a"), "utf8")).toBe("a\n");
    expect(readFileSync(join(workspace.cwd, ".git/config"), "utf8")).toBe(settings);
    expect(existsSync(join(workspace.cwd, ".git/hooks/pre-commit"))).toBe(false);
  });
});

describe.skipIf(!engine)("hooks of the person beside the walls", () => {
  test("reach the home, hear of commands that do not, and get no end of their terminal", async () => {
    const { workspace, server } = await serve(
      [{ calls: [bash("cat ~/.netrc; echo x > ~/told")] }, { text: "done" }],
      {},
      inside,
    );
    writeFileSync(join(workspace.home, ".netrc"), "NETRC-CANARY");
    mkdirSync(join(workspace.home, "hooks"));
    const hook = (command: string) => [{ matcher: "", hooks: [{ type: "command", command }] }];
    const kept = join(workspace.home, "hooks/kept");
    writeSettings(workspace, {
      sandbox: "on",
      hooks: {
        PreToolUse: hook(`cat ~/.netrc > ${kept}`),
        PostToolUse: hook(`cat >> ${kept}; ls -l /proc/$$/fd >> ${kept}`),
      },
    });
    await sawtooth(workspace, auto);
    expect(readFileSync(kept, "utf8")).toMatch(/^NETRC-CANARY\{.*PostToolUse/);
    expect(readFileSync(kept, "utf8")).not.toContain("ptmx");
    expect(existsSync(join(workspace.home, "told"))).toBe(false);
    expect(results(server.requests[1] as WireBody)).not.toContain("NETRC-CANARY");
  });
});
