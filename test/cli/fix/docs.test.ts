/** Examples of docs/, run: the drivers of headless.md and the recorded runs. */

import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parseCommand } from "../../../src/cli/arguments/arguments.ts";
import { entry } from "../../support/entry.ts";
import { sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { bash, tempWorkspace } from "../../support/served.ts";
import { setUp } from "./fix-workspace.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = (name: string) => readFileSync(join(root, "docs", name), "utf8");

/** The only block of code in this language. */
function blockOf(text: string, language: string): string {
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))];
  expect(blocks).toHaveLength(1);
  return blocks[0]?.[1] ?? "";
}

/** Puts a program `sawtooth` on the path of a workspace. */
function withProgram(workspace: Workspace): Record<string, string> {
  const programs = join(workspace.home, "bin");
  mkdirSync(programs);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${entry}" "$@"\n`;
  writeFileSync(join(programs, "sawtooth"), program, { mode: 0o755 });
  return { ...workspace.env, PATH: `${programs}:${workspace.env.PATH}` };
}

describe("the drivers of headless.md", () => {
  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  const drivers: [language: string, program: string, file: string][] = [
    ["js", process.execPath, "driver.mjs"],
    ["python", "python3", "driver.py"],
  ];
  test.for(drivers)(
    "the driver in %s runs as the page shows it",
    async ([language, program, file], { skip }) => {
      skip(language === "python" && !hasPython, "there is no python3 here");
      const { workspace, server } = await setUp([
        { calls: [bash("npm test"), bash("rm -r src")] },
        { text: "There are no tests." },
        { text: "Nothing." },
      ]);
      const driver = blockOf(page("headless.md"), language);
      expect(driver.trim().split("\n").length).toBeLessThanOrEqual(26);
      writeFileSync(join(workspace.cwd, file), driver);
      const env = withProgram(workspace);
      const { stdout } = await promisify(execFile)(program, [file], { cwd: workspace.cwd, env });
      expect(stdout).toBe("There are no tests.\nNothing.\nsuccess: 3 model calls\n");
      const results = JSON.stringify(server.requests[1]?.messages.at(-1));
      expect(results).toContain("Only npm test.");
      expect(results).toMatch(/npm/i);
    },
  );
});

describe("recorded-runs.md", () => {
  test("a run is recorded and played; a changed rule and a changed file are noticed; --loose plays on", async () => {
    const workspace = tempWorkspace();
    cpSync(join(root, "examples/fix-js"), workspace.cwd, { recursive: true });
    const turns = [
      { calls: [{ str_replace_editor: { command: "view", path: "src/parse.js" } }] },
      { text: "It reads rows." },
    ];
    writeFileSync(join(workspace.cwd, "s.json"), JSON.stringify({ turns }));
    const run = (words: string[], rule = "Name files.", day = "1790000000") =>
      sawtooth(workspace, ["-p", "What?", "--append-system-prompt", rule, ...words], {
        env: { SOURCE_DATE_EPOCH: day },
      });
    const played = ["--model", "recorded/c.jsonl"];
    const answer = { code: 0, stdout: "It reads rows.\n" };
    expect(await run(["--model", "scripted/s.json", "--record", "c.jsonl"])).toMatchObject(answer);
    expect(await run(played)).toMatchObject(answer);
    expect(await run(played, "Name all files.")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("the system text differs"),
    });
    expect(await run(played, "Name files.", "1790999999")).toMatchObject({ code: 6 });
    execFileSync("sed", ["-i", "s/The rows/All rows/", "src/parse.js"], { cwd: workspace.cwd });
    expect(await run(played)).toMatchObject({ code: 6, stderr: expect.stringContaining("All rows") });
    expect(await run([...played, "--loose"])).toMatchObject(answer);
  });
});

test("every command that the pages show is one that the program takes", () => {
  const commands = ["headless.md", "ci.md", "recorded-runs.md"].flatMap((name) =>
    [...page(name).matchAll(/^(?:\$ )?sawtooth ([^\n|>]*)/gm)].map((match) => match[1] ?? ""),
  );
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    const words = (command.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) =>
      word.replace(/^["']|["']$/g, ""),
    );
    expect(() => parseCommand(words), command).not.toThrow();
  }
});
