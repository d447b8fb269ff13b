import { describe, expect, test } from "vitest";
import { pickerAlone } from "../../src/tui/app/live.ts";
import {
  onPickerKey,
  type Picker,
  pickerOf,
  pickerSize,
  pickerView,
  search,
} from "../../src/tui/dialogs/picker.ts";
import type { Key } from "../../src/tui/input/keys.ts";
import type { PickItem } from "../../src/tui/ports/sessions.ts";
import { safe, width } from "../../src/tui/rows/rows.ts";
import { frameOf } from "../support/frame.ts";
import { seededRandom } from "../support/random.ts";

const random = seededRandom(5);
const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
const words = [
  "",
  "short",
  "long word ".repeat(30),
  "日本語".repeat(40),
  "👩‍👩‍👧🟢 한글",
  "\x1b[31mred\x07\n\ttab",
  "x".repeat(500),
];

function itemsOf(many: number): PickItem[] {
  return Array.from({ length: many }, (_, index) => ({
    id: String(index),
    label: `${pick(words)} ${pick(words)}`,
    facts: [pick(words), "2 h ago", "3 turns"].slice(0, pick([0, 2, 3])),
    mark: pick([undefined, "in use", pick(words)]),
  }));
}

function anyPicker(): Picker {
  const about = { title: pick(words), few: pick([true, false]), enter: "opens", empty: "nothing" };
  const rows = words.map((text) => [{ text: safe(text) }]);
  return {
    ...pickerOf({ ...about, items: itemsOf(pick([0, 1, 3, 60])), other: pick([undefined, "all folders"]) }),
    preview: pick([
      undefined,
      { rows, keep: "end" },
      { rows, keep: "beginning" },
    ] as const) as Picker["preview"],
  };
}

const keyOf = (name: string): Key =>
  /^[a-z]{2,}$/.test(name) ? { type: "key", key: name } : { type: "text", text: name };

function pressed(picker: Picker, name: string, size: { columns: number; rows: number }): Picker {
  const reaction = onPickerKey(picker, keyOf(name), size);
  return reaction?.type === "changed" ? { ...reaction.picker, preview: picker.preview } : picker;
}

describe("a list to choose from", () => {
  test("fits into any window, and shows what is marked and where one types", () => {
    for (let round = 0; round < 60; round++) {
      const window = { columns: pick([12, 20, 40, 80, 120]), rows: pick([4, 5, 7, 10, 12, 24, 40]) };
      const size = pickerSize(window);
      let picker = anyPicker();
      for (const name of ["down", "pagedown", "up", "up", "pageup", "down", "x", "backspace", "日"]) {
        picker = pressed(picker, name, size);
        const props = pickerView(picker, size);
        const open = { type: "picker" as const, props, height: props.height, caret: props.caret };
        const { lines, caret } = frameOf(pickerAlone(open, window.columns));
        expect(lines).toHaveLength(props.height);
        expect(lines.length).toBeLessThanOrEqual(size.rows);
        expect(size.rows).toBeLessThan(window.rows);
        expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(window.columns);
        expect(lines.filter((row) => row.startsWith("  ❯"))).toHaveLength(picker.found.length > 0 ? 1 : 0);
        expect(lines[caret.row]).toMatch(picker.few ? /./ : /^ {2}›/);
        expect(caret.column).toBeLessThan(window.columns);
      }
    }
  });

  test("moves around the ends by rows, and stops there by pages", () => {
    const size = { columns: 80, rows: 20 };
    let picker = pickerOf({ title: "t", items: itemsOf(30), enter: "opens", empty: "" });
    const chosen = (name: string) => {
      picker = pressed(picker, name, size);
      return picker.chosen;
    };
    expect([chosen("up"), chosen("down"), chosen("down"), chosen("pageup")]).toEqual([29, 0, 1, 0]);
    const page = chosen("pagedown");
    expect(page).toBeGreaterThan(4);
    expect([chosen("pagedown"), chosen("pagedown"), chosen("pagedown"), chosen("pagedown")].at(-1)).toBe(29);
  });

  test("finds words in any order, marks, and names in other scripts", () => {
    const items = ["fix the failing test", "test the fixtures", "日本語で書く", "another"].map(
      (label, index) => ({
        id: label,
        label,
        facts: [],
        words: `2026112${index}`,
      }),
    );
    const found = (text: string) => search(items, text).map(({ label }) => label);
    expect(found("test fix").sort()).toEqual(["fix the failing test", "test the fixtures"]);
    expect(found("another")[0]).toBe("another");
    expect(found("書く")).toEqual(["日本語で書く"]);
    expect(found("20261123")).toEqual(["another"]);
    expect(found("nowhere")).toEqual([]);
    expect(found("  ")).toHaveLength(4);
  });

  test("takes a pasted text as words, and a digit only where there are few ways", () => {
    const items = itemsOf(3);
    const size = { columns: 40, rows: 10 };
    const picker = pickerOf({ title: "t", items, enter: "opens", empty: "" });
    const pasted = onPickerKey(picker, { type: "paste", text: `two\nlines ${"long ".repeat(900)}` }, size);
    expect(pasted?.type === "changed" && pasted.picker.query.text).toMatch(/^two lines long long/);
    expect(onPickerKey(picker, keyOf("2"), size)).toMatchObject({ type: "changed" });
    const few = { ...picker, few: true };
    expect(onPickerKey(few, keyOf("2"), size)).toEqual({ type: "picked", item: items[1] });
    expect(onPickerKey(few, keyOf("4"), size)).toBeUndefined();
    expect(onPickerKey(few, keyOf("tab"), size)).toBeUndefined();
  });
});
