/** The engine for machines where bubblewrap cannot start, on the kernel of this one. */

import { spawnSync } from "node:child_process";
import {
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
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { SandboxPlan } from "../../src/core/sandbox.ts";
import type { Engine } from "../../src/sandbox/engine.ts";
import {
  canHide,
  entriesOf,
  type Landlock,
  landlockRules,
  landlockStatus,
  landlockWords,
  probeLandlock,
  rulesText,
} from "../../src/sandbox/landlock.ts";
import { type InsideSession, openInside } from "./session.ts";

const plan: SandboxPlan = {
  ...{ writable: [], readOnly: [], pinned: [], hidden: [], withoutTokens: [], watched: [] },
  ...{ sockets: { mask: [], pass: [] }, hosts: [], ports: [], devices: [] },
  ...{ environment: { pass: [], drop: [] }, why: {} },
};

const probed = await probeLandlock();
const skipped = "reason" in probed ? ` (skipped: ${probed.reason})` : "";

/** A folder in which only python3 is found. */
const onlyPython = mkdtempSync(join(tmpdir(), "landlock-python-"));
symlinkSync("/usr/bin/python3", join(onlyPython, "python3"));
afterAll(() => rmSync(onlyPython, { recursive: true }));
const byPython = await probeLandlock(process, [onlyPython]);

describe("the rules for Landlock", () => {
  test("name all that lies beside what is hidden, and what is shown in it all the same", () => {
    const disk: Record<string, string[]> = {
      "/": ["dev", "etc", "h", "usr"],
      "/h": ["me", "you"],
      "/h/me": [".ssh", ".npmrc", "app"],
    };
    const rules = landlockRules(
      {
        ...plan,
        ...{ writable: ["/h/me/app"], hidden: ["/h/me/.ssh"], withoutTokens: ["/h/me/.npmrc"] },
        readOnly: ["/h/me/.ssh/known_hosts", "/h/me/app/.git/hooks"],
      },
      (folder) => disk[folder] ?? [],
    );
    const paths = (allow: string) => rules.filter((rule) => rule.allow === allow).map(({ path }) => path);
    expect(paths("names")).toEqual(["/"]);
    expect(paths("read")).toEqual(["/etc", "/h/me/app", "/h/you", "/usr", "/h/me/.ssh/known_hosts"]);
    expect(paths("write")).toContain("/h/me/app");
    expect(paths("write").filter((path) => path.startsWith("/dev/"))).toContain("/dev/null");
  });

  test("are told apart by a byte that no path holds", () => {
    expect(
      rulesText([
        { allow: "read", path: "/a b\nc" },
        { allow: "write", path: "/d" },
      ]),
    ).toBe("r /a b\nc\0w /d\0");
  });
});

describe("why there is no Landlock", () => {
  test.each([
    ["on a Mac", { platform: "darwin", arch: "arm64" }, undefined, /part of Linux/],
    ["on an unknown processor", { platform: "linux", arch: "mips" }, undefined, /not known here on mips/],
    ["without an interpreter", { platform: "linux", arch: "x64" }, ["/nonexistent"], /perl or python3/],
  ] as const)("is said %s", async (_where, machine, folders, reason) => {
    expect(await probeLandlock(machine, folders)).toEqual({ reason: expect.stringMatching(reason) });
  });
});

describe.skipIf(skipped !== "")(`a command behind Landlock${skipped}`, () => {
  const perl = probed as Landlock;
  const ways: [name: string, way: Landlock][] = [["perl", perl]];
  if (!("reason" in byPython)) ways.push(["python3", byPython]);

  /** Runs bash lines; returns what they wrote, and the folders. */
  function run(way: Landlock, lines: string) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "landlock-")));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const [app, home] = [join(root, "app"), join(root, "home")];
    for (const folder of [app, join(home, ".ssh")]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(home, ".ssh", "id"), "key");
    writeFileSync(join(home, "notes"), "notes");
    const rules = landlockRules({ ...plan, writable: [app], hidden: [join(home, ".ssh")] }, entriesOf);
    writeFileSync(join(root, "rules"), rulesText(rules));
    const [program = "", ...words] = landlockWords(way, join(root, "rules"), ["/bin/bash", "-c", lines]);
    const { stdout, stderr, status } = spawnSync(program, words, {
      cwd: app,
      env: { PATH: "/usr/bin:/bin", OUTSIDE: String(process.pid), HOME: home },
      encoding: "utf8",
    });
    return { app, home, status, text: stdout + stderr };
  }

  test.each(ways)(
    "by %s writes only where it may, reads no key, and reaches no process outside",
    (_name, way) => {
      const { app, home, text } = run(
        way,
        `echo x > made; mkdir d; mv made d/; cat d/made; cat ~/notes
         echo changed > ~/notes; ln -s ~ out; echo x > out/new; : > /etc/hostname; truncate -s 0 ~/notes
         cat ~/.ssh/id; mknod disk b 8 0
         kill -0 $OUTSIDE; cat /proc/$OUTSIDE/environ; cat /proc/self/comm > /dev/null && echo own process`,
      );
      expect(readFileSync(join(app, "d", "made"), "utf8")).toBe("x\n");
      expect(readFileSync(join(home, "notes"), "utf8")).toBe("notes");
      expect(existsSync(join(home, "new"))).toBe(false);
      expect(text).toContain("notes");
      expect(text).toContain("own process");
      expect(text).not.toContain("key\n");
      expect(text.match(/Permission denied/g)?.length).toBeGreaterThanOrEqual(6);
      if (way.abi >= 6) expect(text).toContain("Operation not permitted");
    },
  );

  test("is started with its own words, and a failure says what failed", () => {
    expect(run(perl, 'printf "%s" "$0"; exit 7')).toMatchObject({ status: 7, text: "/bin/bash" });
    const [program = "", ...words] = landlockWords(perl, "/nonexistent/rules", ["/bin/true"]);
    const { status, stderr } = spawnSync(program, words, { encoding: "utf8" });
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^landlock: \/nonexistent\/rules: No such file/);
  });

  test("is described with the walls that it has", () => {
    expect(landlockStatus({ ...perl, abi: 7 })).toMatchObject({
      files: true,
      processes: true,
      network: "open",
    });
    expect(landlockStatus({ ...perl, abi: 5 }).processes).toBe(false);
  });
});

describe.skipIf(skipped !== "")(`a session behind Landlock${skipped}`, () => {
  const landlock = probed as Landlock;
  const byLandlock: Engine = { name: "landlock", status: landlockStatus(landlock), landlock };
  const hides: boolean[] = [];
  let mode: "plan" | "accept-edits" = "accept-edits";
  let session: InsideSession;
  const inside = (command: string) => session.run(command);
  beforeAll(() => {
    const files = {
      "home/.ssh/id_rsa": "KEY-CANARY",
      "home/.bashrc": "mine",
      "home/notes": "notes",
      "session/log.jsonl": "LOG-CANARY",
    };
    session = openInside(files, {
      engine: byLandlock,
      mode: () => mode,
      env: { HTTPS_PROXY: "http://proxy.example" },
      onPlan: (_plan, all) => hides.push(all),
    });
    symlinkSync(session.home, join(session.home, "again"));
  });
  afterAll(() => session.close());

  test("keeps its state, its terminal and its jobs, and writes in the workspace and a temporary folder of its own", async () => {
    expect(await inside("export K=v; cd /; echo a > $TMPDIR/b; cat $TMPDIR/b")).toBe("a");
    expect(
      await inside(`echo $K; pwd; cd ${session.work}; echo made > made; cat made; echo $HTTPS_PROXY`),
    ).toBe("v\n/\nmade\nhttp://proxy.example");
    expect(await inside("stty size </dev/tty")).toMatch(/^\d+ \d+$/);
    expect(session.shell.terminal()).toBe(true);
    expect(hides).toEqual([true]);
  });

  test("writes nothing else, reads no key by any name of it, and no file of ours", async () => {
    const { home, state, work } = session;
    for (const path of [`${home}/x`, `${home}/.bashrc`, "/etc/x", `${work}-evil`, `${state}/shell/in/x`])
      expect(await inside(`echo x > ${path}`)).toMatch(/Permission denied/);
    const read = `cat ${home}/.ssh/id_rsa ${home}/again/.ssh/id_rsa ${state}/log.jsonl /proc/self/root${home}/.ssh/id_rsa`;
    expect(await inside(`cat ${home}/notes; ${read}`)).toMatch(/^notes/);
    expect(await inside(read)).not.toContain("CANARY");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("mine");
  });

  test("gets its shell back when that dies, and its processes end with it when the plan changes", async () => {
    // Its processes are those of the machine, where another run of the tests may be.
    const mark = `1234.${process.pid}`;
    const count = `pgrep -f 'sleep ${mark.replace(".", "[.]")}$' | wc -l`;
    await inside(`(setsid sleep ${mark} &); kill -9 $$`);
    expect(await inside("echo $K")).toMatch(/^v$/);
    await expect.poll(() => inside(count)).toBe("1");
    mode = "plan";
    expect(await inside(`echo x > ${session.work}/made; cat ${session.work}/made`)).toMatch(
      /Permission denied[\s\S]*made[\s\S]*new shell, because what commands may touch has changed/,
    );
    expect(await inside(count)).toBe("0");
    mode = "accept-edits";
  });

  test("lets a job be kept, which no process space ends", async () => {
    await session.run({ command: "sleep 77", background: true });
    const [job] = session.shell.jobs();
    expect(session.shell.keepJob(job?.pid ?? 0)).toBe("kept");
    await session.shell.stopJob(job?.pid ?? 0);
  });

  test("says that it hides not all, where something hidden lies in a folder that can be written", () => {
    expect(canHide({ ...plan, writable: ["/w"], hidden: ["/h/.ssh"] })).toBe(true);
    expect(canHide({ ...plan, writable: ["/h"], hidden: ["/h/.ssh"] })).toBe(false);
  });
});
