import { afterEach, expect, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { drive } from "../support/pty-drive.ts";
import { makePlace } from "../support/sawtooth.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("--plain tells each row once, asks by number, and writes no escape at all", async () => {
  const calls = [{ bash: { command: "echo made > made.txt" } }];
  const server = await startMockServer({ turns: [{ text: "I look.", calls }, { text: "All done." }] });
  const place = makePlace(server.url);
  const terminal = drive(place, ["--plain"]);
  cleanups.push(
    () => server.close(),
    place.remove,
    () => terminal.kill(),
  );
  await terminal.until("/help");
  terminal.send("go\r");
  await terminal.until("Answer with a number.");
  terminal.send("1\r");
  await terminal.until("ready");
  const text = terminal.whole().join("\n");
  for (const once of ["I look.", "Run this command?", "✓ bash", "All done."])
    expect(text.split(once)).toHaveLength(2);
  terminal.send("/context\r");
  await terminal.until("The largest items");
  terminal.send("\x04");
  const { code } = await terminal.ended;
  expect(code).toBe(0);
  expect(terminal.raw()).not.toContain("\x1b");
});
