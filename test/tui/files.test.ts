import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto"];

test("/report writes the page into the session's folder and opens it, without the keys, where there is a display", async () => {
  const { terminal, workspace } = await open([{ text: "first" }], auto, { columns: 200 });
  terminal.send("go\r");
  await terminal.until("first");
  terminal.send("/report\r");
  await terminal.until(/open it in a browser: \S+\/report\.html/);
  const [, file = ""] = /browser: (\S+)/.exec(terminal.screen().join("\n")) ?? [];
  expect(file).toContain(join(workspace.env.SAWTOOTH_HOME ?? "", "state/sessions"));
  expect(readFileSync(file, "utf8")).toContain("<svg");
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("the opener gets the page and no key", async () => {
  const { terminal, workspace } = await open([{ text: "first" }], auto, { columns: 200 });
  terminal.send("/exit\r");
  await terminal.ended;
  const bin = join(workspace.home, "bin");
  mkdirSync(bin);
  const script = '{ echo "$1"; env; } > "$HOME/part" && mv "$HOME/part" "$HOME/opened"';
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const { again } = await import("../support/terminal-fixture.ts");
  const env = { DISPLAY: ":7", PATH: `${bin}:${workspace.env.PATH}` };
  const shown = await again(workspace, auto, { columns: 200, env });
  shown.send("/report\r");
  await shown.until(/opened in the browser: \S+\/report\.html/);
  // An opener may take longer than what is said of it.
  await until(() => existsSync(join(workspace.home, "opened")), "the words of the opener");
  const opened = readFileSync(join(workspace.home, "opened"), "utf8");
  expect(opened.split("\n")[0]).toMatch(/\/report\.html$/);
  expect(opened).toContain("DISPLAY=:7");
  expect(opened).not.toContain("sk-canary");
});

test("/export writes each format, takes it from the file's name, and writes over nothing", async () => {
  const { terminal, workspace } = await open([{ text: "an answer" }], auto, { columns: 200 });
  terminal.send("a question sk-canary-7f3a\r");
  await terminal.until("an answer");
  for (const [words, name, holds] of [
    ["notes.md", "notes.md", "an answer"],
    ["html page.html", "page.html", "<!doctype html>"],
    ["json ~/all.json", "../home/all.json", '"session_started"'],
  ] as const) {
    terminal.send(`/export ${words}\r`);
    await terminal.until(`written to ${join(workspace.cwd, name)}`);
    const text = readFileSync(join(workspace.cwd, name), "utf8");
    expect(text.toLowerCase()).toContain(holds);
    expect(text).not.toContain("sk-canary-7f3a");
  }
  terminal.send("/export notes.md\r");
  await terminal.until("notes.md already exists: choose another name");
  terminal.send("/export no/such/x.html\r");
  await terminal.until("/no/such/x.html: its folder does not exist");
  terminal.send("/export pdf\r");
  await terminal.until("Usage: /export [md|html|json] [file]");
  terminal.send("/export\r");
  await terminal.until(/written to \S+\/session\.md/);
});

test("/doctor tells what it finds, in a small window as well", async () => {
  const { terminal } = await open([], [], { columns: 40, rows: 12 });
  terminal.send("/doctor\r");
  await terminal.until("All required checks passed.");
  const whole = terminal.whole().join("\n");
  expect(whole).toMatch(/ok {4}node {8}\d+\.\d+/);
  expect(whole).toContain("ANTHROPIC_API_KEY");
  expect(whole).not.toContain("sk-canary");
});
