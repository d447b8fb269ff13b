/** One context edit, and what the server's cache makes of it. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inputTotal, noUsage } from "../../src/core/model-card.ts";
import { allOf } from "../../src/core/questions.ts";
import { start } from "../support/sawtooth.ts";
import { hold } from "./held.ts";
import { chat, events, laneWorkspace, servers, task } from "./lane.ts";

test("an edit costs what the economist expected: what comes before it is read from the cache, and nothing after it", async () => {
  const files = ["one", "two", "three", "four", "five"];
  const { url, exchanges } = await hold(servers().wide.url, {
    commands: files.map((file) => `cat ${file}.txt`),
  });
  const prices = { input: 1, output: 1, cacheRead: 0.5, cacheWrite5m: 0, cacheWrite1h: 0 };
  const engine = { maskKeep: 1, minFlush: 1, quietSteps: 0, quietTokens: 0 };
  const workspace = laneWorkspace(chat, url, { engine, models: { [chat.model]: { prices } } });
  for (const file of files) {
    const lines = Array.from({ length: 14 }, (_, at) => `${file} ${at}: information about the environment`);
    writeFileSync(join(workspace.cwd, `${file}.txt`), `${lines.join("\n")}\n`);
  }
  const { code } = await start(workspace, task(chat, "Read the files.")).ended;
  expect({ code, refused: exchanges.filter(({ status }) => status !== 200) }).toEqual({
    code: 0,
    refused: [],
  });
  const log = events(workspace);
  const replies = allOf(log, "assistant_message");
  const [edit] = allOf(log, "context_edited");
  expect({ reason: edit?.economics.reason, edits: edit?.edits.length }).toEqual({
    reason: "break-even",
    edits: 2,
  });
  const first = Math.min(...(edit?.edits ?? []).flatMap((one) => (one.type === "replace" ? [one.seq] : [])));
  const before = replies.findLast(({ seq }) => seq < first)?.usage ?? noUsage;
  const after = replies.find(({ seq }) => seq > (edit?.seq ?? Number.POSITIVE_INFINITY))?.usage ?? noUsage;
  // Up to the call whose result is the first that was masked, and a few signs around it.
  expect(after.cacheReadTokens).toBeGreaterThan(inputTotal(before) - 40);
  expect(after.cacheReadTokens).toBeLessThan(inputTotal(before) + before.outputTokens + 60);
  // One step later everything is read again.
  expect(replies.at(-1)?.usage.cacheReadTokens).toBeGreaterThan(inputTotal(after) - 40);
});
