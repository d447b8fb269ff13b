/** Commands that want a person fail at once or hand over; none waits for ever (T19). */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { usualTiming } from "../../../src/tools/bash/shell/timing.ts";
import { backends, type Fixture, hasTerminal, isInside, openFixture } from "./shell-fixture.ts";

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeEach(() => {
    shell = openFixture(backend);
  });
  afterEach(() => shell.dispose());

  function repository(): void {
    const git = (words: string[], input = "") => execFileSync("git", words, { cwd: shell.work, input });
    git(["init", "-q"]);
    const commits = Array.from({ length: 60 }, (_, index) => {
      const words = `commit ${index}`;
      return `commit refs/heads/main\ncommitter n <e@example.com> ${index} +0000\ndata ${words.length}\n${words}\n`;
    });
    git(["fast-import", "--quiet"], commits.join(""));
    git(["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(["config", "user.name", "n"]);
    git(["config", "user.email", "e@example.com"]);
  }

  test("git shows its log without a pager, and neither commits nor rebases without a message", async () => {
    repository();
    expect(await shell.text("git log --oneline")).toContain("commit 0");
    const before = await shell.text("git rev-parse HEAD");
    await shell.text("echo a > a; git add a");
    const commit = await shell.call("git commit");
    expect(commit.isError).toBe(true);
    expect(commit.content).toContain("no editor here");
    await shell.text("git rm -q --cached a");
    const rebase = await shell.call("git rebase -i HEAD~2");
    expect(rebase.isError).toBe(true);
    expect(await shell.text("git rev-parse HEAD; ls .git | grep -c rebase-merge")).toBe(
      `${before}\n0\n[exit 1]`,
    );
  });

  test.each([
    "git clone https://127.0.0.1:1/private",
    "less file",
    "more file",
    "top",
    "vim -es -c q file; vim file",
    "python3 -c 'input()'",
    "read x",
    "cat",
    "bash",
    "python3",
    "ssh -o ConnectTimeout=2 -o BatchMode=no nohost.invalid",
    'read -p "sure? " answer && echo $answer',
  ])("returns from %j by itself", async (command) => {
    writeFileSync(join(shell.work, "file"), "text\n");
    const output = await shell.call({ command, timeout_s: 20 });
    expect(output.stats?.timedOut).toBeUndefined();
    expect(await shell.text("echo ok")).toBe("ok");
  });

  test.each(["read x", "python3 -c 'input()'"])("says of %j that its input was empty", async (command) => {
    expect(await shell.text(command)).toContain("was it waiting for input?");
  });

  test("gives a command the stdin of the call, byte for byte", async () => {
    const stdin = `line 1\nline 2 🟢 'quoted'\n${"x".repeat(200_000)}`;
    const output = await shell.text({ command: `cat | wc -c; read y; echo \${y-}`, stdin });
    expect(output).toBe(`${Buffer.byteLength(stdin)}\n`.trimEnd());
    expect(await shell.text({ command: "read a; read b; echo $b", stdin: "one\ntwo\n" })).toBe("two");
    expect(await shell.text("cat")).toBe("(no output)");
  });

  test("refuses an answer that no command waits for, and an empty call", async () => {
    expect(await shell.call({ stdin: "y" })).toMatchObject({ isError: true });
    expect(await shell.call({})).toMatchObject({ isError: true });
    expect(await shell.call("echo a\0b")).toMatchObject({ isError: true });
    mkdirSync(join(shell.work, "x"));
  });
});

describe.skipIf(!hasTerminal)("a shell with a terminal", () => {
  let shell: Fixture;
  beforeEach(() => {
    shell = openFixture("pty");
  });
  afterEach(() => shell.dispose());

  test("reports a program that reads the terminal, with what is on it, and passes the answer on", async () => {
    const ask = 'printf "Password: " >/dev/tty; read -rs x </dev/tty; echo "got $x"; export Y=$x';
    const waiting = await shell.call(`echo before; ${ask}`);
    expect(waiting.isError).toBeUndefined();
    expect(waiting.content).toMatch(
      /^before\n\[waiting for input\. On the terminal:\]\nPassword:\s*\n\[answer/,
    );
    expect(await shell.text({ stdin: "s3 cret" })).toBe("got s3 cret");
    expect(await shell.text("echo $Y")).toBe("s3 cret");
  });

  test("reports each question of a program on its own", async () => {
    const program =
      "t=open('/dev/tty','r+b',buffering=0)\nfor i in (1,2):\n t.write(b'Q%d? '%i); print(t.readline().decode().strip())";
    expect(await shell.text({ command: `python3 -c "${program.replaceAll('"', '\\"')}"` })).toContain("Q1?");
    const second = await shell.text({ stdin: "one" });
    expect(second).toContain("Q2?");
    expect(second).not.toContain("Q1?");
    expect(second).toMatch(/^one\n/);
    expect(await shell.text({ stdin: "two" })).toBe("two");
  });

  test("stops a waiting command when another one is run instead", async () => {
    await shell.text("cd /; read x </dev/tty; echo AFTER");
    expect(await shell.text("pwd")).toBe("/\n[the command that waited for input was stopped]");
    expect(await shell.text("echo ok")).toBe("ok");
  });

  test("does not take a busy or sleeping program for one that waits", async () => {
    expect(await shell.text("sleep 1.3 </dev/tty; echo done")).toBe("done");
  });

  test("runs one command on the terminal itself and shows its screen", async () => {
    const command =
      "tty | grep -oE 'pts|sawtooth-tty'; [ -t 0 ] && [ -t 1 ] && printf '\\033[31mred\\033[0m\\n'; stty size; echo $TERM";
    expect(await shell.text({ command, tty: true })).toBe(
      `${isInside ? "sawtooth-tty" : "pts"}\nred\n40 120\nxterm-256color`,
    );
    expect(await shell.text("echo $TERM; [ -t 1 ] || echo none")).toBe("dumb\nnone");
  });

  test("has its former TERM again after a command on the terminal ended the shell", async () => {
    const ended = await shell.text({ command: "exit 4", tty: true });
    expect(ended).toMatch(/^\[exit 4\]\n\[new shell/);
    expect(ended).not.toContain("TERM");
    expect(await shell.text("echo $TERM")).toBe("dumb");
  });

  test("keeps every line that a command writes on the terminal", async () => {
    const output = await shell.call({
      command: "seq 1 1500; exit_status() { return 3; }; exit_status",
      tty: true,
    });
    expect(output.content).toContain("1500\n[exit 3]");
    expect(await shell.text(`tr -d '\\r' < ${output.artifact} | md5sum; seq 1 1500 | md5sum`)).toMatch(
      /^(\w+) .*\n\1 /,
    );
  });

  test("lets a program on the terminal ask and be answered, also key by key", async () => {
    expect(await shell.text({ command: 'read -p "name? " x; echo "hello $x"', tty: true })).toContain(
      "name?",
    );
    expect(await shell.text({ stdin: "bob" })).toContain("hello bob");
    expect(await shell.text({ command: "cat", tty: true })).toContain("waiting for input");
    expect((await shell.text({ stdin: "once" })).match(/once/g)).toHaveLength(2);
    expect(await shell.text({ stdin: "\u0004" })).not.toContain("waiting");
  });

  test("leaves an editor on the terminal by its own keys, after the real silences", async () => {
    const shell = openFixture("pty", {}, { timing: usualTiming });
    onTestFinished(() => shell.dispose());
    const opened = await shell.text({ command: "vim -u NONE new.txt", tty: true });
    expect(opened).toContain("waiting for input");
    await shell.text({ stdin: "ihello\u001b:wq\r" });
    expect(await shell.text("cat new.txt")).toBe("hello");
  });

  test("works after a program left the terminal in raw mode", async () => {
    await shell.text("stty raw -echo </dev/tty");
    expect(await shell.text({ command: "stty -a | grep -o ' icanon'", tty: true })).toContain("icanon");
  });

  test("ignores what was typed for a program that no longer reads", async () => {
    await shell.text("read x </dev/tty");
    await shell.text({ stdin: "one\ntouch typed\ntouch typed2\n" });
    await shell.text("sleep 0.2");
    expect(await shell.text("ls")).toBe("(no output)");
  });
});

test("without a terminal a command that needs one is refused with the reason", async () => {
  const shell = openFixture("pipe");
  const output = await shell.call({ command: "vim", tty: true });
  expect(output.isError).toBe(true);
  expect(output.content).toContain("no terminal");
  await shell.dispose();
});

test("SAWTOOTH_PTY=off makes a shell without a terminal", async () => {
  const shell = openFixture("pty", { SAWTOOTH_PTY: "off" });
  expect(await shell.text("echo x >/dev/tty")).toContain("[exit 1]");
  expect(shell.shell.terminal()).toBe(false);
  await shell.dispose();
});
