/** Prompts that do not fit into the server's window, and what is forgotten before it is full. */

import { expect, test } from "vitest";
import { inputTotal, noUsage } from "../../src/core/model-card.ts";
import { allOf } from "../../src/core/questions.ts";
import { start } from "../support/sawtooth.ts";
import { hold } from "./held.ts";
import { chat, events, gateway, laneWorkspace, servers, task, wires } from "./lane.ts";

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

test("an edit costs what the economist expected: what comes before it is read from the cache, and nothing after it", async () => {
  const words = "information about the government and the international development of the environment";
  const commands = Array.from(
    { length: 6 },
    (_, at) => `printf '${words} %s\\n' $(seq ${at * 12} ${at * 12 + 11})`,
  );
  const { url, exchanges } = await hold(servers().wide.url, { commands });
  const prices = { input: 1, output: 1, cacheRead: 0.5, cacheWrite5m: 0, cacheWrite1h: 0 };
  const engine = { maskKeep: 1, minFlush: 1, quietSteps: 0, quietTokens: 0 };
  const workspace = laneWorkspace(chat, url, { engine, models: { [chat.model]: { prices } } });
  const { code } = await start(workspace, task(chat, "Count.")).ended;
  expect({ code, refused: exchanges.filter(({ status }) => status !== 200) }).toEqual({
    code: 0,
    refused: [],
  });
  const log = events(workspace);
  const replies = allOf(log, "assistant_message");
  const [edit] = allOf(log, "context_edited");
  const first = Math.min(...(edit?.edits ?? []).flatMap((one) => (one.type === "replace" ? [one.seq] : [])));
  const before = replies.findLast(({ seq }) => seq < first)?.usage ?? noUsage;
  const after = replies.find(({ seq }) => seq > (edit?.seq ?? Number.POSITIVE_INFINITY))?.usage ?? noUsage;
  // Up to the call whose result is the first that was masked, and a few signs around it.
  expect(after.cacheReadTokens).toBeGreaterThan(inputTotal(before) - 40);
  expect(after.cacheReadTokens).toBeLessThan(inputTotal(before) + before.outputTokens + 60);
});
