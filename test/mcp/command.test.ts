/** `sawtooth mcp`: what it writes into the settings, what it refuses to write, and what it lists. */

import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sawtooth, type Workspace } from "../support/sawtooth.ts";
import { tempWorkspace } from "../support/served.ts";
import { mcp as call, testServer, withServers } from "./session.ts";

/** `${NAME}`, as people write it. */
const variable = (name: string) => `$\{${name}}`;
const settingsFile = ({ home }: Workspace) => join(home, "sawtooth/config/settings.json");
const written = (workspace: Workspace) => readFileSync(settingsFile(workspace), "utf8");
const mcp = (workspace: Workspace, ...words: string[]) => sawtooth(workspace, ["mcp", ...words]);

describe("add and remove", () => {
  test("change their entry, and leave every other byte of the settings as it is", async () => {
    const workspace = tempWorkspace();
    const before = `{\r\n\t"model": "anthropic/claude-sonnet-5-5",  "allow": [ "todo",   "read" ],\r\n\t"mcpServers": {\r\n\t\t"one": { "command":"a", "args": ["x","y"] }\r\n\t},\r\n\t"window":   90000\r\n}`;
    writeFileSync(settingsFile(workspace), before);
    chmodSync(settingsFile(workspace), 0o640);
    const added = await mcp(
      workspace,
      "add",
      "two",
      "--env",
      `A=${variable("B")}`,
      "--",
      "srv",
      "-r",
      "--deep",
    );
    expect(added).toMatchObject({ code: 0, stderr: "" });
    const [head = "", tail = ""] = before.split('["x","y"] }');
    const after = written(workspace);
    expect(after.startsWith(`${head}["x","y"] },\r\n\t\t"two": {\r\n\t\t\t"command": "srv",\r\n`)).toBe(true);
    expect(after.endsWith(tail)).toBe(true);
    expect(JSON.parse(after)).toMatchObject({
      mcpServers: { two: { command: "srv", args: ["-r", "--deep"], env: { A: variable("B") } } },
    });
    expect(statSync(settingsFile(workspace)).mode & 0o777).toBe(0o640);
    expect((await mcp(workspace, "remove", "two")).code).toBe(0);
    expect(written(workspace)).toBe(before);
  });

  test("make the file where there is none, for the owner only, and follow it where it is a link", async () => {
    const workspace = tempWorkspace();
    const real = join(workspace.home, "dotfiles.json");
    const config = join(workspace.home, "other/config");
    mkdirSync(config, { recursive: true });
    symlinkSync(real, join(config, "settings.json"));
    writeFileSync(real, "{}");
    const elsewhere = {
      ...workspace,
      env: { ...workspace.env, SAWTOOTH_HOME: join(workspace.home, "other") },
    };
    await mcp(elsewhere, "add", "one", "--", "srv");
    expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ mcpServers: { one: { command: "srv" } } });
    const fresh = { ...workspace, env: { ...workspace.env, SAWTOOTH_HOME: join(workspace.home, "fresh") } };
    await mcp(
      fresh,
      "add",
      "web",
      "--url",
      "https://mcp.example/mcp",
      "--header",
      `Authorization: Bearer ${variable("T")}`,
    );
    const file = join(workspace.home, "fresh/config/settings.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      mcpServers: {
        web: {
          type: "http",
          url: "https://mcp.example/mcp",
          headers: { Authorization: `Bearer ${variable("T")}` },
        },
      },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // The last one leaves nothing behind.
    await mcp(fresh, "remove", "web");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({});
  });

  test("leave settings alone that are not valid", async () => {
    const workspace = tempWorkspace();
    writeFileSync(settingsFile(workspace), '{ "model": 1, // mine\n}');
    const { code, stderr } = await mcp(workspace, "add", "one", "--", "srv");
    expect(code).toBe(2);
    expect(stderr).toContain("settings.json is not JSON (line 1, column 15)");
    expect(written(workspace)).toBe('{ "model": 1, // mine\n}');
  });

  const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
  test.each([
    [
      "a token for --env",
      ["x", "--env", `GITHUB_TOKEN=${token}`, "--", "srv"],
      `write --env 'GITHUB_TOKEN=${variable("GITHUB_TOKEN")}'`,
    ],
    ["a password for --env", ["x", "--env", "DB_PASSWORD=hunter22", "--", "srv"], "no place for a secret"],
    [
      "one as the other value of a variable",
      ["x", "--env", `T_TOKEN=$\{A:-${token}}`, "--", "srv"],
      "no place for a secret",
    ],
    [
      "a header",
      ["x", "--url", "https://a.example", "--header", "Authorization: Bearer abc123def456"],
      "no place for a secret",
    ],
    [
      "a key in a header",
      ["x", "--url", "https://a.example", "--header", "X-Api-Key: abc123def456"],
      `--header 'X-Api-Key: ${variable("X_API_KEY")}'`,
    ],
    [
      "an option of the command",
      ["x", "--", "srv", "--api-key", "abc123def456"],
      "--api-key of the command is a secret",
    ],
    [
      "an option with its value",
      ["x", "--", "srv", `--token=${token}`],
      "--token of the command is a secret",
    ],
    ["a bare token", ["x", "--", "srv", token], "argument 1 of the command is a secret"],
    ["an address", ["x", "--url", "https://a.example/mcp?api_key=abc123def456"], "--url holds a secret"],
    ["a password in an address", ["x", "--url", "https://me:hunter22@a.example/mcp"], "--url holds a secret"],
  ])("refuse a secret that is written out: %s", async (_, words, says) => {
    const workspace = tempWorkspace();
    const before = written(workspace);
    const { code, stderr, stdout } = await mcp(workspace, "add", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/hunter22|abc123def456|ghp_a/);
    expect(written(workspace)).toBe(before);
  });

  test.each([
    [["add"], "add needs a name"],
    [["add", "x"], "add needs a command after --, or --url"],
    [["add", "a/b", "--", "srv"], "a/b is no name for a server"],
    [["add", "x", "https://a.example"], "is added with --url"],
    [["add", "x", "--url", "a.example"], "must be an address that begins with https:// or http://"],
    [["add", "x", "--url", "https://a.example", "--", "srv"], "a command or --url, not both"],
    [["add", "x", "--url", "https://a.example", "--env", "A=b"], "--env is for a program"],
    [["add", "x", "--header", "A: b", "--", "srv"], "--header needs --url"],
    [["add", "x", "--env", "1A=b", "--", "srv"], "must have the form NAME=value"],
    [["add", "x", "--url", "https://a.example", "--no-sandbox"], "--no-sandbox is for a program"],
    [["add", "one", "--", "srv"], "there is a server one already: sawtooth mcp remove one takes it out"],
    [["remove"], "remove needs a name"],
    [["remove", "two"], "there is no server two; there are one"],
    [["get", "two"], "there is no server two; there are one"],
    [["frob"], "unknown command: mcp frob"],
    [["list", "--env", "A=b"], "--env belongs to sawtooth mcp add"],
    [["list", "--output-format", "stream-json"], "mcp writes text or json"],
  ])("%j is refused with what is wrong", async (words, says) => {
    const { workspace } = await withServers([], { one: { command: "srv" } });
    const { code, stderr, stdout } = await mcp(workspace, ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(says);
  });
});

describe("list and get", () => {
  test("show where each server is from, what it runs, gets and may do, and its tools once they are known", async () => {
    const seen = await withServers(
      [{ calls: [call("test", "add", { arguments: { a: 1, b: 2 } })] }, { text: "3" }],
      {
        test: { ...testServer(), env: { A: variable("HOME"), B: "b\u202eb" }, sandbox: false },
        off: { command: "x", disabled: true },
        lacking: { command: "x", env: { A: variable("NOT_SET") } },
      },
      { allow: ["mcp(test/a*)", "read", "mcp(t*/old)"], deny: ["mcp(other/x)"] },
    );
    const before = await mcp(seen.workspace, "list");
    expect(before.stdout).toContain("test: never connected to\n");
    await seen.run();
    const { stdout } = await mcp(seen.workspace);
    expect(stdout).toContain("test: 7 tools\n");
    expect(stdout).toContain("outside of the sandbox; allowed: mcp(test/a*), mcp(t*/old)\n");
    expect(stdout).toContain("off: disabled\n");
    expect(stdout).toContain("lacking: mcpServers.lacking is not used: the variable NOT_SET is not set");
    const one = await mcp(seen.workspace, "get", "test");
    expect(one.stdout).toContain(`gets       A: ${variable("HOME")}\n`);
    expect(one.stdout).toContain('gets       B: "b\\u{202e}b"\n');
    expect(one.stdout).toContain("reads      HOME\n");
    expect(one.stdout).toContain("tool       add: Adds two numbers.\n");
    const { servers } = JSON.parse((await mcp(seen.workspace, "list", "--output-format", "json")).stdout) as {
      servers: object[];
    };
    expect(servers).toMatchObject([
      {
        name: "test",
        from: "settings",
        state: "usable",
        sandbox: false,
        tools: expect.arrayContaining(["add"]),
      },
      { name: "off", state: "disabled" },
      { name: "lacking", state: "unusable", reads: ["NOT_SET"], tools: null },
    ]);
  });
});

test.each([
  ["{}", '{\n  "mcpServers": {\n    "x": {\n      "command": "srv"\n    }\n  }\n}'],
  ['{ "window": 9000 }', '{ "window": 9000, "mcpServers": {"x":{"command":"srv"}} }'],
  [
    '{\n    "mcpServers": {}\n}\n',
    '{\n    "mcpServers": {\n        "x": {\n            "command": "srv"\n        }\n    }\n}\n',
  ],
  [
    '\ufeff{\n "window": 9000\n}\n',
    '{\n "window": 9000,\n "mcpServers": {\n  "x": {\n   "command": "srv"\n  }\n }\n}\n',
  ],
])("an entry is written as the rest of the file: %j", async (before, after) => {
  const workspace = tempWorkspace();
  writeFileSync(settingsFile(workspace), before);
  expect((await mcp(workspace, "add", "x", "--", "srv")).stderr).toBe("");
  expect(written(workspace)).toBe(after);
});
