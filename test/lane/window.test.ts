/** Prompts that do not fit into the server's window. */

import { expect, test } from "vitest";
import { start } from "../support/sawtooth.ts";
import { hold } from "./held.ts";
import { gateway, laneWorkspace, servers, task, wires } from "./lane.ts";

const long = Array.from({ length: 400 }, (_, number) => `the number ${number} is next`).join(", ");

test.each(wires)("a window that is too small is told over $name before anything is sent", async (wire) => {
  const { url, exchanges } = await hold(servers().narrow.url);
  const { code, stderr } = await start(laneWorkspace(wire, url), task(wire, "Hello.")).ended;
  expect({ code, exchanges }).toEqual({ code: 2, exchanges: [] });
  expect(stderr.trim().split("\n").at(-1)).toMatch(
    /system prompt and tools alone take about \d+ tokens of a window/,
  );
});

test("a prompt that the server refuses as too long is told in one line", async () => {
  const { url, exchanges } = await hold(servers().narrow.url);
  const workspace = laneWorkspace(gateway, url);
  const { code, stdout, stderr } = await start(workspace, ["-p", long, "--model", gateway.model]).ended;
  expect({ code, stdout: stdout.trim(), statuses: exchanges.map(({ status }) => status) }).toEqual({
    ...{ code: 1, stdout: "" },
    statuses: [400],
  });
  const lines = stderr
    .trim()
    .split("\n")
    .filter((line) => !line.includes("is not a known model"));
  expect(lines).toEqual([expect.stringMatching(/^sawtooth: the context is full .* of 2048 tokens/)]);
});
