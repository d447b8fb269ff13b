/** Servers in a sandbox of their own: the walls of commands, and the variables that the person gave. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noBubblewrap } from "../network/inside.ts";
import { sawtooth, writeSettings } from "../support/sawtooth.ts";
import { mcp, testServer, withServers } from "./session.ts";

test.skipIf(noBubblewrap())(
  "a server runs behind the walls of commands, with the secret of its entry and none of ours",
  async () => {
    const path = "../home/.ssh/id_ed25519";
    const reads = ["test", "open"].map((name) => mcp(name, "read", { arguments: { path } }));
    const calls = [mcp("test", "environment"), ...reads].map((call) => ({ calls: [call] }));
    const seen = await withServers([...calls, { text: "on" }], {});
    const { workspace } = seen;
    mkdirSync(join(workspace.home, ".ssh"));
    writeFileSync(join(workspace.cwd, path), "the key");
    const test = { ...testServer(), env: { GITHUB_TOKEN: "$" + "{GITHUB_TOKEN}" } };
    const open = { ...testServer(), sandbox: false };
    writeSettings(workspace, { mcpServers: { test, open }, sandbox: undefined });
    const env = { GITHUB_TOKEN: "given-7c1d" };
    const { code } = await sawtooth(workspace, ["-p", "go", "--permission-mode", "auto"], { env });
    expect(code).toBe(0);
    const [environment = "{}", hidden, shown] = seen.results();
    // The value is one of ours too, and never reaches the model.
    expect(JSON.parse(environment)).toMatchObject({
      GITHUB_TOKEN: "[redacted:GITHUB_TOKEN]",
      TMPDIR: "/tmp",
    });
    expect(environment).not.toContain("sk-canary-7f3a");
    expect(hidden).not.toContain("the key");
    expect(shown).toBe("the key");
  },
);
