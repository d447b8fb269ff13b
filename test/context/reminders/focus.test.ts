import { describe, expect, test } from "vitest";
import { focusReminder, unfoldPointers } from "../../../src/context/reminders/focus.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

type Step = [name: string, input: object, says?: string];
const bash = (command: string): Step => ["bash", { command }];
const view = (path: string): Step => ["str_replace_editor", { command: "view", path }];
const write = (path: string): Step => ["str_replace_editor", { command: "create", path, file_text: "x" }];
const open: Step = ["start_focus", { objective: "find it" }];
const close: Step = ["complete_focus", { attempted: "a", learned: "b", outcome: "c" }];
const times = (count: number, step: (index: number) => Step) =>
  Array.from({ length: count }, (_, i) => step(i));

/** A session of one call a step; a closed focus is folded as the focus policy folds it. */
function session(...steps: (Step | EventBody)[]): readonly LogEvent[] {
  const log = memoryLog([started(), user("go")]);
  let from = 0;
  for (const step of steps) {
    if (!Array.isArray(step)) {
      log.append(step);
      continue;
    }
    const [name, input] = step;
    const id = `c${log.events().length}`;
    log.append(reply(call(id, name, input)));
    const { seq } = log.append(result(id, `output of ${id}`, name));
    if (name === "start_focus") from = seq;
    if (name !== "complete_focus") continue;
    const edits = [{ type: "collapse" as const, from, to: seq, text: "Focus closed" }];
    log.append({
      type: "context_edited",
      policy: "focus",
      reason: "closed",
      edits,
      economics: {},
      fold: { objective: "look" },
    });
  }
  return log.events();
}

const unfolded: EventBody = { type: "reminder", channel: "logged", text: "u", about: ["unfold"] };
const reminded: EventBody = { type: "reminder", channel: "tail", text: "f", about: ["focus"] };

describe("the focus reminder", () => {
  test("comes after fifteen calls without a focus, and names a focus that lasts as long", () => {
    const look = (count: number) => times(count, (index) => bash(`grep ${index}`));
    expect(focusReminder(session(...look(14)), 15)).toBeUndefined();
    expect(focusReminder(session(...look(15)), 15)).toEqual({ calls: 15 });
    expect(focusReminder(session(...look(9), open, ...look(14)), 15)).toBeUndefined();
    expect(focusReminder(session(open, ...look(15)), 15)).toEqual({ open: "find it", calls: 15 });
    expect(focusReminder(session(open, ...look(14), close, ...look(14)), 15)).toBeUndefined();
  });

  test("comes again after as many calls, and never where it is turned off", () => {
    const look = times(15, (index) => bash(`grep ${index}`));
    expect(focusReminder(session(...look, reminded, ...look.slice(1)), 15)).toBeUndefined();
    expect(focusReminder(session(...look, reminded, ...look), 15)).toEqual({ calls: 15 });
    expect(focusReminder(session(...look, ...look), 0)).toBeUndefined();
  });

  test("comes later for the rest of the session with each elongation", () => {
    const look = (count: number) => times(count, (index) => bash(`grep ${index}`));
    expect(focusReminder(session(unfolded, ...look(29)), 15)).toBeUndefined();
    expect(focusReminder(session(unfolded, ...look(30)), 15)).toEqual({ calls: 30 });
    expect(focusReminder(session(unfolded, ...look(3), unfolded, ...look(44)), 15)).toBeUndefined();
  });

  test("is silent while an edit–test loop is running", () => {
    const looked = times(15, (index) => bash(`grep ${index}`));
    const working = [write("/w/a.ts"), bash("npm test"), write("/w/a.ts")];
    expect(focusReminder(session(...looked, ...working), 15)).toBeUndefined();
    expect(
      focusReminder(session(...looked, ...working, ...times(6, (i) => bash(`ls ${i}`))), 15),
    ).toBeDefined();
  });
});

describe("a fold that makes the model redo its work", () => {
  const folded = [open, bash("npm ls"), view("/w/a.ts"), bash("grep x"), close];

  test("is answered with where the originals are, those that were redone first", () => {
    expect(unfoldPointers(session(...folded, view("/w/a.ts")))).toBeUndefined();
    const pointers = unfoldPointers(session(...folded, view("/w/a.ts"), bash("ls"), bash("grep x")));
    expect(pointers).toEqual([
      "- str_replace_editor: view /w/a.ts: line 8 of /s/1/events.jsonl",
      "- bash: grep x: line 10 of /s/1/events.jsonl",
      "- bash: npm ls: line 6 of /s/1/events.jsonl",
    ]);
  });

  test("counts only within fifteen steps of the fold", () => {
    const later = times(14, (index) => bash(`make ${index}`));
    const redo = [bash("grep x"), bash("grep x")];
    expect(unfoldPointers(session(...folded, ...later.slice(1), ...redo))).toBeDefined();
    expect(unfoldPointers(session(...folded, ...later, ...redo))).toBeUndefined();
  });

  test("is told once for a fold, and can be told again for the next", () => {
    const redo = [bash("grep x"), bash("grep x")];
    expect(unfoldPointers(session(...folded, ...redo, unfolded, ...redo))).toBeUndefined();
    expect(unfoldPointers(session(...folded, ...redo, unfolded, ...folded, ...redo))).toBeDefined();
  });

  test("is not seen where files were written since: then a file or a check may say something new", () => {
    expect(
      unfoldPointers(session(...folded, write("/w/a.ts"), view("/w/a.ts"), bash("grep x"))),
    ).toBeUndefined();
  });
});
