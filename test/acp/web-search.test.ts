/** Searches of a provider in an editor. */

import { expect, test } from "vitest";
import { writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { editor } from "./editor.ts";

test("a search of the provider is a call that is over, with the pages that it found", async () => {
  const found = ["https://docs.example/regex"];
  const { workspace } = await serve([{ searches: [{ query: "look-around", found }], text: "It has none." }]);
  writeSettings(workspace, { webSearch: true });
  const one = await editor(workspace);
  const id = await one.open();
  await one.say(id, "look-around?");
  const told = {
    ...{ sessionUpdate: "tool_call", kind: "search", status: "completed" },
    title: 'web search "look-around": 1 result (docs.example)',
  };
  const calls = () => one.updates(id).filter(({ toolCallId }) => toolCallId);
  expect(calls()).toEqual([expect.objectContaining(told)]);
  expect(JSON.stringify(calls())).toContain("About https://docs.example/regex");
  await one.close();
});
