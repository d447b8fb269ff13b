/** A window that turned out smaller than the card says stays known for as long as the session and the card do. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { jsonLines, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";

const window = 24_000;
const id = "claude-opus-5-5";
const auto = ["--permission-mode", "auto", "--model", id];

/** The windows of the models that the log went on with, in order. */
function windows({ home }: Workspace): number[] {
  const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: home });
  const events = jsonLines(readFileSync(join(home, file), "utf8")) as LogEvent[];
  return events.flatMap((event) => (event.type === "model_changed" ? [event.model.window] : []));
}

test("a resumed session keeps the window that it learned; a new one in the settings takes its place", async () => {
  const turns = (_: object, index: number) =>
    index < 6 ? { calls: [bash(`seq ${index} 3000`)] } : { text: "done" };
  const { server, workspace } = await serve(turns, { models: { [id]: { window } } });
  const first = await sawtooth(workspace, ["-p", "count", ...auto]);
  expect(first.code, first.stderr).toBe(0);
  const learned = windows(workspace);
  expect(learned.length).toBeGreaterThan(0);
  expect(learned.at(-1)).toBeLessThanOrEqual(window);
  const refused = () => server.exchanges.filter(({ status }) => status === 400).length;
  const before = refused();
  expect(before).toBe(learned.length);

  expect(await sawtooth(workspace, ["-p", "and?", "-c", ...auto])).toMatchObject({ code: 0 });
  expect(windows(workspace)).toEqual(learned);
  expect(refused()).toBe(before);

  writeSettings(workspace, { models: { [`anthropic/${id}`]: { window: 200_000 } } });
  expect(await sawtooth(workspace, ["-p", "more?", "-c", ...auto])).toMatchObject({ code: 0 });
  expect(windows(workspace)).toEqual([...learned, 200_000]);
});
