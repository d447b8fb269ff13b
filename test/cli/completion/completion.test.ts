/** The output of `sawtooth completion`, and the man page: both are made from the tables of the command line. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseCommand } from "../../../src/cli/arguments/arguments.ts";
import { commandTable } from "../../../src/cli/arguments/command-table.ts";
import { commandNames } from "../../../src/cli/arguments/option.ts";
import { allOptions } from "../../../src/cli/arguments/options.ts";
import { type Choice, grammarOf } from "../../../src/cli/completion/grammar.ts";
import { manPage } from "../../../src/cli/man-page.ts";
import { hasProgram } from "../../support/program.ts";
import { makeWorkspace, sawtooth } from "../../support/sawtooth.ts";

const grammar = grammarOf("0", { models: [], stacks: [], providers: [] });

test("each option is offered to exactly the commands whose parser takes it", () => {
  const isTaken = (command: string, { long, value, offer }: Choice) => {
    const given = value === "none" ? [] : [offer?.kind === "words" ? (offer.words[0] ?? "1") : "1"];
    const wanted = { fix: ["--check", "x"], batch: ["a", "--out", "b"] }[command] ?? [];
    const words = [...(command === "run" ? [] : [command]), ...wanted, `--${[long, ...given].join("=")}`];
    try {
      parseCommand(words);
      return true;
    } catch (error) {
      return !/belongs to|has no effect on \w+: |single session/.test((error as Error).message);
    }
  };
  for (const { name } of grammar.commands)
    for (const option of grammar.options) {
      // A batch takes an option of one session, to refuse it with a reason of its own.
      const single = allOptions.find(({ name: long }) => long === option.long)?.oneSession;
      if (name === "batch" && single) continue;
      // With it the name of a command is a prompt.
      if (option.long === "print" && name !== "run") continue;
      const sameName = grammar.options.filter(({ long }) => long === option.long);
      const isOffered = sameName.some(({ commands }) => commands.includes(name));
      expect([name, option.long, isOffered]).toEqual([name, option.long, isTaken(name, option)]);
    }
});

test("each verb of the table is one that its command knows", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  for (const [command, { verbs = {} }] of Object.entries(commandTable))
    for (const verb of Object.keys(verbs)) {
      if (command === "acp") continue;
      const { stderr } = await sawtooth(workspace, [command, verb]);
      expect(stderr).not.toMatch(/unknown command/);
    }
  const { stderr } = await sawtooth(workspace, ["sessions", "nothing"]);
  expect(stderr).toMatch(/unknown command/);
});

test("a name that is no shell is refused, with those that are", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const run = (...words: string[]) => sawtooth(workspace, ["completion", ...words]);
  expect(await run("powershell")).toMatchObject({
    code: 2,
    stderr: "sawtooth: completion is for bash, zsh, fish, not for powershell\n",
  });
  expect((await run()).stderr).toBe(
    "sawtooth: completion needs a shell, bash, zsh, fish: sawtooth completion bash\n",
  );
  expect((await run("bash", "zsh")).stderr).toBe("sawtooth: completion takes one shell; unexpected: zsh\n");
});

test("a shell is offered no name of a repository that it would read as anything but a word", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const names = ["plain.name", "$(touch x)", "-rf", "a b", "a;b", "a\tb", "`id`", "a\nb"];
  const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "true" }]));
  writeFileSync(join(workspace.cwd, ".mcp.json"), JSON.stringify({ mcpServers }));
  const { stdout } = await sawtooth(workspace, ["completion", "servers"]);
  expect(stdout).toBe("plain.name\tproject\n");
});

test("the man page names every command and every option", () => {
  const page = manPage({ version: "1.2.3", date: "2026-01-02" });
  expect(page).toMatch(/^\.TH SAWTOOTH 1 "2026-01-02" "sawtooth 1\.2\.3"/);
  for (const name of commandNames) expect(page).toContain(name);
  for (const { name } of allOptions) expect(page).toContain(`\\-\\-${name.replaceAll("-", "\\-")}`);
});

/** Readers of pages, with what makes each complain of all that it finds. */
const readers: [program: string, words: string[]][] = [
  ["mandoc", ["-Tlint"]],
  ["groff", ["-ww", "-man", "-Tutf8"]],
  ["man", ["--warnings", "-l"]],
];

test.each(readers.filter(([program]) => hasProgram(program)))(
  "%s reads the man page without a warning",
  (program, words) => {
    const folder = mkdtempSync(join(tmpdir(), "sawtooth-man-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "sawtooth.1");
    writeFileSync(file, manPage({ version: "1.2.3", date: "2026-01-02" }));
    const { status, stdout, stderr } = spawnSync(program, [...words, file], {
      env: { ...process.env, MANPAGER: "cat", PAGER: "cat", MANWIDTH: "100", MAN_KEEP_FORMATTING: "" },
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    if (program === "mandoc") expect(stdout).toBe("");
    else expect(stdout.replace(/\x1b\[[\d;]*m|.\x08/g, "")).toContain("--permission-mode <m>");
  },
);
