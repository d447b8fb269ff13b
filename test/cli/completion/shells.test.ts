/** Completion in the real shells: keys go into a terminal, and what the line becomes is read off its screen. */

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entry } from "../../support/entry.ts";
import { startMockServer } from "../../support/mock-server.ts";
import { hasProgram } from "../../support/program.ts";
import { type Drive, driveProgram } from "../../support/pty-drive.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../../support/sawtooth.ts";

type Shell = { name: string; words: string[]; env: Record<string, string>; begin: string };

const shells: Shell[] = [
  {
    name: "bash",
    words: ["--norc", "--noprofile", "-i"],
    env: { INPUTRC: "/dev/null", PS1: "ready> " },
    begin: "bind 'set show-all-if-ambiguous on'; source <(sawtooth completion bash)",
  },
  {
    name: "zsh",
    words: ["-f", "-i"],
    env: { PS1: "ready> ", PROMPT_EOL_MARK: "" },
    begin:
      "unsetopt menucomplete automenu; autoload -Uz compinit; compinit -u -D; source <(sawtooth completion zsh)",
  },
  {
    name: "fish",
    words: ["--no-config", "-i"],
    env: {},
    begin:
      "function fish_prompt; echo -n 'ready> '; end; set fish_greeting; sawtooth completion fish | source",
  },
];

/** Words before Tab, and the line after it. */
const completed: [typed: string, line: string][] = [
  ["sawtooth comp", "sawtooth completion"],
  ["sawtooth --permission-mode pl", "sawtooth --permission-mode plan"],
  ["sawtooth --permission-mode=pl", "sawtooth --permission-mode=plan"],
  ["sawtooth --context economist:sh", "sawtooth --context economist:short"],
  ["sawtooth --context=economist:sh", "sawtooth --context=economist:short"],
  ["sawtooth --model anthropic/claude-sonnet-5-", "sawtooth --model anthropic/claude-sonnet-5-5"],
  ["sawtooth fix --max-att", "sawtooth fix --max-attempts"],
  ["sawtooth --effort high fix --allow-p", "sawtooth --effort high fix --allow-paths"],
  ["sawtooth replay a.jsonl --context raw,summ", "sawtooth replay a.jsonl --context raw,summary"],
  ["sawtooth sessions exp", "sawtooth sessions export"],
  ["sawtooth sessions export --format ht", "sawtooth sessions export --format html"],
  ["sawtooth --add-dir some-f", "sawtooth --add-dir some-folder/"],
  ["sawtooth batch two", "sawtooth batch two\\ words.jsonl"],
  ["sawtooth login anth", "sawtooth login anthropic"],
];

/** Words before Tab, those that are then listed, and those that are not. */
const listed: [typed: string, words: string[], others: RegExp][] = [
  ["sawtooth schema ", ["events", "input", "tasks", "results"], /doctor/],
  ["sawtooth undo --", ["--list", "--redo", "--session-dir", "--help"], /--model/],
  ["sawtooth -p --effort ", ["low", "medium", "xhigh"], /doctor/],
  ["sawtooth m", ["mcp", "models"], /doctor/],
];

describe.each(shells)("$name", ({ name, words, env, begin }) => {
  describe.skipIf(!hasProgram(name))("completes", () => {
    let workspace: Workspace;
    let shell: Drive;
    let session: string;

    beforeAll(async () => {
      const server = await startMockServer({ turns: [{ text: "Done." }] });
      workspace = makeWorkspace(server.url);
      writeFileSync(join(workspace.cwd, "two words.jsonl"), "");
      mkdirSync(join(workspace.cwd, "some-folder"));
      const bin = join(workspace.home, "bin");
      mkdirSync(bin);
      writeFileSync(join(bin, "sawtooth"), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
      chmodSync(join(bin, "sawtooth"), 0o755);
      const { stdout } = await sawtooth(workspace, ["-p", "hi", "--output-format", "json"]);
      session = (JSON.parse(stdout) as { session_id: string }).session_id;
      await server.close();
      const path = `${bin}:${workspace.env.PATH}`;
      shell = driveProgram(name, words, workspace, { columns: 160, rows: 40, env: { ...env, PATH: path } });
      // Nothing may be typed before the shell reads keys.
      await shell.until(/[>#] *$/m);
      shell.send(`${begin}; clear; echo read''y\r`);
      await shell.until(/^ready$/m);
    });
    afterAll(() => {
      shell?.kill();
      workspace?.remove();
    });

    const complete = async (typed: string, wanted: string | RegExp): Promise<string> => {
      shell.send(`\x15\x0c${typed}\t`);
      await shell.until(wanted);
      return shell.screen().join("\n");
    };
    // zsh adds what may follow, and takes it back when something else does.
    const lineOf = (line: string) => new RegExp(`ready> ${line.replace(/[\\.|]/g, "\\$&")}[=,]?(?: |$)`, "m");

    test.each(completed)("%s<Tab>", async (typed, line) => {
      expect(await complete(typed, lineOf(line))).toMatch(lineOf(line));
    });

    test.each(listed)("%s<Tab> with a list", async (typed, wanted, others) => {
      const screen = await complete(typed, new RegExp(wanted.map((word) => `(?=[^]*${word}\\b)`).join("")));
      expect(screen.replace(/ready> .*/g, "")).not.toMatch(others);
    });

    test("the sessions of this folder", async () => {
      await complete("sawtooth sessions show ", lineOf(`sawtooth sessions show ${session}`));
      await complete("sawtooth --resume=", lineOf(`sawtooth --resume=${session}`));
    });
  });
});
