/** A real reply that goes round in circles is cut, at the server too. */

import { expect, test } from "vitest";
import { allOf, lastOf } from "../../src/core/questions.ts";
import { start } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { hold } from "./held.ts";
import { chat, events, laneWorkspace, patiently, servers, task } from "./lane.ts";

/** Lines that differ in a word, which the model chooses. */
const grammar =
  'root ::= ("Information about the " ("government" | "development" | "environment") " department and international communication.\\n")+';

test("lines that differ in a word are cut as repetition, and the reply is not kept", async () => {
  const { url, exchanges } = await hold(servers().wide.url, {
    fields: { grammar, tools: [], max_tokens: 3000 },
  });
  const workspace = laneWorkspace(chat, url);
  const run = start(workspace, task(chat, "Tell me more."));
  await patiently(() => exchanges[0]?.cut === true);
  await until(() => exchanges.length > 1, "the next try");
  run.child.kill("SIGINT");
  await run.ended;
  expect(lastOf(events(workspace), "warning")?.code).toBe("reply_repeated");
  expect(
    allOf(events(workspace), "assistant_message").filter(({ stopReason }) => stopReason !== "interrupted"),
  ).toEqual([]);
  // Each token is a line of the stream.
  expect(exchanges[0]?.answer.split("data:").length).toBeLessThan(1000);
});
