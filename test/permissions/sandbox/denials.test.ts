import { describe, expect, test } from "vitest";
import type { SandboxPlan } from "../../../src/core/sandbox.ts";
import { type DenialScope, denialNotes } from "../../../src/permissions/sandbox/denials.ts";

const home = "/h/me";
const plan: SandboxPlan = {
  writable: ["/w/app"],
  readOnly: ["/w/app/.git/config", "/w/app/.git/hooks"],
  pinned: ["/w/app/.git"],
  hidden: [`${home}/.ssh`, `${home}/.aws`, "/etc/shadow"],
  withoutTokens: [],
  watched: [],
  sockets: { mask: ["/run/docker.sock"], pass: [] },
  ...{ hosts: [], ports: [], devices: [], environment: { pass: [], drop: [] } },
  why: { "/w/app/.git/config": "built in: it can name programs that run outside" },
};
const ours = [home, "/w"];
const scope: DenialScope = {
  ...{ plan, workspace: ["/w/app"], home },
  machine: {
    realPath: (path) =>
      path
        .replace("/var/run", "/run")
        .replace("/w/app/out", home)
        .replace(/^\/tmp/, "/s/temp/missing"),
    exists: (path) => !path.includes("missing"),
    mayWrite: (path) => ours.some((folder) => path.startsWith(`${folder}/`)),
  },
};
const notes = (output: string, command = "run") => denialNotes({ command, output, cwd: "/w/app" }, scope);

const outside = (path: string) =>
  `sandbox: ${path} is outside the workspace and cannot be written. Write below /w/app or $TMPDIR, or repeat with outside: true and say why; the person is then asked.`;
const hidden = (path: string) =>
  `sandbox: ${path} is hidden here and looks empty. Do not look for keys elsewhere; say what you need.`;
const git =
  "sandbox: .git/config is read-only here: it can name programs that run outside. What git says it set there is not set. For this session, set it with git config --global: that file is the session's own, and branch.<name>.remote, remote.<name>.url, submodule.<name>.url or user.name work there too. To change it, repeat with outside: true and say why.";

describe("a note says what the sandbox refused", () => {
  test.each([
    ["coreutils", `touch: cannot touch '${home}/.npm/x': Read-only file system`, outside("~/.npm/x")],
    ["bash", `bash: ${home}/a b: Read-only file system`, outside("~/a b")],
    ["Node", `Error: EROFS: read-only file system, open '${home}/.cache/x'`, outside("~/.cache/x")],
    ["Python", `OSError: [Errno 30] Read-only file system: '${home}/x.txt'`, outside("~/x.txt")],
    ["a link", "cp: cannot create regular file 'out/x': Read-only file system", outside("~/x")],
    ["git", "error: could not write config file .git/config: Device or resource busy", git],
    [
      "mv",
      "mv: cannot move '.git' to '.git2': Device or resource busy",
      "sandbox: .git cannot be moved or removed here: it holds files that are read-only.",
    ],
    ["a key", `cat: ${home}/.ssh/id_rsa: No such file or directory`, hidden("~/.ssh")],
    [
      "a temporary file of the machine",
      "cat: /tmp/mine.log: No such file or directory",
      "sandbox: /tmp/mine.log of this machine is not here: commands and the editor have temporary files of their own. To use it, copy it into the workspace with outside: true and say why.",
    ],
    [
      "a socket",
      "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
      "sandbox: the socket /run/docker.sock is not passed into the sandbox.",
    ],
    [
      "sudo",
      'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
      "sandbox: sudo and other programs that gain rights cannot work in here.",
    ],
  ])("in the words of %s", (_who, line, note) => {
    expect(notes(`one\n${line}\ntwo`)).toEqual([note]);
  });

  test("that a folder is hidden, when a command names it and nothing is said", () => {
    expect(notes("", "ls -la ~/.aws && cat .ssh/x")).toEqual([hidden("~/.aws")]);
  });

  test("once for each cause, and five at most", () => {
    const lines = (paths: string[]) =>
      paths.map((path) => `rm: cannot remove '${path}': Read-only file system`);
    const many = Array.from({ length: 50 }, (_, index) => `${home}/.npm/${index}`);
    expect(notes(lines(many).join("\n"))).toEqual([outside("~/.npm/0")]);
    const apart = Array.from({ length: 9 }, (_, index) => `${home}/${index}/x`);
    expect(notes(lines(apart).join("\n"))).toHaveLength(5);
  });
});

describe("there is no note", () => {
  test.each([
    ["where the machine refuses as well", "touch: cannot touch '/usr/x': Permission denied"],
    ["where the plan allows", "touch: cannot touch '/w/app/src/x': Permission denied"],
    ["about a path that is only read", `cat: ${home}/notes: No such file or directory`],
    ["about a key that does not exist", `cat: ${home}/.ssh/missing: No such file or directory`],
    ["for words that only look like an error", `Read-only file system support is in ${home.slice(1)}`],
    ["for a path without an error", `wrote ${home}/.npm/log`],
    ["for a line longer than any message", `'${home}/x': Read-only file system${" ".repeat(5000)}`],
  ])("%s", (_what, line) => {
    expect(notes(line)).toEqual([]);
  });
});
