import { execFileSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import type { Turn } from "../../src/models/script.ts";
import { startMockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { makePlace, sawtooth } from "../support/sawtooth.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

/** Makes a needle that nobody knows beforehand, buries it, and later finds it only by what the request says. */
function seeker(steps: number): (body: WireBody, index: number) => Turn {
  return (body, index) => {
    const text = JSON.stringify(body.messages);
    if (text.includes("Stop working for a moment")) return { text: "Facts: none." };
    if (index === 0) return { calls: [{ bash: { command: "ls -la" } }] };
    if (index === 1)
      return { calls: [{ bash: { command: "seq 1 3000; echo NEEDLE-$RANDOM$RANDOM; seq 1 3000" } }] };
    if (index < steps)
      return { thinking: `step ${index}`, calls: [{ bash: { command: `seq ${index} ${index + 900}` } }] };
    const found = /NEEDLE-\d+/.exec(JSON.stringify(body.messages.at(-1)));
    if (found) return { text: `it was ${found[0]}` };
    expect(text).not.toMatch(/NEEDLE-\d/);
    const file = /(\/[^\s"\\]*artifacts\/000002\.txt)/.exec(text)?.[1];
    return file
      ? { calls: [{ bash: { command: `grep -o 'NEEDLE-[0-9]*' ${file}` } }] }
      : { text: "it is lost" };
  };
}

test.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])(
  "what was forgotten is found again in the files, on %s",
  async (id) => {
    const server = await startMockServer({ turns: seeker(40) });
    const place = makePlace(server.url);
    cleanups.push(() => server.close(), place.remove);
    const words = [
      "-p",
      "find it",
      "--model",
      `anthropic/${id}`,
      "--permission-mode",
      "auto",
      "--window",
      "20000",
    ];
    const { stdout, code } = await sawtooth(place, words);
    expect(code).toBe(0);
    const needle = execFileSync(
      "grep",
      ["-rhoE", "NEEDLE-[0-9]+", place.env.SAWTOOTH_HOME ?? "", "--include=000002.txt"],
      {
        encoding: "utf8",
      },
    ).trim();
    expect(stdout.trim()).toBe(`it was ${needle}`);
    expect(server.exchanges.filter((exchange) => exchange.status !== 200)).toEqual([]);
  },
);
