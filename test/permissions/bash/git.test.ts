/** By what git is made to run other programs, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import type { PermissionInput } from "../../../src/permissions/decision.ts";
import { run as runIn } from "./cases.ts";

const autoMode: Partial<PermissionInput> = { mode: "auto", workspace: ["/home/u/app"] };
const run = (command: string, options: Partial<PermissionInput> = {}) =>
  runIn(command, { ...autoMode, ...options });

describe("what makes git run other programs is asked for in auto too", () => {
  test.each([
    "git config filter.x.clean ./evil",
    "git config --global filter.x.smudge ./evil",
    "git config set filter.x.process ./evil",
    "git config --add include.path ../x",
    "git config includeIf.gitdir:x.path y",
    "git config gpg.program ./x",
    "git config diff.x.textconv ./x",
    "git config diff.external ./x",
    "git config merge.x.driver ./x",
    "git config credential.helper '!x'",
    "git config sequence.editor ./x",
    "git config pager.log ./x",
    "git config core.gitProxy ./x",
    "git config core.askPass ./x",
    "git config core.worktree /",
    "git config init.templateDir x",
    "git config url.evil.insteadOf good",
    "git config protocol.ext.allow always",
    "git config submodule.x.update '!x'",
    "git config hook.x.command ./x",
    "git config --file .git/config filter.x.clean ./x",
    "git config --edit",
    "git config --rename-section a b",
    "git init --template=x .",
    "git init --templ x .",
    "git clone --template x y",
    "git clone -c core.fsmonitor=./x y",
    "git clone --config filter.x.clean=y z",
    "git clone -u ./x y",
    "git clone --upload-pack=./x y",
    "git -c filter.x.clean=./x add .",
    "git -c core.pager=./x log",
    "git --config-env=core.pager=X log",
    "git --exec-path=. log",
    "GIT_SSH_COMMAND=./x git fetch",
    "GIT_EXTERNAL_DIFF=./x git diff",
    "GIT_PAGER=./x git log",
    "GIT_DIR=evil git status",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=a GIT_CONFIG_VALUE_0=b git log",
    "GIT_TRACE=/home/u/x git log",
    "export GIT_SSH_COMMAND=./x",
    "GIT_SSH_COMMAND=./x; git fetch",
    "env GIT_SSH_COMMAND=./x git fetch",
    "bash -c 'GIT_PAGER=./x git log'",
    "bash -c 'git config filter.x.clean y'",
    "find . -exec git config filter.x.clean y \\;",
  ])("%s", (command) => {
    expect(run(command).decision).toBe("ask");
    expect(run(command, { mode: "plan" }).decision).toBe("deny");
    expect(run(command, { allow: [`bash(${command})`] }).decision).toBe("allow");
  });

  test.each([
    "git config user.name x",
    "git config --global core.autocrlf false",
    "git config core.pager cat && git log",
    "git config --get filter.x.clean",
    "git config filter.x.clean",
    "git config --unset filter.x.clean",
    "git -c user.name=a -c user.email=b commit -m x",
    "git -c core.pager=cat log",
    "git -c color.ui=always diff",
    "GIT_PAGER=cat git log",
    "GIT_AUTHOR_NAME=a GIT_COMMITTER_DATE='2020-01-01' git commit -m x",
    "GIT_TERMINAL_PROMPT=0 git fetch",
    "GIT_EDITOR=true git rebase --continue",
    "git init x",
    "git clone x y",
    "git add . && git commit -m 'filter.x.clean=y'",
  ])("but not what provably runs nothing: %s", (command) => {
    // A pager is refused as a setting, whatever its value.
    const wanted = command.startsWith("git config core.pager") ? "deny" : "allow";
    expect(run(command).decision).toBe(wanted);
  });
});
