/** The usual work of people, on the command line and on the screen, with the settings of a new home: in the sandbox. */

import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { results, run as runBatch, shellScript, writeTasks } from "../cli/batch/batch-workspace.ts";
import { filesWorkspace, git, small, smallCheck } from "../cli/fix/fix-workspace.ts";
import { freePort } from "../support/free-port.ts";
import {
  jsonLines,
  makeWorkspace,
  sawtooth,
  start,
  type Workspace,
  writeSettings,
} from "../support/sawtooth.ts";
import { bash, serve, tempWorkspace } from "../support/served.ts";
import { again, atRest } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";
import { hasTerminal } from "../tools/bash/shell-fixture.ts";
import { engine } from "./support.ts";

/** A workspace of somebody who has set nothing. */
function untouched(workspace: Workspace): Workspace {
  writeSettings(workspace, { sandbox: undefined });
  return workspace;
}

const served = (turns: ScriptedReply[]) => serve(turns, {}, (url) => untouched(makeWorkspace(url)));
const edits = ["--permission-mode", "accept-edits"];

function committed(workspace: Workspace, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(workspace.cwd, path), text);
  git(workspace.cwd, "init", "--quiet");
  git(workspace.cwd, "add", "--all");
  git(workspace.cwd, "commit", "--quiet", "-m", "start");
}

const running = (mark: string) => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(mark);

describe.skipIf(!engine)("a headless task by default", () => {
  test("works in the workspace without a question, changes nothing outside, and names its walls first", async () => {
    const { workspace, server } = await served([
      { calls: [bash("printf 'b\\n' > b.txt && git add b.txt && mktemp && cd .. && pwd")] },
      { calls: [{ str_replace_editor: { command: "create", path: "c.txt", file_text: "c\n" } }] },
      {
        calls: [bash("touch ~/outside; ls ~/.ssh; cd -; git -c user.name=t -c user.email=t@t commit -qm b")],
      },
      { calls: [{ bash: { command: "touch ~/outside", outside: true, reason: "it has to be there" } }] },
      { text: "done" },
    ]);
    committed(workspace, { "a.txt": "a\n" });
    mkdirSync(join(workspace.home, ".ssh"));
    writeFileSync(join(workspace.home, ".ssh/id_ed25519"), "secret");
    const { stdout, code } = await sawtooth(workspace, [
      "-p",
      "go",
      ...edits,
      "--output-format",
      "stream-json",
    ]);
    const [init] = jsonLines(stdout);
    expect(init).toMatchObject({
      subtype: "init",
      sandbox: { engine: "namespaces", files: true, hidden: true },
    });
    expect(code).toBe(5);
    expect(existsSync(join(workspace.home, "outside"))).toBe(false);
    expect(readFileSync(join(workspace.cwd, "c.txt"), "utf8")).toBe("c\n");
    expect(git(workspace.cwd, "show", "--name-only", "--format=%s")).toBe("b\n\nb.txt\n");
    const told = JSON.stringify(server.requests.at(-1)?.messages);
    expect(told).toContain("[sandbox: ");
    expect(told).toContain(
      "Nobody is here to be asked. It would be allowed by --allow 'outside(touch ~/outside)'",
    );
    expect(told).not.toContain("id_ed25519");
  });

  test("goes on after kill -9 where it was, with nothing of the first run left", async () => {
    const mark = `sleep 98${process.pid}`;
    const { workspace } = await served([
      { calls: [bash(`mkdir -p deep && cd deep && export KEPT=yes; ${mark} & echo up`)] },
      { calls: [bash(mark)] },
      { calls: [bash('echo "$KEPT in $PWD" > seen.txt')] },
      { text: "done" },
    ]);
    const first = start(workspace, ["-p", "go", ...edits, "--output-format", "stream-json"]);
    await first.until('"tool_result"');
    await until(() => running(mark));
    first.child.kill("SIGKILL");
    await first.ended;
    await until(() => !running(mark));
    const { code, stderr } = await sawtooth(workspace, ["-p", "again", "-c", ...edits]);
    expect([code, stderr]).toEqual([0, ""]);
    const [file = ""] = globSync("**/seen.txt", { cwd: workspace.cwd });
    expect(readFileSync(join(workspace.cwd, file), "utf8")).toBe(`yes in ${workspace.cwd}/deep\n`);
  });

  test("fix repairs, and batch runs its tasks", async () => {
    const repo = untouched(tempWorkspace(() => filesWorkspace(small)));
    const { model } = shellScript(repo, "../script", "echo good > value.txt; touch ~/outside");
    const words = ["--check", smallCheck, "--model", model, "--patch", "../out.diff"];
    const fixed = await sawtooth(repo, ["fix", ...words]);
    expect([fixed.code, readFileSync(join(repo.cwd, "../out.diff"), "utf8")]).toEqual([
      0,
      expect.stringContaining("+good"),
    ]);
    const tasks = untouched(tempWorkspace());
    mkdirSync(join(tasks.cwd, "project"));
    committed({ ...tasks, cwd: join(tasks.cwd, "project") }, { "a.txt": "a\n" });
    const command = "echo b > b.txt; touch ~/outside";
    const task = { id: "one", repo: "project", prompt: "Do it.", permission_mode: "auto" };
    writeTasks(tasks, [{ ...task, ...shellScript(tasks, "quick", command) }]);
    expect((await runBatch(tasks)).code).toBe(0);
    expect(results(tasks)).toMatchObject([{ id: "one", state: "done" }]);
    for (const { home } of [repo, tasks]) expect(readdirSync(home)).toEqual(["sawtooth"]);
  });
});

describe.skipIf(!engine || !hasTerminal)("the screen by default", () => {
  test("quarantine is told and accepted, a port opened, a job listed, a question answered at the terminal, and files undone", async () => {
    const appears = "mkdir .vscode && echo {} > .vscode/tasks.json && echo b > a.txt";
    const port = await freePort();
    const server = `const { createServer } = require('http'); createServer((_, a) => a.end('from inside')).listen(${port})`;
    const { workspace } = await served([
      { calls: [bash(appears)] },
      { text: "first" },
      { calls: [{ bash: { command: `node -e "${server}"`, background: true } }] },
      { text: "second" },
      {
        calls: [
          { bash: { command: `printf 'Name: ' >/dev/tty; read -r x </dev/tty; echo "is $x"`, tty: true } },
        ],
      },
      { text: "third" },
    ]);
    committed(workspace, { "a.txt": "a\n" });
    const terminal = await again(workspace, edits);
    terminal.send("go\r");
    await terminal.until("first");
    await terminal.until("appeared, and other programs");
    expect(existsSync(join(workspace.cwd, ".vscode"))).toBe(false);
    await terminal.until(/accept-edits .* sandbox /);
    terminal.send("/sandbox accept\r");
    await terminal.until("was restored from quarantine");
    await atRest(terminal);
    expect(readFileSync(join(workspace.cwd, ".vscode/tasks.json"), "utf8")).toBe("{}\n");
    expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("b\n");
    terminal.send("/undo\r");
    await terminal.until(/restored +a\.txt/);
    expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("a\n");
    terminal.send("serve\r");
    await terminal.until("second");
    await atRest(terminal);
    terminal.send(`/sandbox open ${port}\r`);
    await terminal.until(`http://127.0.0.1:${port} leads to port ${port} of the sandbox`);
    expect(await answerOf(`http://127.0.0.1:${port}`)).toBe("from inside");
    terminal.send("/jobs\r");
    await terminal.until(/\d+ {2}running {2}node -e/);
    terminal.send("ask\r");
    await terminal.until("waits for input on its terminal");
    terminal.send("\x1d");
    await terminal.until("your keys go to the command");
    terminal.send("Ada\r");
    await terminal.until("third");
  });

  test("a command leaves when the person says so, and after /sandbox off every command does", async () => {
    const { workspace } = await served([
      { calls: [bash("touch ~/one")] },
      { calls: [{ bash: { command: "touch ~/two", outside: true, reason: "it belongs there" } }] },
      { text: "first" },
      { calls: [bash("touch ~/three")] },
      { text: "second" },
    ]);
    const made = () => ["one", "two", "three"].filter((name) => existsSync(join(workspace.home, name)));
    const terminal = await again(workspace, ["--permission-mode", "auto"]);
    terminal.send("go\r");
    await terminal.until("Run this outside of the sandbox?");
    await terminal.until("because: it belongs there");
    terminal.send("1");
    await terminal.until("first");
    await atRest(terminal);
    expect(made()).toEqual(["two"]);
    terminal.send("/sandbox off\r");
    await terminal.until("Switch the sandbox off for this session?");
    terminal.send("1");
    await terminal.until("no sandbox: it is switched off");
    terminal.send("go on\r");
    await terminal.until("second");
    expect(made()).toEqual(["two", "three"]);
    await terminal.until(/auto .* no sandbox /);
  });
});

/** Asks until the server inside, which may still start, answers. */
async function answerOf(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return answer.text();
    await sleep(50);
  }
}
