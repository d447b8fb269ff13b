/** Tools of servers as commands inside of the sandbox: the program reaches its session, and no other socket. */

import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listenForCommands } from "../../src/mcp/shell/listener.ts";
import { landlockStatus, probeLandlock } from "../../src/sandbox/landlock.ts";
import { noBubblewrap } from "../network/inside.ts";
import { openInside } from "../sandbox/session.ts";
import { writeSettings } from "../support/sawtooth.ts";
import { testServer, withServers } from "./session.ts";

const bash = (input: Record<string, unknown>) => ({ calls: [{ bash: input }] });
const connects = (path: string) =>
  `perl -MSocket -e 'socket(my $s, 1, 1, 0); print connect($s, pack_sockaddr_un("${path}")) ? "open" : "closed"'`;

test.skipIf(noBubblewrap())(
  "a command inside calls a tool, also in a sandbox that was started anew; another socket stays closed",
  async () => {
    const call = { command: "mcp test add a=1 b=2; mcp test environment | tr , '\\n' | grep TMPDIR" };
    const seen = await withServers(
      [
        bash(call),
        bash({ restart: true }),
        bash(call),
        bash({ command: `id -u >/dev/null; test -d /proc/1/root && ${connects("./s")}` }),
        bash({ command: `mcp test read path="$(command -v mcp)"; ls "$(dirname "$(command -v mcp)")"` }),
        bash({ command: "bash x.sh; mcp test add a=1 b=2 </dev/null & wait" }),
        { text: "done" },
      ],
      {},
    );
    const { workspace } = seen;
    writeSettings(workspace, { mcpServers: { test: testServer() }, sandbox: "on" });
    const foreign = createServer(() => {});
    await new Promise<void>((resolve) => foreign.listen(join(workspace.cwd, "s"), resolve));
    const { code, stderr } = await seen.run("--permission-mode", "auto");
    foreign.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [first, , again, other, hidden, last] = seen.results();
    expect(first).toMatch(/^3\n.*TMPDIR":"\/tmp"/);
    expect(again).toBe(first);
    expect(other).toBe("closed");
    // A server sees neither the program nor its socket.
    expect(hidden).toContain("no such file or directory");
    expect(hidden).toMatch(/\nmcp\nsocket$/);
    expect(last).toContain("3");
  },
);

const landlock = await probeLandlock();

test.skipIf("reason" in landlock)("with Landlock alone a command reaches its session too", async () => {
  if ("reason" in landlock) return;
  const engine = { name: "landlock" as const, status: landlockStatus(landlock), landlock };
  const session = openInside({}, { engine });
  onTestFinished(session.close);
  const folder = join(session.state, "shell/in/bin");
  const listener = await listenForCommands(folder, async ({ words }) => ({
    ...{ out: `${words.join("+")}\n`, errors: "", code: 0 },
  }));
  expect(await session.run(`cd / && ${folder}/mcp test add a=1`)).toBe("test+add+a=1");
  listener.close();
});
