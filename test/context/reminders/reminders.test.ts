import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defaultSettings } from "../../../src/context/policies/settings.ts";
import { dueNotes, type ReminderInputs } from "../../../src/context/reminders/reminders.ts";
import { type Channel, channelFor, type Note, reminderText } from "../../../src/context/reminders/wording.ts";
import type { EventBody, Task, Topic } from "../../../src/core/events.ts";
import { call, listed, memoryLog, reply, result, started, testCard, user } from "../../support/logs.ts";

const words = readFileSync(new URL("../../../prompts/reminders.md", import.meta.url), "utf8");
const list = "- [x] find it\n- [>] fix it";
const found: Task = { text: "find it", status: "done" };
const todo: EventBody[] = [
  reply(call("t", "todo", {})),
  listed("t", found, { text: "fix it", status: "active" }),
];
const steps = (count: number): EventBody[] =>
  Array.from({ length: count }, (_, index) => [reply(call(`s${index}`)), result(`s${index}`)]).flat();
const reminder = (...about: Topic[]): EventBody => ({ type: "reminder", channel: "tail", text: "r", about });

function due(bodies: EventBody[], around: Partial<ReminderInputs> = {}): Note[] {
  const events = memoryLog([started(), user("go"), ...bodies]).events();
  const plain = { folds: true, tasks: undefined, stay: false, changedFiles: [] };
  return dueNotes(events, { ...plain, ...around }, defaultSettings);
}
const topics = (...given: Parameters<typeof due>) => due(...given).map((note) => note.topic);

describe("the task list", () => {
  test("is recited when it was not for eight steps and something is open", () => {
    expect(due([...todo, ...steps(7)])).toEqual([]);
    expect(due([...todo, ...steps(8)])).toEqual([{ topic: "todo", facts: { list: `\n${list}` } }]);
    const told = [...todo, ...steps(8), reminder("todo")];
    expect(topics([...told, ...steps(7)], { folds: false })).toEqual([]);
    expect(topics([...told, ...steps(8)], { folds: false })).toEqual(["todo"]);
    const done = [reply(call("d", "todo", {})), listed("d", found)];
    expect(due([...todo, ...done, ...steps(9)])).toEqual([]);
    expect(due(steps(9))).toEqual([]);
  });

  test("that the person changed is told at once, and known from then on", () => {
    const tasks = "- [ ] something else\n";
    expect(due(todo, { tasks: `${list}\n` })).toEqual([]);
    expect(due([...todo, ...steps(8)], { tasks })).toEqual([
      { topic: "todo_changed", facts: { list: "\n- [ ] something else" } },
    ]);
    const told: EventBody = {
      type: "reminder",
      channel: "logged",
      text: "t",
      about: ["todo_changed"],
      todo: tasks,
    };
    expect(due([...todo, told, ...steps(7)], { tasks })).toEqual([]);
    expect(due([...todo, told, ...steps(8)], { tasks })[0]?.facts.list).toBe("\n- [ ] something else");
  });
});

describe("spacing", () => {
  const same = (count: number): EventBody[] =>
    Array.from({ length: count }, (_, index) => [
      reply(call(`r${index}`, "bash", { command: "x" })),
      result(`r${index}`, "y"),
    ]).flat();

  test("a loop is told once, however long it goes on", () => {
    expect(topics(same(2))).toEqual([]);
    expect(topics(same(3))).toEqual(["loop"]);
    expect(topics([...same(3), reminder("loop"), ...same(1)])).toEqual([]);
  });

  test("nothing is said twice between two replies", () => {
    expect(topics([...same(3), reminder("limits")])).toEqual([]);
  });

  test("where reminders stay in the context, the routine ones wait eight steps, the pressing ones do not", () => {
    const bodies = [...todo, ...steps(6), reminder("focus"), ...steps(7)];
    expect(topics(bodies)).toEqual(["todo"]);
    expect(topics(bodies, { stay: true })).toEqual([]);
    expect(topics([...bodies, ...same(3).slice(0, 2)], { stay: true })).toEqual(["todo"]);
    expect(topics([...todo, ...steps(6), reminder("focus"), ...same(3)], { stay: true })).toEqual(["loop"]);
  });

  test("limits that run out are told every eight steps, and before the last call", () => {
    const runningOut = { left: "2 calls are left", last: false };
    expect(topics(steps(1), { runningOut })).toEqual(["limits"]);
    const told = [...steps(1), reminder("limits"), ...steps(1)];
    expect(topics(told, { runningOut })).toEqual([]);
    expect(topics(told, { runningOut: { ...runningOut, last: true } })).toEqual(["limits"]);
  });

  test("focus is not spoken of where nothing folds", () => {
    expect(topics(steps(15))).toEqual(["focus"]);
    expect(topics(steps(15), { folds: false })).toEqual([]);
  });
});

describe("the channel", () => {
  test("is the one of the contract, but stays where the note must be remembered or history is bound", () => {
    const note = (topic: Topic): Note[] => [{ topic, facts: {} }];
    const contractOf = (history: "free" | "prefix_bound", reminders: Channel) => ({
      ...testCard(history).contract,
      reminders,
    });
    expect(channelFor(contractOf("free", "tail"), note("todo"))).toBe("tail");
    expect(channelFor(contractOf("prefix_bound", "turn_scoped"), note("todo"))).toBe("turn_scoped");
    expect(channelFor(contractOf("prefix_bound", "tail"), note("todo"))).toBe("logged");
    for (const topic of ["unfold", "todo_changed"] as const)
      expect(channelFor(contractOf("free", "tail"), [...note("todo"), ...note(topic)])).toBe("logged");
  });
});

describe("the words", () => {
  const all: Record<Topic, Note["facts"]> = {
    todo: { list: "\n- [ ] a" },
    todo_changed: { list: "\n- [ ] a" },
    focus: { calls: 15 },
    focus_open: { calls: 15, objective: "find it" },
    unfold: { files: "\n- bash: ls: /s/1.txt" },
    loop: { repeats: 3, what: "bash: ls" },
    plateau: {},
    limits: { left: "2 calls are left" },
    files: { files: "src/a.ts" },
    repetition: { sequence: "so so" },
  };
  const said = (topic: Topic, seq: number) =>
    reminderText([{ topic, facts: all[topic] }], { words, seq, channel: "turn_scoped" });

  test.each(Object.keys(all) as Topic[])(
    "for %s vary with the place in the log, and nothing is left blank",
    (topic) => {
      const variants = new Set(Array.from({ length: 6 }, (_, seq) => said(topic, seq)));
      expect(variants.size).toBeGreaterThan(1);
      for (const text of variants) expect(text).not.toMatch(/\{\{|\}\}|undefined|""/);
      expect(said(topic, 5)).toBe(said(topic, 5));
    },
  );

  test("are marked as ours where they stand among the person's", () => {
    const notes: Note[] = [{ topic: "plateau", facts: {} }];
    const text = (channel: Channel) => reminderText(notes, { words, seq: 1, channel });
    expect(text("tail")).toMatch(/^<reminder>\n[\s\S]*\n<\/reminder>$/);
    expect(text("logged")).toBe(text("tail"));
    expect(text("turn_scoped")).not.toContain("<reminder>");
  });

  test("that are missing are a bug that says so", () => {
    expect(() =>
      reminderText([{ topic: "loop", facts: {} }], { words: "", seq: 0, channel: "tail" }),
    ).toThrow("no words for reminders about loop");
  });
});
