/** An interrupt reaches the server, which stops working on the reply. */

import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { lastOf } from "../../src/core/questions.ts";
import { drive } from "../support/pty-drive.ts";
import { start } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { type Exchange, hold } from "./held.ts";
import { events, laneWorkspace, servers, task, wires } from "./lane.ts";

/** The server looks once a second whether somebody still listens; the rest is for a busy machine. */
const limit = 1500;
/** Tokens that the server would write if it was let. */
const many = { max_tokens: 1500, max_output_tokens: 1500, ignore_eos: true };
const pieces = ({ answer }: Exchange): number => answer.split("data:").length - 1;

/** Waits for some of the reply, interrupts, and returns milliseconds until the server's log says that it stopped. */
async function stoppedAfter(exchanges: readonly Exchange[], interrupt: () => void): Promise<number> {
  const { log } = servers().wide;
  await until(() => exchanges.some((one) => pieces(one) > 8), "the beginning of a reply");
  const before = readFileSync(log, "utf8").length;
  const at = performance.now();
  interrupt();
  await until(() => readFileSync(log, "utf8").slice(before).includes("cancel task"), "the end of the task");
  return Math.round(performance.now() - at);
}

test.each(wires)("an interrupt over $name ends the task at the server", async (wire) => {
  const { url, exchanges } = await hold(servers().wide.url, { fields: many });
  const workspace = laneWorkspace(wire, url);
  const run = start(workspace, task(wire, "Tell a long story."));
  const ms = await stoppedAfter(exchanges, () => run.child.kill("SIGINT"));
  expect((await run.ended).code).toBe(130);
  expect(exchanges.map(({ cut }) => cut)).toEqual([true]);
  // What was said so far is kept.
  expect(lastOf(events(workspace), "assistant_message")?.stopReason).toBe("interrupted");
  expect(ms).toBeLessThan(limit);
});

test.each(wires)("Esc over $name ends the task at the server, and the session waits", async (wire) => {
  const { url, exchanges } = await hold(servers().wide.url, { fields: many });
  const workspace = laneWorkspace(wire, url);
  const terminal = drive(workspace, ["--model", wire.model]);
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  terminal.send("Tell a long story.\r");
  const ms = await stoppedAfter(exchanges, () => terminal.send("\x1b"));
  await terminal.until("nterrupted");
  expect(lastOf(events(workspace), "turn_ended")?.reason).toBe("interrupted");
  expect(ms).toBeLessThan(limit);
});
