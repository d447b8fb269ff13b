/** Permissions over recordings: the calls of a log judged again. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importRecording } from "../../../src/lab/recordings/import.ts";
import { recordingsIn } from "../../../src/lab/replay/jobs.ts";
import { countDecisions, judgeCalls, recordedCalls } from "../../../src/lab/replay/permissions.ts";
import type { PermissionMode } from "../../../src/permissions/decide.ts";
import { parse } from "../../permissions/bash/parser.ts";

const folder = join(import.meta.dirname, "../../../../shared/trajectories");
const rules = (mode: PermissionMode) => ({
  ...{ mode, allow: [], deny: [], home: "/home/user", protectedPaths: [], parse },
});

describe.skipIf(!existsSync(folder))("recordings (skipped where ../shared/trajectories is not there)", () => {
  const recordings = existsSync(folder)
    ? recordingsIn([folder]).map((file) => importRecording(file).events)
    : [];
  const asked = (mode: PermissionMode): number =>
    countDecisions(recordings.flatMap((events) => judgeCalls(events, rules(mode)))).asked;

  test("are judged the same each time, and reading is free in every mode", () => {
    const [events = []] = recordings;
    expect(recordedCalls(events).length).toBeGreaterThan(0);
    expect(judgeCalls(events, rules("ask"))).toEqual(judgeCalls(events, rules("ask")));
    // Before: 1,608 and 700 of 1,911 calls.
    expect(asked("ask")).toBeLessThanOrEqual(1_105);
    expect(asked("accept-edits")).toBeLessThanOrEqual(682);
    expect(asked("auto")).toBe(0);
  });
});
