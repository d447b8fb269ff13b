import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makePlace, sawtooth, start } from "../support/sawtooth.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

test("processes that a killed run left are reported at the next start, with how to end them", async () => {
  const server = await startMockServer({
    turns: [
      { calls: [{ bash: { command: "setsid sleep 300" } }] },
      { fault: { delayMs: 800 }, text: "hello" },
    ],
  });
  const place = makePlace(server.url);
  cleanups.push(() => server.close(), place.remove);
  const run = start(place, ["-p", "go", "--permission-mode", "auto", "--output-format", "stream-json"]);
  while (!run.stdout().includes('"assistant"')) await delay(50);
  await delay(700);
  run.child.kill("SIGKILL");
  await run.ended;
  const { stderr, code } = await sawtooth(place, ["-p", "hi"]);
  expect(code).toBe(0);
  const pid = Number(/left processes:.*?(\d+) sleep 300/.exec(stderr)?.[1]);
  expect(pid).toBeGreaterThan(1);
  expect(stderr).toContain("doctor --clean");
  process.kill(pid, "SIGKILL");
});

test("a shell without a terminal says so once", async () => {
  const server = await startMockServer({
    turns: [
      { calls: [{ bash: { command: "echo one" } }] },
      { calls: [{ bash: { command: "echo two" } }] },
      { text: "ok" },
    ],
  });
  const place = makePlace(server.url);
  cleanups.push(() => server.close(), place.remove);
  const { stderr, stdout } = await sawtooth(place, ["-p", "go", "--permission-mode", "auto"], {
    env: { SAWTOOTH_PTY: "off" },
  });
  expect(stdout).toBe("ok\n");
  expect(stderr.match(/commands run on pipes/g)).toHaveLength(1);
});
