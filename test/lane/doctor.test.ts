/** The windows of the servers, as they are told before anything is asked of the model. */

import { expect, test } from "vitest";
import { sawtooth } from "../support/sawtooth.ts";
import { chat, laneWorkspace, servers } from "./lane.ts";

test.each([
  ["narrow", "2,048"],
  ["wide", "8,192"],
] as const)("doctor tells the window of the %s server", async (name, window) => {
  const workspace = laneWorkspace(chat, servers()[name].url);
  const { code, stdout } = await sawtooth(workspace, ["doctor"]);
  expect(stdout).toContain(`tinyllama ${window} tokens`);
  expect(code).toBe(0);
});
