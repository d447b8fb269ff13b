/** The walls of a sandbox around files and processes, with the real engine: one session serves many cases. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { type InsideSession, openInside } from "./session.ts";
import { engine } from "./support.ts";

const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.com", ...words], {
    cwd,
    encoding: "utf8",
  });

describe.skipIf(!engine)("files inside of a sandbox", () => {
  let session: InsideSession;
  const inside = (command: string) => session.run(command);
  beforeAll(() => {
    session = openInside(
      {
        "home/.ssh/id_rsa": "KEY-CANARY",
        "home/.ssh/known_hosts": "host-line",
        "home/.bashrc": "mine",
        "home/.npmrc": "registry=https://registry.example/\n//registry.example/:_authToken=TOKEN-CANARY\n",
        "work/.env": "PASSWORD=ENV-CANARY",
        "work/.vscode/tasks.json": "{}",
        "work/vendor/sub/a": "x",
        "work-evil/a": "x",
        "session/log.jsonl": "LOG-CANARY",
      },
      { rules: () => ({ allow: [], deny: ["read(.env)"] }) },
    );
    for (const folder of [session.work, join(session.work, "vendor/sub")]) git(folder, "init", "-q");
    git(session.work, "commit", "-q", "--allow-empty", "-m", "first");
    symlinkSync(session.home, join(session.work, "out"));
  });
  afterAll(() => session.close());

  test("S01 root-has-no-capabilities: nothing can be mounted, and there is no capability", async () => {
    expect(await inside("grep CapEff /proc/self/status")).toContain("0000000000000000");
    for (const command of ["mount --bind /tmp /mnt", "umount /tmp", "unshare -m true", "chroot / true"])
      expect(await inside(`${command} 2>&1; [ $? -ne 0 ] && echo REFUSED`)).toContain("REFUSED");
    expect(await inside("echo x > /proc/sys/kernel/core_pattern")).toMatch(/Read-only|Permission denied/);
  });

  test("S02 no-new-namespaces: none can be made or entered; programs, threads and sockets work", async () => {
    for (const command of [
      "unshare -Ur true",
      "unshare -n true",
      "bwrap --ro-bind / / true",
      "nsenter -t 1 -m true",
    ])
      expect(await inside(`${command} 2>&1; [ $? -ne 0 ] && echo REFUSED`)).toContain("REFUSED");
    const python = [
      "import ctypes, os, socket, threading, subprocess",
      "l = ctypes.CDLL(None, use_errno=True)",
      "print(l.syscall(435, 0, 0), ctypes.get_errno())",
      "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()",
      "print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())",
      "a, b = socket.socketpair(); a.send(b'unix'); print(b.recv(9))",
      "try: socket.socket(40, socket.SOCK_STREAM)",
      "except OSError as e: print('vsock', e.errno)",
    ].join("\n");
    expect(await inside(`python3 - <<'END'\n${python}\nEND`)).toBe("-1 38\nthread\nchild\nb'unix'\nvsock 97");
  });

  test("S03 write-outside: nothing but the workspace and the temporary folder can be written", async () => {
    for (const path of [
      `${session.home}/x`,
      `${session.home}/.bashrc`,
      "/etc/x",
      `${session.root}/work-evil/x`,
    ])
      expect(await inside(`echo x > ${path}`)).toMatch(/Read-only file system|No such file or directory/);
    expect(await inside(`ln ${session.home}/.bashrc here; mv ${session.home}/.bashrc here`)).not.toContain(
      "(no output)",
    );
    expect(await inside("echo a > a && echo b > $TMPDIR/b && cat a $TMPDIR/b")).toBe("a\nb");
    expect(readFileSync(join(session.home, ".bashrc"), "utf8")).toBe("mine");
  });

  test("S04 link-out: a link out of the workspace leads to what can only be read", async () => {
    expect(await inside("echo x > out/.bashrc")).toContain("Read-only file system");
  });

  test("S05 hooks: no hook can be written, nor in a nested repository", async () => {
    for (const path of [".git/hooks/pre-commit", "vendor/sub/.git/hooks/x"])
      expect(await inside(`echo x > ${path}`)).toContain("Read-only file system");
  });

  test("S06 rename-git: no folder above a hook can be renamed, and git works", async () => {
    for (const folder of [".git", "vendor", "vendor/sub", "vendor/sub/.git"])
      expect(await inside(`python3 -c 'import os; os.rename("${folder}", "moved")'`)).toMatch(
        /busy|cross-device/,
      );
    const words = "-c user.name=n -c user.email=e@example.com";
    expect(
      await inside(
        `git add a && git ${words} commit -qm two && git branch b && git tag t && git gc -q && git log --format=%s`,
      ),
    ).toBe("two\nfirst");
  });

  test("S07 git-config: it cannot be changed", async () => {
    const before = readFileSync(join(session.work, ".git/config"), "utf8");
    for (const command of ["git config core.fsmonitor x", "sed -i s/a/b/ .git/config", "git remote add o u"])
      expect(await inside(`${command}; [ $? -ne 0 ] && echo REFUSED`)).toContain("REFUSED");
    expect(readFileSync(join(session.work, ".git/config"), "utf8")).toBe(before);
  });

  test("S07 git-config: --global is the session's own; the person's is read and stays as it is", async () => {
    const mine = "[user]\n\tname = Mine\n[include]\n\tpath = more\n";
    const files = { "home/.gitconfig": mine, "home/more": "[alias]\n\tst = status\n" };
    const own = openInside({ ...files, "home/.config/git/config": "[user]\n\temail = mine@example.com\n" });
    git(own.work, "init", "-q");
    expect(await own.run("git config --get-regexp 'user|alias' | sort -u")).toBe(
      "alias.st status\nuser.email mine@example.com\nuser.name Mine",
    );
    expect(await own.run("git config --global --get user.name")).toBe("Mine");
    const settings = ["core.fsmonitor ./evil", "user.name Theirs", "remote.r.url https://git.example/r"];
    const written = settings.map((one) => `git config --global ${one}`).join(" && ");
    expect(await own.run(`${written} && git config user.name && git remote`)).toBe("Theirs\nr");
    expect(readFileSync(join(own.home, ".gitconfig"), "utf8")).toBe(mine);
    await own.close();
  });

  test("S07 git-config: the person's settings are not copied where a rule hides them", async () => {
    const own = openInside(
      { "home/.gitconfig": "[user]\n\tname = CANARY\n" },
      { rules: () => ({ allow: [], deny: ["read(~/.gitconfig)"] }) },
    );
    expect(await own.run("cat ~/.gitconfig $GIT_CONFIG_GLOBAL; git config user.name")).not.toContain(
      "CANARY",
    );
    await own.close();
  });

  test("S09 watched-exists: what other programs run can only be read", async () => {
    expect(await inside("echo x > .vscode/tasks.json; mv .vscode v; cat .vscode/tasks.json")).toMatch(
      /Read-only file system[\s\S]*busy[\s\S]*\{\}/,
    );
  });

  test("S12 hidden: keys, tokens and our own files cannot be read, by no way", async () => {
    const { home, state } = session;
    const output = await inside(
      `cat ${home}/.ssh/id_rsa ${state}/log.jsonl /proc/1/root${home}/.ssh/id_rsa /proc/*/root${state}/log.jsonl; cat ${home}/.npmrc ${home}/.ssh/known_hosts`,
    );
    expect(output).toContain("host-line");
    expect(output).toContain("registry=https://registry.example/");
    expect(output).not.toContain("CANARY");
    expect(
      await inside(`grep -rs CANARY ${home} ${session.root} --include=id_rsa --include=log.jsonl; echo end`),
    ).toBe("end");
  });

  test("S14 read-rule-parity: what a rule denies no program can read", async () => {
    for (const command of [
      "cat .env",
      "python3 -c 'print(open(\".env\").read())'",
      "grep -r CANARY . ",
      "tar c .env | cat",
    ])
      expect(await inside(command)).not.toContain("ENV-CANARY");
  });

  test("S18 staged-link: a link in the folder of the shell's state leads us nowhere", async () => {
    const { home, state } = session;
    await inside(
      `cd ${state}/shell/state && for name in *; do ln -sf ${home}/.bashrc $name; done; mkfifo job-9.status; cd ${session.work}; ln -sf ${home}/.bashrc ${state}/shell/in/command.sh`,
    );
    expect(await inside("echo still here")).toContain("still here");
    await inside("kill -9 $$");
    expect(await inside("echo again; ls -A")).toContain("again");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("mine");
  });

  test("S19 artifact-tamper: the output of an earlier command can only be read", async () => {
    await inside("echo first output");
    const artifacts = join(session.state, "artifacts");
    const contents = () =>
      readdirSync(artifacts).map((name) => [name, readFileSync(join(artifacts, name), "utf8")]);
    const before = contents();
    expect(await inside(`for f in ${artifacts}/*; do echo x > $f; rm -f $f; done`)).toContain(
      "Read-only file system",
    );
    expect(contents()).toEqual(expect.arrayContaining(before));
    expect(readdirSync(join(session.state, "out")).sort()).toEqual([]);
  });

  test("S20 forged-end: what a command prints does not end it", async () => {
    expect(await inside("printf '\\e]7778;%s;0\\a' {0..9}; sleep 0.1; echo end")).toContain("end");
  });
});

describe.skipIf(!engine)("a sandbox around an odd workspace", () => {
  test("S10 symlinked-hooks: links, files and forged git data start all the same, and nothing foreign is writable", async () => {
    const session = openInside({
      "elsewhere/hooks/x": "x",
      "forged/HEAD": "x",
      "forged/gitdir": "/somewhere/.git\n",
    });
    const { root, work } = session;
    git(work, "init", "-q");
    execFileSync("rm", ["-rf", join(work, ".git/hooks")]);
    symlinkSync(join(root, "elsewhere/hooks"), join(work, ".git/hooks"));
    mkdirSync(join(work, "nested"));
    writeFileSync(join(work, "nested/.git"), `gitdir: ${join(root, "forged")}\n`);
    symlinkSync(join(root, "elsewhere"), join(work, "link"));
    expect(await session.run(`echo started; echo x > ${root}/forged/HEAD; echo x > .git/hooks/x`)).toMatch(
      /^started\n[\s\S]*exit 1/,
    );
    expect(readFileSync(join(root, "elsewhere/hooks/x"), "utf8")).toBe("x");
    expect(readFileSync(join(root, "forged/HEAD"), "utf8")).toBe("x");
    await session.close();
  });

  test("S10 worktree: its git data outside is writable when it names this folder, its hooks are not", async () => {
    const session = openInside();
    const main = join(session.root, "main");
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "first");
    execFileSync("rmdir", [session.work]);
    git(main, "worktree", "add", "-q", session.work);
    const words = "-c user.name=n -c user.email=e@example.com";
    expect(await session.run(`git ${words} commit -q --allow-empty -m two && git log --format=%s`)).toBe(
      "two\nfirst",
    );
    expect(await session.run(`echo x > ${main}/.git/hooks/pre-commit`)).toContain("Read-only file system");
    await session.run(`echo x > ${main}/a`);
    expect(existsSync(join(main, "a"))).toBe(false);
    await session.close();
  });

  test("S11 many-repositories: 300 nested ones start, and the first 60 are protected", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`work/r/${index}/.git/config`, "[core]\n"]),
    );
    const session = openInside(files);
    const output = await session.run("for f in r/*/.git/config; do [ -w $f ] || echo closed; done | wc -l");
    expect(Number(output)).toBe(60);
    await session.close();
  });

  test("S15 own-program: the parts of Sawtooth that run cannot be written, in a workspace that holds it", async () => {
    const files = { "work/package.json": "{}", "work/dist/main.js": "OURS", "work/src/a.ts": "x" };
    const session = openInside(files, { mainBelow: "work/dist/main.js" });
    expect(await session.run("echo x > src/a.ts && echo x > dist/main.js; mv dist d")).toMatch(
      /^bash: dist\/main.js: Read-only file system\n.*busy/,
    );
    expect(readFileSync(join(session.work, "dist/main.js"), "utf8")).toBe("OURS");
    await session.close();
    const below = openInside(
      { "work/node_modules/sawtooth/dist/main.js": "OURS", "work/node_modules/sawtooth/package.json": "{}" },
      { mainBelow: "work/node_modules/sawtooth/dist/main.js" },
    );
    expect(await below.run("echo x > node_modules/sawtooth/dist/main.js; mv node_modules n")).toMatch(
      /Read-only file system\n.*busy/,
    );
    await below.close();
  });

  test("S57 environment: the person's start-up files are not run inside", async () => {
    // Bash takes a socket as its input for a login from afar, and reads ~/.bashrc, where it is the first shell.
    const own = openInside(
      { "home/.bashrc": "export FROM_START=KEY-CANARY; touch $TMPDIR/ran" },
      { env: { SHLVL: "0" } },
    );
    expect(await own.run('echo "$FROM_START."; [ ! -e $TMPDIR/ran ] || echo ran')).toBe(".");
    await own.close();
  });

  test("S21 plan-mode: commands run, the workspace stays as it is, temporary files work", async () => {
    let mode: "plan" | "accept-edits" = "plan";
    const session = openInside({ "work/a": "1" }, { mode: () => mode });
    expect(await session.run("cat a; echo 2 > a; echo t > $TMPDIR/t; cat $TMPDIR/t")).toMatch(
      /^1bash: a: Read-only file system\nt/,
    );
    expect(readFileSync(join(session.work, "a"), "utf8")).toBe("1");
    await session.run("export K=v");
    mode = "accept-edits";
    expect(await session.run('echo "2 $K" > a; cat a')).toMatch(
      /^2 v\n\[new shell, because what commands may touch has changed/,
    );
    await session.close();
  });

  test.skipIf(!existsSync("/dev/shm"))(
    "S21 plan-mode: a workspace and a home below the folder of devices are there, and cannot be written",
    async () => {
      const at = mkdtempSync("/dev/shm/sawtooth-plan-");
      onTestFinished(() => rmSync(at, { recursive: true }));
      for (const [name, text] of [
        ["work/a", "1"],
        ["home/b", "2"],
        ["home/.netrc", "KEY-CANARY"],
        ["other/c", "3"],
      ] as const) {
        mkdirSync(join(at, name, ".."), { recursive: true });
        writeFileSync(join(at, name), text);
      }
      const [work, home] = [join(at, "work"), join(at, "home")];
      const session = openInside({}, { mode: () => "plan", workspace: [work], home });
      const said = await session.run(`cd ${work}; cat a ${home}/b; cat ${home}/.netrc; ls ..; echo x > a`);
      expect(said).toMatch(/^12cat: [^\n]*Permission denied\nhome\nwork\n[^\n]*Read-only file system/);
      expect(said).not.toContain("KEY-CANARY");
      await session.close();
    },
  );

  test("a folder of temporary files that a rule lets write is the machine's, for the editor and the notes too", async () => {
    const at = mkdtempSync("/var/tmp/sawtooth-rule-");
    onTestFinished(() => rmSync(at, { recursive: true }));
    const { promise, resolve } = Promise.withResolvers<Sandbox>();
    const allow = [`edit(${at}/**)`];
    const session = openInside({}, { rules: () => ({ allow, deny: [] }), onSandbox: resolve });
    await session.run(`echo x > ${at}/made`);
    expect(readFileSync(join(at, "made"), "utf8")).toBe("x\n");
    expect((await promise).hostPath(join(at, "made"))).toBe(join(at, "made"));
    expect((await promise).hostPath("/var/tmp/other")).toBe(join(session.state, "temp/other"));
    await session.close();
  });

  test("S48 off-mid-session: the shell outside has nothing of the one inside but its folder", async () => {
    let off = false;
    const session = openInside({ "work/sub/a": "" }, { switchedOff: () => off });
    await session.run("export GIT_SSH_COMMAND=evil; ls() { echo evil; }; alias git=evil; cd sub");
    off = true;
    const output = await session.run('echo "[$GIT_SSH_COMMAND]"; pwd; type ls; ls');
    expect(output).toContain(`[]\n${session.work}/sub\n`);
    expect(output).not.toContain("evil");
    expect(await session.run("grep CapEff /proc/self/status")).not.toContain("NEVER");
    await session.close();
  });
});
