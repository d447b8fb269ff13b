/** The cost of a server in the window, in `sawtooth report` and `/context`. */

import { expect, onTestFinished, test } from "vitest";
import { drive } from "../support/pty-drive.ts";
import { sawtooth } from "../support/sawtooth.ts";
import { mcp, testServer, withServers } from "./session.ts";

test("the report and /context have catalogue, schemas read and results of each server", async () => {
  const seen = await withServers(
    [
      { calls: [mcp("test", "add", { arguments: { a: 1, b: 2 } })] },
      {
        calls: [
          {
            bash: {
              command:
                'cat "$SAWTOOTH_STATE"/mcp/test/add.json ../home/sawtooth/state/sessions/*/*/mcp/test/*.json',
            },
          },
        ],
      },
      { calls: [mcp("test", "long", { want: "needle" })] },
      { text: "done" },
      { text: "again" },
    ],
    { test: testServer(), silent: testServer("silent") },
  );
  await seen.run("--permission-mode", "auto");
  const { stdout } = await sawtooth(seen.workspace, ["report"]);
  const [, catalogue, schemas, results] = /\n {2}test +(\d+) +([\d,]+) +([\d,]+)\n/.exec(stdout) ?? [];
  const number = (text = "") => Number(text.replace(",", ""));
  expect(number(catalogue)).toBeGreaterThan(20);
  expect(number(schemas)).toBeGreaterThan(150);
  expect(number(results)).toBeGreaterThan(1000);
  const terminal = drive(seen.workspace, ["-c"], { rows: 50, columns: 120 });
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("/context\r");
  await terminal.until(`catalogue ${catalogue}, schemas read ${schemas}, results ${results} tokens`);
});

test("a session without servers has no such rows", async () => {
  const seen = await withServers([{ text: "done" }], {});
  await seen.run();
  expect((await sawtooth(seen.workspace, ["report"])).stdout).not.toContain("MCP");
});
