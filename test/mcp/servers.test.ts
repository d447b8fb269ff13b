/** Servers of tools in a session: declared by constant bytes, told by appended facts, ended on every way out. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { start, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { mcp, published, testServer, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const parsed = (body = "{}") => JSON.parse(body) as { tools: { name: string }[]; messages: object[] };
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
/** The pids of servers that noted their start. */
const pidsIn = (file: string) =>
  existsSync(file)
    ? [...readFileSync(file, "utf8").matchAll(/started (\d+)/g)].map(([, pid]) => Number(pid))
    : [];

describe("the tool", () => {
  test("calls a server of the newest protocol, whose schemas are files and whose line stands in the next session", async () => {
    const seen = await withServers(
      [{ calls: [mcp("test", "add", { arguments: { a: 20, b: 22 } })] }, { text: "42" }, { text: "fine" }],
      { test: testServer() },
    );
    const { code, stderr } = await seen.run(...auto);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(seen.results()).toEqual(["42"]);
    const folder = join(seen.folder(), "mcp/test");
    expect(readdirSync(folder).sort()).toEqual(
      ["add", "die", "environment", "long", "old", "read", "wait"].map((name) => `${name}.json`),
    );
    expect(JSON.parse(readFileSync(join(folder, "add.json"), "utf8"))).toMatchObject({
      description: "Adds two numbers.",
      input_schema: { required: ["a", "b"] },
    });
    // The first session learned of its tools in a note, the second has them in its first message.
    expect(seen.server.rawBodies[0]).toContain("test: is starting for the first time");
    expect(seen.server.rawBodies[1]).toContain(
      "MCP server test: Adds numbers.\\\\u{200b} And more. 7 tools in ",
    );
    await seen.run(...auto);
    expect(seen.server.rawBodies[2]).toContain("\\ntest: Adds numbers.");
    expect(seen.server.rawBodies[2]).toContain("add, environment, read, long, old, die, wait");
  });

  test("has the same bytes with one server and with seven, and is not declared without one", async () => {
    const one = await withServers([{ text: "a" }], { test: testServer() });
    const many = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`s${at}`, testServer("silent")]));
    const seven = await withServers([{ text: "a" }], many);
    const none = await withServers([{ text: "a" }], {});
    const without = await withServers([{ text: "a" }], { off: { command: "x", disabled: true } });
    await Promise.all([one, seven, none, without].map((each) => each.run()));
    const [tools, same, fewer, fewerToo] = [one, seven, none, without].map(({ server }) =>
      JSON.stringify(parsed(server.rawBodies[0]).tools),
    );
    expect(same).toBe(tools);
    expect(fewerToo).toBe(fewer);
    expect(tools).toContain('"mcp"');
    expect(fewer).not.toContain('"mcp"');
    expect(none.server.rawBodies[0]).not.toMatch(/mcp/i);
  });

  test("a long result is shortened around what is wanted, and whole in its file", async () => {
    const seen = await withServers(
      [{ calls: [mcp("test", "long", { want: "needle" })] }, { text: "found" }],
      { test: testServer() },
    );
    await seen.run(...auto);
    const [result = ""] = seen.results();
    expect(result).toContain("line 31000 needle");
    expect(result.length).toBeLessThan(30_000);
    const path = /whole output: (\S+)\]/.exec(result)?.[1] ?? "";
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(60_000);
  });

  test("wrong arguments, an unknown tool and an unknown server are answered with what is right", async () => {
    const calls = [
      mcp("test", "add", { arguments: { a: "one" } }),
      mcp("test", "subtract"),
      mcp("github", "list"),
    ];
    const seen = await withServers([...calls.map((call) => ({ calls: [call] })), { text: "oh" }], {
      test: testServer(),
    });
    await seen.run(...auto);
    const [wrong, unknown, nobody] = seen.results();
    expect(wrong).toMatch(
      /^Wrong arguments: arguments\.b is missing; arguments\.a must be a number, not a string\./,
    );
    expect(wrong).toContain('"input_schema"');
    expect(unknown).toContain("has no tool subtract. Tools: add, environment,");
    expect(nobody).toBe("There is no MCP server github. Servers: test.");
  });

  test("what a schema requires and has a default for may be left out, and the server gets the default", async () => {
    const recorded = join(import.meta.dirname, "../support/mcp-recorded.ts");
    const seen = await withServers(
      [
        { calls: [mcp("browser", "browser_take_screenshot", { arguments: { type: "png" } })] },
        { text: "done" },
      ],
      { browser: { command: process.execPath, args: [recorded, "playwright"] } },
    );
    await seen.run(...auto);
    expect(seen.results()).toEqual(['{"type":"png","scale":"css"}']);
  });

  test("published servers of the older protocol: sums, an image for the model, progress, structured data", async () => {
    const calls = [
      mcp("everything", "get-sum", { arguments: { a: 2, b: 3 } }),
      mcp("everything", "get-tiny-image"),
      mcp("everything", "get-structured-content", { arguments: { location: "New York" } }),
      mcp("memory", "read_graph"),
    ];
    const seen = await withServers([...calls.map((call) => ({ calls: [call] })), { text: "done" }], {
      everything: published("everything", "stdio"),
      memory: published("memory"),
    });
    await seen.run(...auto);
    const [sum, image, structured, graph] = seen.results();
    expect(sum).toContain("5");
    expect(image).toContain('"type":"image"');
    expect(JSON.stringify(parsed(seen.server.rawBodies[2]).messages)).toContain('"media_type":"image/png"');
    expect(structured).toContain("temperature");
    expect(graph).toContain("entities");
  });

  test("a file of 5 MB from the published file server is a view of at most 30 kB, and whole in its artifact", async () => {
    const seen = await withServers(
      [{ calls: [mcp("files", "read_text_file", { arguments: { path: "big.txt" } })] }, { text: "done" }],
      { files: published("filesystem", ".") },
    );
    const whole = Array.from({ length: 250_000 }, (_, line) => `this is line ${line}`).join("\n");
    writeFileSync(join(seen.workspace.cwd, "big.txt"), whole);
    await seen.run(...auto);
    const [view = ""] = seen.results();
    expect(Buffer.byteLength(view)).toBeLessThanOrEqual(30_000);
    const path = /whole output: (\S+)\]/.exec(view)?.[1] ?? "";
    expect(readFileSync(path, "utf8") === whole).toBe(true);
  });
});

describe("what changes", () => {
  test("a changed, a vanished and a new tool are an appended note: no byte that was sent changes", async () => {
    const seen = await withServers(
      [
        { calls: [mcp("test", "add", { arguments: { a: 1, b: 1 } })] },
        { text: "2" },
        { calls: [mcp("test", "fresh")] },
        { calls: [mcp("test", "old")] },
        { text: "done" },
      ],
      {},
    );
    const file = join(seen.workspace.home, "notes");
    const entry = { ...testServer("usual", file), changes: "trusted" };
    writeSettings(seen.workspace, { mcpServers: { test: entry } });
    await seen.run(...auto);
    writeFileSync(`${file}.later`, "");
    await seen.run("-c", ...auto);
    expect(seen.results().slice(1)).toEqual(["here", expect.stringContaining("has no tool old.")]);
    expect(seen.server.rawBodies.at(-1)).toContain("new: fresh; changed: add; gone: old");
    const bodies = seen.server.rawBodies.map((body) => parsed(body).messages.map((one) => plain(one)));
    for (const [at, messages] of bodies.slice(1).entries()) {
      const before = bodies[at] ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
    }
  });
});

/** A message without the marks of the cache. */
const plain = (message: object) =>
  JSON.stringify(message, (key, value) => (key === "cache_control" ? undefined : (value as unknown)));

describe("a server that fails", () => {
  const broken = (kind: string) => ({ test: testServer(kind) });

  test("one that dies at its start is a result that says how, and the session goes on", async () => {
    const seen = await withServers([{ calls: [mcp("test", "add")] }, { text: "on" }], broken("dies"));
    expect((await seen.run(...auto)).stdout).toBe("on\n");
    expect(seen.results()).toEqual([
      "MCP server test cannot be started: ended with exit code 7; its last words: no licence",
    ]);
    expect(readFileSync(join(seen.folder(), "mcp/test.stderr.txt"), "utf8")).toContain("no licence");
  });

  test("a program that is not there is named", async () => {
    const seen = await withServers([{ calls: [mcp("test", "add")] }, { text: "on" }], {
      test: { command: "no-such-program-here" },
    });
    await seen.run(...auto);
    expect(seen.results()[0]).toContain("there is no program no-such-program-here");
  });

  test("rubbish on its output is set aside", async () => {
    const seen = await withServers(
      [{ calls: [mcp("test", "add", { arguments: { a: 1, b: 2 } })] }, { text: "on" }],
      broken("rubbish"),
    );
    await seen.run(...auto);
    expect(seen.results()).toEqual(["3"]);
  });

  test("one that writes without end is stopped", async () => {
    const seen = await withServers([{ calls: [mcp("test", "add")] }, { text: "on" }], broken("flood"));
    await seen.run(...auto);
    expect(seen.results()[0]).toContain("sent a message of more than 64 MB and was stopped");
  });

  test("one that dies in a call is started again by the next", async () => {
    const seen = await withServers(
      [
        { calls: [mcp("test", "die")] },
        { calls: [mcp("test", "add", { arguments: { a: 1, b: 2 } })] },
        { text: "on" },
      ],
      broken("usual"),
    );
    await seen.run(...auto);
    expect(seen.results()).toEqual([
      "MCP server test ended with exit code 3; its last words: a reason to die. The next call starts it again.",
      "3",
    ]);
  });

  test("a call without answer and progress ends after its time, and the server hears it", async () => {
    const heard = { bash: { command: "until grep cancelled ~/notes; do sleep 0.05; done" } };
    const seen = await withServers(
      [{ calls: [mcp("test", "wait")] }, { calls: [heard] }, { text: "on" }],
      {},
    );
    const file = join(seen.workspace.home, "notes");
    writeSettings(seen.workspace, {
      mcpServers: { test: { ...testServer("usual", file), timeoutSeconds: 1 } },
    });
    await seen.run(...auto);
    expect(seen.results()).toEqual(["[no answer and no progress for 1 s: cancelled]", "cancelled"]);
  });

  test("the first request does not wait for one that never answers, and none is left when the run ends", async () => {
    const seen = await withServers([{ text: "at once" }], {});
    const file = join(seen.workspace.home, "notes");
    writeSettings(seen.workspace, { mcpServers: { test: testServer("silent", file) } });
    expect((await seen.run()).stdout).toBe("at once\n");
    await until(() => pidsIn(file).every((pid) => !isAlive(pid)), "the end of the server");
  });
});

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"] as const)("%s leaves no server", async (signal) => {
  const seen = await withServers([{ calls: [mcp("test", "wait")] }, { text: "on" }], {});
  const file = join(seen.workspace.home, "notes");
  writeSettings(seen.workspace, { mcpServers: { test: testServer("usual", file) } });
  const run = start(seen.workspace, ["-p", "go", ...auto]);
  await until(() => existsSync(file) && readFileSync(file, "utf8").includes("waiting"), "the call");
  run.child.kill(signal);
  await run.ended;
  expect(pidsIn(file)).not.toEqual([]);
  await until(() => pidsIn(file).every((pid) => !isAlive(pid)), "the end of the server");
});

describe("permission", () => {
  test("in headless a call is denied with the rule that would allow it, and the rule allows it", async () => {
    const call = { calls: [mcp("test", "add", { arguments: { a: 1, b: 2 } })] };
    const seen = await withServers([call, { text: "no" }, call, { text: "yes" }], { test: testServer() });
    expect((await seen.run()).code).toBe(5);
    expect(seen.results()[0]).toContain("It would be allowed by --allow 'mcp(test/add)'.");
    await seen.run("-c", "--allow", "mcp(test/a*)");
    expect(seen.results()[1]).toBe("3");
  });

  test("the environment of a server has no key of ours, only the usual variables and those of its entry", async () => {
    const seen = await withServers([{ calls: [mcp("test", "add")] }, { text: "on" }], {});
    const file = join(seen.workspace.home, "notes");
    const env = { GIVEN: `$${"{HOME}"}/x`, OTHER: `$${"{NOT_SET:-else}"}` };
    writeSettings(seen.workspace, { mcpServers: { test: { ...testServer("usual", file), env } } });
    await seen.run(...auto);
    const got = JSON.parse(readFileSync(`${file}.env`, "utf8")) as Record<string, string>;
    expect(got).toMatchObject({ GIVEN: `${seen.workspace.home}/x`, OTHER: "else" });
    expect(JSON.stringify(got)).not.toContain("canary");
  });

  test("an entry that cannot be used is told, and the others work", async () => {
    const seen = await withServers([{ text: "on" }], {
      one: { command: `$${"{NOT_SET}"}/server` },
      two: { url: "mcp.example" },
      three: { ...testServer(), evn: {} },
    });
    const { stderr, code } = await seen.run();
    expect(code).toBe(0);
    expect(stderr).toContain("mcpServers.one is not used: the variable NOT_SET is not set");
    expect(stderr).toContain("mcpServers.two is not used: url must begin with https:// or http://");
    expect(stderr).toContain("mcpServers.three has the unknown key evn, which has no effect");
  });
});
