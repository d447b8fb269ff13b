/** Output of any size and kind is kept whole in its file and shown within the budget (T17, T24). */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { utf8Length } from "../../../src/core/text/clean-text.ts";
import { followOutput } from "../../../src/tools/bash/output-file.ts";
import { backends, type Fixture, openFixture, until } from "./shell-fixture.ts";

describe.each(backends)("a shell over %s", (backend) => {
  let shell: Fixture;
  beforeAll(() => {
    shell = openFixture(backend);
  });
  afterAll(() => shell.dispose());

  test("of two million lines shows head, tail, status and the exact number left out", async () => {
    const output = await shell.call("seq 1 2000000; echo LAST-ERR; exit_with() { return 3; }; exit_with");
    const text = String(output.content);
    expect(text).toMatch(/^1\n2\n3\n/);
    expect(text).toMatch(/\n2000000\nLAST-ERR\n\[omitted/);
    expect(text).toMatch(/\[exit 3\]$/);
    expect(utf8Length(text)).toBeLessThanOrEqual(30_000);
    const [, omitted = ""] = /\[omitted ([\d,]+) of 2,000,001 lines/.exec(text) ?? [];
    const shown = text.split("\n").filter((line) => /^(\d+|LAST-ERR)$/.test(line)).length;
    expect(Number(omitted.replaceAll(",", ""))).toBe(2_000_001 - shown);
    expect(text).toContain(`whole output: ${output.artifact}`);
    const expected = createHash("md5").update(
      `${Array.from({ length: 2_000_000 }, (_, n) => n + 1).join("\n")}\nLAST-ERR\n`,
    );
    expect(
      createHash("md5")
        .update(readFileSync(output.artifact ?? ""))
        .digest("hex"),
    ).toBe(expected.digest("hex"));
    expect(output.stats).toMatchObject({
      exitCode: 3,
      lines: 2_000_001,
      bytes: statSync(output.artifact ?? "").size,
    });
  });

  test("finds the errors in the middle of large output, and what was wanted", async () => {
    const source =
      "seq 1 300000; echo 'x.c:3: fatal error: no y.h'; seq 1 300000; echo 'listening on 8123'; seq 1 300000";
    expect(await shell.text(source)).toContain("299999\n300000\nx.c:3: fatal error: no y.h\n1\n2\n");
    const wanted = await shell.text({ command: source, want: "what is it listening on?" });
    expect(wanted).toContain("299999\n300000\nlistening on 8123\n1\n2\n");
    expect(wanted).not.toContain("fatal error");
  });

  test.each([
    ["one line of 5 MB", "head -c 5000000 /dev/zero | tr '\\0' x", 5_000_000],
    ["a megabyte of noise", "head -c 1000000 /dev/urandom", 1_000_000],
    ["many long lines", "for i in {1..50}; do head -c 40000 /dev/zero | tr '\\0' y; echo; done", 2_000_050],
    ["a line of emoji", "for i in {1..9000}; do printf '🟢🟡'; done", 72_000],
  ])("shows %s within its budget, as valid text", async (_, command, bytes) => {
    const output = await shell.call(command);
    const text = String(output.content);
    expect(text.isWellFormed()).toBe(true);
    expect(utf8Length(text)).toBeLessThanOrEqual(30_000);
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(statSync(output.artifact ?? "").size).toBe(bytes);
    const small = await shell.call(command, { budgetTokens: 600 });
    expect(utf8Length(String(small.content))).toBeLessThanOrEqual(2400);
  });

  test("collapses progress bars and repeated lines", async () => {
    const bar = await shell.text("for i in {1..10000}; do printf '\\r%d %%' $i; done; echo");
    expect(bar).toBe("10000 % [9,999 earlier states of this line]");
    expect(await shell.text("for i in {1..500}; do echo y; done")).toBe("y\n[the line above 500 times]");
  });

  test("loses nothing of 20,480 bytes, two hundred times", async () => {
    await shell.text('block=$(head -c 20480 /dev/zero | tr "\\0" b)');
    for (let round = 0; round < 200; round++) {
      const output = await shell.call('printf %s "$block"', { budgetTokens: 300 });
      expect(output.stats?.bytes).toBe(20_480);
    }
  });

  test("strips what is meant for a terminal from the view and keeps it in the file", async () => {
    const output = await shell.call(
      "printf '\\033]52;c;eA==\\007\\033[2J\\033[31mred\\033[0m\\033]0;t\\007 \\302\\233 \\233 \\0 end\\n'",
    );
    expect(output.content).toBe("red \ufffd  end");
    expect(readFileSync(output.artifact ?? "", "latin1")).toContain("\x1b]52;c;eA==\x07\x1b[2J");
  });

  test("names a command's own errors without our staging file", async () => {
    expect(await shell.text("no-such-command")).toBe("bash: no-such-command: command not found\n[exit 127]");
    expect(await shell.text("echo a\necho 'b")).toBe(
      "a\nbash: line 2: unexpected EOF while looking for matching `''\n[exit 2]",
    );
  });

  test("keeps what an unbuffered and a Python program wrote before it was stopped", async () => {
    const stop = new AbortController();
    const begun = join(shell.work, "begun");
    const call = shell.call('python3 -c \'print(1); open("begun", "w"); import time; time.sleep(60)\'', {
      signal: stop.signal,
    });
    expect(await until(() => existsSync(begun))).toBe(true);
    stop.abort();
    expect((await call).content).toMatch(/^1\n/);
  });

  test("shows the tail live", async () => {
    const seen: string[] = [];
    const step = (name: string) =>
      `printf '\\033[1m${name}\\033[0m\\n'; until [ -e ${name} ]; do sleep 0.02; done`;
    await shell.call(`${step("one")}; ${step("two")}`, {
      onProgress(text) {
        seen.push(text);
        writeFileSync(join(shell.work, text.trim().split("\n").at(-1) ?? ""), "");
      },
    });
    expect(seen).toEqual(["one", "one\ntwo"]);
  });

  test("says nothing of the file when nothing was left out", async () => {
    const output = await shell.call("echo short");
    expect(output).toMatchObject({ content: "short", stats: { exitCode: 0, bytes: 6, lines: 1 } });
    expect(output.artifact).toMatch(/artifacts\/\d+\.txt$/);
    expect((await shell.call("true")).content).toBe("(no output)");
  });
});

test("secrets of ours are in no child's environment, the user's other variables are", async () => {
  const shell = openFixture("pipe", {
    ANTHROPIC_API_KEY: "sk-canary-7f3a",
    ANTHROPIC_BASE_URL: "http://x",
    OPENAI_API_KEY: "sk-canary-7f3a",
    MISTRAL_API_KEY: "sk-canary-7f3a",
    GITHUB_TOKEN: "sk-canary-7f3a",
    NPM_TOKEN: "sk-canary-7f3a",
    ACTIONS_RUNTIME_TOKEN: "sk-canary-7f3a",
    AWS_SECRET_ACCESS_KEY: "sk-canary-7f3a",
    TMOUT: "1",
    PROMPT_COMMAND: "echo prompt",
    NODE_OPTIONS: "--no-warnings",
    MY_SETTING: "kept",
  });
  expect(await shell.text("cat /proc/self/environ /proc/$$/environ | grep -ac canary")).toBe("0\n[exit 1]");
  expect(await shell.text(`echo "$MY_SETTING $NODE_OPTIONS \${TMOUT-none} \${VITEST-none}"`)).toBe(
    "kept --no-warnings none none",
  );
  await shell.dispose();
});

test("a file of 190 MB is read in little memory", async () => {
  const shell = openFixture("pipe");
  const path = join(shell.work, "big");
  await shell.call(
    "yes 'a line of ordinary text, long enough' | head -c 190000000 > big; echo 'the error' >> big",
  );
  const before = process.memoryUsage().rss;
  const reader = followOutput(path);
  const view = await reader.view({ maxBytes: 4000, path });
  reader.close();
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  expect(view.text).toContain("the error");
  expect(view.total.bytes).toBe(190_000_010);
  await shell.dispose();
});

test("a file that grows while it is read is counted as it was when the view began", async () => {
  const shell = openFixture("pipe");
  const path = join(shell.work, "file");
  writeFileSync(path, "a\nb\n");
  const reader = followOutput(path, { from: 2 });
  expect(await reader.view({ maxBytes: 500 })).toMatchObject({ text: "b", total: { lines: 1, bytes: 2 } });
  writeFileSync(path, "c\nno end", { flag: "a" });
  expect(await reader.view({ maxBytes: 500 })).toMatchObject({ text: "b\nc\nno end", total: { lines: 3 } });
  reader.close();
  await shell.dispose();
});
