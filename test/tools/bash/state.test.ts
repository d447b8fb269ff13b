/** The persistent shell keeps its state, whatever commands do to it (T30, T31), with a terminal and without. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withLimit } from "../../support/until.ts";
import { backends, type Fixture, openFixture } from "./shell-fixture.ts";

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeAll(() => {
    shell = openFixture(backend);
  });
  afterAll(() => shell.dispose());

  test("keeps folder, exports, variables, functions, aliases and options", async () => {
    await shell.text(
      'mkdir -p sub && cd sub; export X=1; y=2; f() { echo "f $1"; }; alias ll="echo LL"; shopt -s nullglob',
    );
    expect(await shell.text('pwd; echo "$X $y"; f 3; ll; echo none*')).toBe(
      `${shell.work}/sub\n1 2\nf 3\nLL\n(no output)`.replace("(no output)", "").trimEnd(),
    );
    expect(shell.shell.cwd()).toBe(`${shell.work}/sub`);
    await shell.text("shopt -u nullglob; cd ..");
  });

  test("forgets CDPATH after the command that set it, so that cd leads where it says", async () => {
    expect(await shell.text("export CDPATH=/usr; cd bin")).toBe("/usr/bin");
    await shell.text(`cd ${shell.work}; mkdir -p bin`);
    expect(await shell.text(`cd bin; pwd; echo \${CDPATH-none}; cd ..`)).toBe(`${shell.work}/bin\nnone`);
  });

  test("keeps an activated virtual environment until it is deactivated", async () => {
    mkdirSync(join(shell.work, "venv/bin"), { recursive: true });
    const activate = `deactivate() { PATH=$_OLD; PS1=$_OLD_PS1; unset VIRTUAL_ENV; unset -f deactivate; }\n_OLD=$PATH; _OLD_PS1=\${PS1-}\nexport VIRTUAL_ENV=$PWD/venv PATH=$PWD/venv/bin:$PATH\nPS1="(venv) $PS1"\n`;
    writeFileSync(join(shell.work, "venv/bin/activate"), activate);
    writeFileSync(join(shell.work, "venv/bin/tool"), "#!/bin/sh\necho from venv\n", { mode: 0o755 });
    await shell.text("source venv/bin/activate");
    expect(await shell.text(`tool; deactivate; echo \${VIRTUAL_ENV-gone}`)).toBe("from venv\ngone");
  });

  test("hands the status of a command to the next", async () => {
    expect(await shell.text("(exit 7)")).toBe("[exit 7]");
    expect(await shell.text("echo $?")).toBe("7");
  });

  test.each([
    ['echo "unterminated', 2],
    ["echo 'unterminated", 2],
    ["(", 2],
    ["if true; then", 2],
    ["echo $(", 2],
    ["cat <<EOF\nbody", 0],
    ["done", 2],
  ])("ends the incomplete %j at once with status %d", async (command, status) => {
    const output = await shell.call(command);
    expect(output.stats?.exitCode).toBe(status);
    expect(await shell.text("echo next")).toBe("next");
  });

  test.each([
    ["cat <<EOF\nbody\nEOF", "body"],
    ["echo a # note", "a"],
    ["echo a \\", "a"],
    ["echo a;", "a"],
    ["printf 'no newline'", "no newline"],
    ["echo '!!' !x", "!! !x"],
    ["echo $'tab\\there'", "tab\there"],
    ["\n\necho a\n\n", "a"],
    ["echo one\n# comment\necho two", "one\ntwo"],
    [`cat <<'END'\n${"line\n".repeat(2)}END\necho after`, "line\nline\nafter"],
    ["return 0; echo not", "(no output)"],
  ])("gives exactly the output of %j", async (command, expected) => {
    expect(await shell.text(command)).toBe(expected);
  });

  test("runs a heredoc script of 200 lines", async () => {
    const lines = Array.from({ length: 200 }, (_, index) => `echo line ${index}`).join("\n");
    const output = await shell.text(`bash <<'SCRIPT'\n${lines}\nSCRIPT`);
    expect(output.split("\n")).toHaveLength(200);
  });

  test.each(["set -u; echo $not_set", `echo \${not_set:?}`, "set -u\necho $((not_set + 1))"])(
    "survives %j",
    async (command) => {
      const output = await shell.call(`y=kept; ${command}`);
      expect(output.isError).toBe(true);
      expect(await shell.text("set +u; echo $y")).toBe("kept");
    },
  );

  test.each([
    ["set -x", "echo traced", "++ echo traced\ntraced", "set +x"],
    ["BASH_XTRACEFD='a b'; set -x", "set +x; echo a", "++ set +x\na", "unset BASH_XTRACEFD"],
    ["exec 9>&1 9>&-; BASH_XTRACEFD=9; set -x", "set +x; echo a", "++ set +x\na", "unset BASH_XTRACEFD"],
    ["trap 'echo dbg' DEBUG", "echo a; echo b", "dbg\na\ndbg\nb", "trap - DEBUG"],
    ["PS1='$(echo prompt) '; PS2=more", "echo a", "a", "PS1="],
    ["PROMPT_COMMAND='echo prompt'", "echo a", "a", "unset PROMPT_COMMAND"],
    ["set -o noclobber", "echo a", "a", "set +o noclobber"],
    ["IFS=e; set -f", "echo a", "a", "unset IFS; set +f"],
    ["set -T; set -E; trap 'echo err' ERR", "echo a", "a", "trap - ERR; set +TE"],
    ["builtin_echo() { :; }; printf() { :; }; export() { :; }", "echo a", "a", "unset -f printf export"],
    ["umask 777", "echo a", "a", "umask 022"],
    ["bash", "echo a", "a", ""],
    ["bash -i", "echo a", "a", ""],
    ["exec 2>/dev/null >/dev/null", "echo a; ls none 2>&1 | wc -l", "a\n1", ""],
    ["stty raw -echo </dev/tty", "echo a", "a", ""],
    ["readonly status=1 flags=2 s=3", "echo a", "a", ""],
    ["cd /; unset PWD", "echo a", "a", "cd"],
  ])("after %j the next command works as in any bash", async (before, command, expected, after) => {
    await shell.text(before);
    const output = await shell.text(command);
    await shell.text(after || ":");
    expect(output).toBe(expected);
    expect(await shell.text("echo ok")).toBe("ok");
  });

  test("keeps a DEBUG trap that a job starts beside, and the whole of each later one", async () => {
    await shell.text("trap 'echo long dbg' DEBUG");
    await shell.call({ command: "true", background: true });
    expect(await shell.text("echo a")).toBe("long dbg\na");
    await shell.text("trap 'echo d' DEBUG");
    expect(await shell.text("echo a")).toBe("d\na");
    await shell.text("trap - DEBUG");
    expect(await shell.text("echo a")).toBe("a");
  });

  test("tracing again shows nothing of our own", async () => {
    await shell.text("set -x");
    expect(await shell.text("echo a")).toBe("++ echo a\na");
    expect(await shell.text("set +x")).toBe("++ set +x");
    expect(await shell.text("echo a")).toBe("a");
  });

  test.each([
    ["exit 3", /^\+\+ exit 3\n\[exit 3\]/],
    ["set -e; false", /^\+\+ set -e\n\+\+ false\n\[exit 1\]/],
  ])("tracing shows nothing of our own when %j ends the command early", async (command, expected) => {
    await shell.text("set -x");
    expect(await shell.text(command)).toMatch(expected);
    await shell.text("set +ex");
  });

  test("tracing shows nothing of our own when a time limit ends the command early", async () => {
    await shell.text("set -x");
    const { result } = await withLimit(
      (seconds) => shell.text({ command: "sleep 60; echo NO", timeout_s: seconds }),
      (text) => text.startsWith("++ sleep 60\n"),
    );
    expect(result).toMatch(/^\+\+ sleep 60\n\[timed out/);
    await shell.text("set +x");
  });

  test("a trace that BASH_XTRACEFD leads to a file shows nothing of our own, however its commands end", async () => {
    await shell.text("exec 7>trace; BASH_XTRACEFD=7; trap ': dbg' DEBUG; set -x");
    await shell.text("trap - DEBUG; echo one");
    const { result } = await withLimit(
      (seconds) => shell.text({ command: "sleep 60; echo NO", timeout_s: seconds }),
      () => readFileSync(join(shell.work, "trace"), "utf8").includes("+ sleep 60\n"),
    );
    expect(result).toContain("timed out");
    expect(await shell.text("(exit 3)")).toContain("[exit 3]");
    expect(await shell.text("echo more >&7; echo $BASH_XTRACEFD")).toBe("7");
    const files = await shell.text("set +x; set -- /proc/$$/fd/*; echo $#; set -x");
    expect(await shell.text("set +x; set -- /proc/$$/fd/*; echo $#; set -x")).toBe(files);
    await shell.text("set +x; mv trace done; set -x; exit 4");
    const trace = readFileSync(join(shell.work, "done"), "utf8");
    const traced = trace.split("\n").filter((line) => /^\++ /.test(line));
    expect(traced.filter((line) => !line.includes(": dbg"))).toEqual(
      [
        "trap - DEBUG",
        "echo one",
        "sleep 60",
        "exit 3",
        "echo more",
        "echo 7",
        "set +x",
        "set +x",
        "set +x",
        "exit 4",
      ].map((line) => expect.stringMatching(new RegExp(`^\\++ ${line.replaceAll("+", "\\+")}$`))),
    );
    expect(trace).not.toContain("sawtooth");
    expect(await shell.text("set +x; unset BASH_XTRACEFD; echo ok")).toBe("ok");
  });

  test("a BASH_XTRACEFD that cannot be changed ends no session", async () => {
    const own = openFixture(backend);
    await own.text("exec 7>trace; readonly BASH_XTRACEFD=7; set -x; y=kept");
    expect(await own.text("echo $y")).toBe("kept");
    await own.dispose();
  });

  test.each([500, 1023, 1024, 4095, 4096, 6000, 120_000])(
    "a command of %d bytes arrives exactly, with a multibyte character at its edge",
    async (length) => {
      const value = `${"v".repeat(length - 14)}é`;
      expect(await shell.text(`X='${value}'; (LC_ALL=C.UTF-8; echo \${#X})`)).toBe(String(value.length));
    },
  );

  test("leaves no staged command, no history, and only private files", async () => {
    await shell.text("echo secret-word > /dev/null");
    const folder = join(shell.state, "shell");
    expect(readdirSync(folder).filter((name) => /command|init|stdin/.test(name))).toEqual([]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await shell.text(`history | wc -l; echo \${HISTFILE-none}`)).toBe("0\nnone");
    expect(existsSync(join(shell.work, ".bash_history"))).toBe(false);
  });

  test("cannot be told by a program that its command has ended", async () => {
    const forged = "printf '\\033]7777;%s;%s;0;x\\007' {1..3}";
    expect(await shell.text(`${forged}; ${forged} >/dev/tty 2>/dev/null; sleep 0.1; echo end`)).toContain(
      "end",
    );
    const nonce = await shell.text("env | grep -c sawtooth_nonce");
    expect(nonce.split("\n")[0]).toBe("0");
  });

  test("works in a folder with a strange name", async () => {
    const name = `it's a "folder" \\ $x\n🟢`;
    mkdirSync(join(shell.work, name));
    symlinkSync(name, join(shell.work, "link"));
    expect(await shell.text(`cd link && touch file && ls && cd .. && ls -d it*`)).toContain("file");
    await shell.text("cd link/. && cd -P .");
    await shell.text("kill -9 $$");
    expect(await shell.text("ls")).toBe("file");
    await shell.text(`cd ${shell.work}`);
  });
});
