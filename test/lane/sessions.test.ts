/** Sessions of several steps on each wire: real commands, and what the server says of its cache. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resultText } from "../../src/core/blocks.ts";
import { allOf } from "../../src/core/questions.ts";
import { start } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";
import { hold } from "./held.ts";
import { events, laneWorkspace, servers, task, wires } from "./lane.ts";

const commands = ["ls", "cat notes.txt", "wc -l notes.txt", "echo more >> notes.txt", "tail -n 1 notes.txt"];
const outputs = ["notes.txt", "first\nsecond", "2 notes.txt", "", "more"];

test.each(wires)(
  "five steps over $name: every command runs, and the cache is read from the second request on",
  async (wire) => {
    const { url, exchanges } = await hold(servers().wide.url, { commands });
    const workspace = laneWorkspace(wire, url);
    writeFileSync(join(workspace.cwd, "notes.txt"), "first\nsecond\n");
    const { code, stdout } = await start(workspace, task(wire, "Look at the notes.")).ended;
    expect({ code, statuses: exchanges.map(({ status }) => status) }).toEqual({
      code: 0,
      statuses: Array.from({ length: 6 }, () => 200),
    });
    expect(stdout).toContain("I looked at");
    const log = events(workspace);
    const results = allOf(log, "tool_result").map(({ content }) => resultText(content).trim());
    for (const [index, output] of outputs.entries()) expect(results[index]).toContain(output);
    const read = allOf(log, "assistant_message").map(({ usage }) => usage.cacheReadTokens);
    expect(read).toHaveLength(6);
    expect(read.slice(1).filter((tokens) => tokens === 0)).toEqual([]);
    // Each request begins with all of the one before it, so at least that is read.
    expect(read.slice(1)).toEqual(read.slice(1).toSorted((a, b) => a - b));
  },
);

test.each(wires)(
  "kill -9 in the middle of a reply over $name: the session goes on, and nothing is run twice",
  async (wire) => {
    const { url, exchanges } = await hold(servers().wide.url, { commands: commands.slice(0, 3) });
    const workspace = laneWorkspace(wire, url);
    writeFileSync(join(workspace.cwd, "notes.txt"), "first\nsecond\n");
    const run = start(workspace, task(wire, "Look at the notes."));
    await until(() => (exchanges[1]?.answer ?? "").includes("data:"));
    run.child.kill("SIGKILL");
    await run.ended;
    const before = exchanges.length;
    const { code } = await start(workspace, [...task(wire, "Go on."), "-c"]).ended;
    expect({ code, refused: exchanges.filter(({ status }) => status !== 200) }).toEqual({
      code: 0,
      refused: [],
    });
    const log = events(workspace);
    const ran = allOf(log, "assistant_message").flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === "tool_use" ? [(block.input as { command: string }).command] : [],
      ),
    );
    expect(ran).toEqual(commands.slice(0, 3));
    expect(exchanges.length).toBeGreaterThan(before);
  },
);
