/** Every kind of program that Sawtooth starts, caught in the act: none of them gets a secret of the environment. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { batchWorkspace, script, words, writeTasks } from "./cli/batch/batch-workspace.ts";
import { drive } from "./support/pty-drive.ts";
import { sawtooth, type Workspace } from "./support/sawtooth.ts";
import { bash, serve } from "./support/served.ts";
import { inOneProcess } from "./support/size.ts";
import { until } from "./support/until.ts";

const canary = "canary-5d1f0a7be2";
const secrets = {
  ANTHROPIC_API_KEY: canary,
  OPENAI_API_KEY: canary,
  STRIPE_KEY: canary,
  PGPASSWORD: canary,
  MY_PASSPHRASE: canary,
  DATABASE_URL: `postgres://app:${canary}@localhost/app`,
};
/** Programs that are found by PATH; each is replaced by one that writes its environment down and goes on. */
const programs = ["git", "bash", "sh", "ps", "npm", "node", "cp", "rg", "xdg-open", "wl-paste"];

/** Puts the recording programs first in PATH. `seen`: the environments written so far, by file name. */
function watched(workspace: Workspace) {
  const folder = join(workspace.home, "watched");
  const dumps = join(workspace.home, "dumps");
  for (const made of [folder, dumps]) mkdirSync(made);
  const path = workspace.env.PATH ?? "";
  const record = (name: string) => `/usr/bin/env > "${dumps}/${name}.$$"`;
  for (const name of programs) {
    const real = path
      .split(delimiter)
      .map((one) => join(one, name))
      .find(existsSync);
    const then = real === undefined ? "exit 0" : `exec ${real} "$@"`;
    writeProgram(join(folder, name), `${record(name)}\n${then}`);
  }
  writeProgram(join(folder, "writer"), `${record("writer")}\necho edited > "$1"`);
  return {
    env: {
      ...workspace.env,
      ...secrets,
      PATH: `${folder}${delimiter}${path}`,
      VISUAL: join(folder, "writer"),
    },
    /** A shell command that writes its own environment down. */
    dump: (name: string) => `/usr/bin/env > "${dumps}/${name}.$$"`,
    seen: () => readdirSync(dumps).map((file) => [file, readFileSync(join(dumps, file), "utf8")] as const),
  };
}

function writeProgram(file: string, body: string): void {
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
}

type Watched = ReturnType<typeof watched>;

/** The programs that were caught; fails when one of them has the canary, in any variable. */
function caught({ seen }: Watched): string[] {
  const all = seen();
  expect(all.filter(([, text]) => text.includes(canary)).map(([file]) => file)).toEqual([]);
  return [...new Set(all.map(([file]) => file.split(".")[0] ?? ""))].sort();
}

test("the session's shell, its jobs and the git of a run have no secret", async () => {
  const workspace = batchWorkspace();
  const watch = watched(workspace);
  const calls = [bash(`${watch.dump("command")}; git status`)];
  const job = [{ bash: { command: watch.dump("job"), background: true } }];
  const list = { str_replace_editor: { command: "view", path: join(workspace.cwd, "project") } };
  // A job ends with its session.
  const wait = bash(`until ls ${workspace.home}/dumps/job.* >/dev/null 2>&1; do sleep 0.05; done`);
  const turns = [{ calls }, { calls: job }, { calls: [list, wait] }, { text: "Done." }];
  const { model } = script(workspace, "s", turns);
  const cwd = join(workspace.cwd, "project");
  const run = ["-p", "go", "--permission-mode", "auto", "--model", model.replace("/", "/../")];
  const ended = await sawtooth({ ...workspace, cwd, env: watch.env }, run);
  expect(ended).toMatchObject({ code: 0 });
  expect(caught(watch)).toEqual(expect.arrayContaining(["command", "git", "job"]));
});

test("the checks of a fix and the git that freezes its files have no secret", async () => {
  const workspace = batchWorkspace();
  const watch = watched(workspace);
  const { model } = script(workspace, "s", [{ calls: [bash(watch.dump("command"))] }, { text: "Done." }]);
  const check = `${watch.dump("check")}; test -e "${workspace.home}/never"`;
  const run = ["fix", "--check", check, "--max-attempts", "1", "--model", model.replace("/", "/../")];
  await sawtooth({ ...workspace, cwd: join(workspace.cwd, "project"), env: watch.env }, run);
  expect(caught(watch)).toEqual(expect.arrayContaining(["check", "command", "git"]));
});

test("the set-up, the check and the shell of a task of a batch have no secret", async () => {
  const workspace = batchWorkspace();
  const watch = watched(workspace);
  const { model } = script(workspace, "s", [{ calls: [bash(watch.dump("command"))] }, { text: "Done." }]);
  const check = `${watch.dump("check")}; test -e "${workspace.home}/never"`;
  writeTasks(workspace, [
    { id: "one", repo: "project", setup: watch.dump("setup"), check, max_attempts: 1, model },
  ]);
  await sawtooth({ ...workspace, env: watch.env }, words);
  expect(caught(watch)).toEqual(expect.arrayContaining(["check", "command", "git", "setup"]));
});

test("the demo's tests and the programs that doctor asks for their version have no secret", async () => {
  const workspace = batchWorkspace();
  const watch = watched(workspace);
  await sawtooth({ ...workspace, env: watch.env }, ["doctor"]);
  await sawtooth({ ...workspace, env: { ...watch.env, ...inOneProcess } }, ["demo"]);
  expect(caught(watch)).toEqual(expect.arrayContaining(["bash", "git", "npm"]));
});

test("git and npm, which fetch a plug-in, and the program that reads the clipboard have no secret", async () => {
  const { workspace } = await serve([{ text: "unused" }]);
  const watch = watched(workspace);
  const npm = { npm_config_registry: "http://127.0.0.1:9", npm_config_fetch_retries: "0" };
  const env = { ...watch.env, ...npm, WAYLAND_DISPLAY: "wayland-0" };
  const place = { ...workspace, env };
  for (const name of [`file://${workspace.home}/none.git`, "no-such-plugin"]) {
    const { code, stderr } = await sawtooth(place, ["plugin", "add", name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("it was not fetched")]);
  }
  expect(caught(watch)).toEqual(expect.arrayContaining(["git", "npm"]));
  const terminal = drive(
    { ...workspace, env: { ...env, ANTHROPIC_BASE_URL: workspace.env.ANTHROPIC_BASE_URL ?? "" } },
    [],
  );
  try {
    await terminal.until("›");
    terminal.send("\x16");
    await until(() => caught(watch).includes("wl-paste"), "the clipboard's program");
  } finally {
    terminal.kill();
  }
});

test("the editor behind Ctrl-G and the guard of the terminal have no secret", async () => {
  const { workspace } = await serve([{ text: "unused" }]);
  const watch = watched(workspace);
  const env = { ...watch.env, ANTHROPIC_BASE_URL: workspace.env.ANTHROPIC_BASE_URL ?? "" };
  const terminal = drive({ ...workspace, env }, []);
  try {
    await terminal.until("›");
    terminal.send("\x07");
    await terminal.until("edited");
  } finally {
    terminal.kill();
  }
  expect(caught(watch)).toEqual(expect.arrayContaining(["sh", "writer"]));
});
