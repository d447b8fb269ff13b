/** Tools of servers as commands of the shell: `mcp server tool key=value | jq`, in real bash. */

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sawtooth, start, writeSettings } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { published, testServer, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const bash = (command: string, more: object = {}) => ({ calls: [{ bash: { command, ...more } }] });

test("a call is a command of the shell: in a pipe, a loop and a substitution, with typed arguments", async () => {
  const seen = await withServers(
    [
      bash("mcp test add a=20 b:=22"),
      bash("for n in 1 2 3; do mcp test add a=$n b=10; done | paste -sd+"),
      bash('sum=$(mcp test add a=1 b=2) && echo "sum $sum"'),
      bash(`mcp test add --json '{"a": 1}' b=5; echo '{"a": 3, "b": 4}' | mcp test add -`),
      bash("mcp test long | grep needle"),
      { text: "done" },
    ],
    { test: testServer() },
  );
  const { code, stderr } = await seen.run(...auto);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(seen.results()).toEqual(["42", "11+12+13", "sum 3", "6\n7", "line 31000 needle"]);
  const called = seen.events().flatMap((event) => (event.type === "mcp_called" ? [event] : []));
  expect(called).toHaveLength(8);
  expect(called[0]).toMatchObject({ server: "test", tool: "add", outcome: "ok", bytes: 3 });
  const report = await sawtooth(seen.workspace, ["report"]);
  expect(report.stdout).toMatch(
    /^MCP tools called by commands +calls +failed +bytes\n {2}test\/add +7 +0 +\d+\n/m,
  );
  const exported = await sawtooth(seen.workspace, ["sessions", "export"]);
  expect(exported.stdout).toContain("MCP: a command called test/add: answered in ");
});

describe("a call that nobody allowed", () => {
  test("in a script, a variable or a function of an earlier command is refused with why, and the server not asked", async () => {
    const seen = await withServers(
      [
        bash("bash x.sh"),
        bash('echo sure; python3 -c \'import os; os.system("mcp test " + "add a=1 b=2")\''),
        bash("add() { mcp test add a=1 b=2; }; add"),
        bash("add"),
        bash("s=test; $(echo mcp) test add a=1 b=2"),
        { text: "done" },
      ],
      {},
    );
    const file = join(seen.workspace.home, "notes");
    writeSettings(seen.workspace, { mcpServers: { test: testServer("usual", file) } });
    writeFileSync(join(seen.workspace.cwd, "x.sh"), "mcp test add a=1 b=2\n");
    await seen.run(...auto);
    const [script, python, here, later, variable] = seen.results();
    const why = "mcp: refused: the command that runs does not name this call. Write `mcp test add …`";
    for (const refused of [script, python, later, variable]) expect(refused).toContain(why);
    expect(here).toBe("3");
    const outcomes = seen.events().flatMap((event) => (event.type === "mcp_called" ? [event.outcome] : []));
    expect(outcomes).toEqual(["refused", "refused", "ok", "refused", "refused"]);
  });

  test("is judged with its command: denied with the rule that would allow it, and allowed by that rule", async () => {
    const call = bash("mcp test add a=1 b=2 | cat");
    const unclear = bash('t=add; mcp test "$t" a=1 b=2');
    const seen = await withServers([call, { text: "no" }, call, unclear, { text: "yes" }], {
      test: testServer(),
    });
    expect((await seen.run()).code).toBe(5);
    expect(seen.results()[0]).toContain("It would be allowed by --allow 'mcp(test/add)'.");
    await seen.run("-c", "--allow", "mcp(test/a*)");
    expect(seen.results()[1]).toBe("3");
    expect(seen.results()[2]).toContain(
      'both names are written out, as in mcp test tool; this says mcp test "$t"',
    );
  });

  test("after its command has ended there is no call, and in the background as long as the job runs", async () => {
    const seen = await withServers(
      [
        bash(
          "(until [ -e next ]; do sleep 0.05; done; mcp test add a=1 b=2 >late 2>&1; touch ended) >/dev/null 2>&1 &",
        ),
        bash("touch next; until [ -e ended ]; do sleep 0.05; done; cat late"),
        bash("sleep 0.3; mcp test add a=1 b=2 >inside 2>&1; touch done", { background: true }),
        bash("until [ -e done ]; do sleep 0.05; done; cat inside"),
        { text: "done" },
      ],
      { test: testServer() },
    );
    await seen.run(...auto);
    const [, late, , inside] = seen.results();
    expect(late).toContain("refused: the command that runs does not name this call");
    expect(inside).toBe("3");
  });
});

describe("what a command prints", () => {
  test("lists of servers and tools, and a schema, without permission", async () => {
    const commands = ["mcp", "mcp test", "mcp test add --help"];
    const seen = await withServers([...commands.map((one) => bash(one)), { text: "done" }], {
      test: testServer(),
    });
    await seen.run("--permission-mode", "plan");
    const [servers = "", tools = "", schema = ""] = seen.results();
    expect(servers).toMatch(/^test: schemas in \S+\/mcp\/test\/\nUsage: mcp SERVER TOOL/);
    expect(tools.split("\n")[0]).toBe("add  Adds two numbers.");
    expect(schema).toContain('"input_schema"');
  });

  test("an error on standard error with exit code 1, and the schema where arguments are wrong", async () => {
    const commands = [
      "mcp test add a=1 2>/dev/null; echo $?",
      "mcp test add a=one b=2",
      "mcp test add nonsense",
      "mcp test subtract",
      "mcp test die",
      "mcp nobody list",
    ];
    const seen = await withServers([...commands.map((one) => bash(one)), { text: "done" }], {
      test: testServer(),
    });
    await seen.run(...auto);
    const [quiet, wrong, nonsense, unknown, died, nobody] = seen.results();
    expect(quiet).toBe("1");
    expect(wrong).toMatch(
      /^mcp: Wrong arguments: arguments\.a must be a number, not a string\.\n[\s\S]*"input_schema"/,
    );
    expect(nonsense).toMatch(
      /^mcp: "nonsense" is no argument. Usage: mcp SERVER[^\n]*\n[\s\S]*"input_schema"/,
    );
    expect(unknown).toContain("has no tool subtract. Tools: add,");
    expect(died).toContain(
      "mcp: MCP server test ended with exit code 3; its last words: a reason to die. The next call starts it again.",
    );
    expect(nobody).toContain("mcp: there is no MCP server nobody. Servers: test");
  });

  test("data as JSON, an image as a file, a text of 3 MB whole", async () => {
    const seen = await withServers(
      [
        bash("mcp everything get-structured-content location='New York' | tr -d ' \\n'"),
        bash("mcp everything get-tiny-image"),
        bash("mcp test long > whole; wc -l < whole; mcp test long | head -1"),
        { text: "done" },
      ],
      { everything: published("everything", "stdio"), test: testServer() },
    );
    await seen.run(...auto);
    const [data = "", image = "", whole = ""] = seen.results();
    expect(JSON.parse(data)).toHaveProperty("temperature");
    const [, bytes, path = ""] = /\[image\/png, (\d+) bytes: (\S+)\]/.exec(image) ?? [];
    expect(statSync(path).size).toBe(Number(bytes));
    expect(whole.split("\n")).toEqual(["60000", "line 0 hay"]);
  });
});

describe("a call that does not end by itself", () => {
  const waiting = async (turns: Parameters<typeof withServers>[0]) => {
    const seen = await withServers(turns, {});
    const file = join(seen.workspace.home, "notes");
    writeSettings(seen.workspace, { mcpServers: { test: testServer("usual", file) } });
    return { seen, notes: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
  };

  test("is cancelled at the server when its process, its command or its session ends", async () => {
    const killed =
      "mcp test wait & until grep -q waiting ~/notes; do sleep 0.05; done; { kill $!; wait $!; } 2>/dev/null; echo $?";
    const { seen, notes } = await waiting((_, index) => {
      if (index === 0) return bash(killed);
      // Again with a longer limit while a busy machine left the call no time to reach its server.
      const isOver = notes().match(/waiting/g)?.length === 2;
      return isOver ? { text: "done" } : bash("mcp test wait", { timeout_s: 2 * 5 ** (index - 1) });
    });
    await seen.run(...auto);
    expect(seen.results()[0]).toBe("143");
    expect(seen.results().at(-1)).toMatch(/timed out after \d+ s/);
    await until(() => notes().match(/cancelled/g)?.length === 2, "both cancellations");
    const outcomes = seen.events().flatMap((event) => (event.type === "mcp_called" ? [event.outcome] : []));
    expect(outcomes).toEqual(["cancelled", "cancelled"]);
  });

  test("ends with the program, whatever ended it", async () => {
    const { seen, notes } = await waiting([bash("mcp test wait"), { text: "done" }]);
    const run = start(seen.workspace, ["-p", "go", ...auto]);
    await until(() => notes().includes("waiting"), "the call");
    run.child.kill("SIGINT");
    await run.ended;
    await until(() => notes().includes("cancelled"), "the cancellation");
  });

  test("twenty at once are answered each with its own", async () => {
    const { seen } = await waiting([
      bash("for n in $(seq 20); do mcp test add a=$n b=1000 & done; wait"),
      { text: "done" },
    ]);
    await seen.run(...auto);
    const sums = Array.from({ length: 20 }, (_, at) => String(1001 + at));
    expect(seen.results()[0]?.split("\n").sort()).toEqual(sums);
  });
});

describe("the program", () => {
  test("gives way to another of its name for words that are no server", async () => {
    const seen = await withServers([bash("mcp dev server.py"), { text: "done" }], { test: testServer() });
    const bin = join(seen.workspace.home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "mcp"), '#!/bin/sh\necho "another: $*"\n');
    chmodSync(join(bin, "mcp"), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}` };
    await sawtooth(seen.workspace, ["-p", "go", ...auto], { env });
    expect(seen.results()).toEqual(["another: dev server.py"]);
  });

  test("is not there without servers, nor is anything of it made", async () => {
    const seen = await withServers([bash("mcp test add; echo $PATH"), { text: "done" }], {});
    await seen.run(...auto);
    expect(seen.results()[0]).toContain("mcp: command not found");
    expect(seen.results()[0]).not.toContain("shell/in/bin");
    expect(existsSync(join(seen.folder(), "shell/in/bin"))).toBe(false);
  });

  test("and its socket are for their owner alone", async () => {
    const seen = await withServers([bash("stat -c '%a' $(dirname $(command -v mcp))/*"), { text: "done" }], {
      test: testServer(),
    });
    await seen.run(...auto);
    expect(seen.results()).toEqual(["500\n600"]);
  });
});
