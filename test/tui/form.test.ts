/** Forms as they are filled in and drawn: in windows of every size the marked field is seen, and what is wrong with it. */

import { describe, expect, test } from "vitest";
import type { FormField } from "../../src/core/form/fields.ts";
import { onDialogKey, type PendingQuestion, pendingQuestion } from "../../src/tui/dialogs/dialog.ts";
import { dialogView } from "../../src/tui/dialogs/dialog-view.ts";
import type { Answer } from "../../src/tui/ports/session.ts";
import { plain, width } from "../../src/tui/rows/rows.ts";

const common = { description: "", required: false, initial: "" };
const choices = ["Red", "Green", "Blue"].map((title) => ({ value: title.toLowerCase(), title }));
const fields: FormField[] = [
  { ...common, key: "name", title: "Name", type: "text", required: true },
  { ...common, key: "age", title: "Age", type: "integer", minimum: 1, maximum: 99, description: "in years" },
  { ...common, key: "agree", title: "Agree", type: "yes_no", required: true },
  { ...common, key: "color", title: "A colour that you like", type: "one", choices },
  { ...common, key: "colors", title: "Others", type: "some", choices, minItems: 1, initial: ["red"] },
];
const opened = () =>
  pendingQuestion(1, {
    ...{ toolName: "mcp", input: {}, reason: "" },
    elicitation: { title: "shop asks", lines: ["Who are you?"], fields },
  });

/** Presses keys: those in angles are named, every other text is typed. */
function press(pending: PendingQuestion, ...keys: string[]): { pending: PendingQuestion; answer?: Answer } {
  let now = pending;
  for (const text of keys) {
    const name = /^<(.+)>$/.exec(text)?.[1];
    const reaction = onDialogKey(now, name ? { type: "key", key: name } : { type: "text", text }, 60);
    if (reaction && "answer" in reaction) return { pending: now, answer: reaction.answer };
    if (reaction) now = reaction.pending;
  }
  return { pending: now };
}

function drawn(pending: PendingQuestion, columns = 80, rows = 24) {
  const view = dialogView(pending, { cwd: "/w", columns }, rows);
  const lines = [...view.title, ...view.subject, ...view.typed].map(plain);
  return { lines, text: lines.join("\n"), caret: view.caret, height: view.height };
}

test("a form is typed and chosen field by field, and sent as values of the right kinds", () => {
  const { answer } = press(
    opened(),
    ...["Ada", "<enter>", "36", "<enter>", "y", "<enter>", "<right>", "<right>", "<enter>"],
    ...["<right>", "<right>", " ", "<enter>", "<enter>"],
  );
  const content = { name: "Ada", age: 36, agree: true, color: "green", colors: ["red", "blue"] };
  expect(answer).toEqual({ decision: "allow", content });
});

test("what is left out is not sent, and backspace takes a choice back", () => {
  const keys = [
    "Ada",
    "<down>",
    "<down>",
    "n",
    "<down>",
    "2",
    "<backspace>",
    "<down>",
    "1",
    "<down>",
    "<enter>",
  ];
  expect(press(opened(), ...keys).answer).toEqual({
    decision: "allow",
    content: { name: "Ada", agree: false },
  });
});

test("a wrong entry is told under its field, and sending goes back to the first of them", () => {
  const wrong = press(opened(), "<enter>").pending;
  expect(drawn(wrong).text).toContain("Name is required");
  const age = press(opened(), "Ada", "<tab>", "100", "<enter>").pending;
  expect(drawn(age).text).toMatch(
    /in years; a whole number from 1 to 99\n +Age must be a whole number from 1 to 99/,
  );
  const downs = Array.from({ length: 9 }, () => "<down>");
  const back = press(opened(), ...downs, "<up>", "<enter>").pending;
  expect(drawn(back).text).toMatch(/❯ Name \*.*\n +Name is required/);
});

test("Escape dismisses a form and the last row declines it", () => {
  expect(press(opened(), "x", "<escape>").answer).toEqual({ decision: "deny", say: "", dismissed: true });
  const downs = Array.from({ length: 9 }, () => "<down>");
  expect(press(opened(), ...downs, "<enter>").answer).toEqual({ decision: "deny", say: "" });
});

test("invisible characters of a server and of the user are shown", () => {
  const [field] = fields;
  const pending = pendingQuestion(1, {
    ...{ toolName: "mcp", input: {}, reason: "" },
    elicitation: {
      title: "a\u202eb",
      lines: ["c\u202ed"],
      fields: [{ ...(field as FormField), title: "e\u202ef" }],
    },
  });
  expect(drawn(press(pending, "g\u202eh").pending).text).not.toContain("\u202e");
});

const sizes = [20, 40, 80, 120].flatMap((columns) => [2, 4, 8, 24].map((rows) => [columns, rows] as const));
describe.each(sizes)("in a window of %i columns, of which a form has %i rows", (columns, rows) => {
  test("each marked row is seen with the caret in it, and no row is wider", () => {
    for (let at = 0; at < fields.length + 2; at++) {
      const { pending } = press(opened(), ...Array.from({ length: at }, () => "<down>"));
      const { lines, caret, height } = drawn(pending, columns, rows);
      expect(height).toBe(lines.length);
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines[caret.row]).toContain("❯");
      for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
    }
  });
});
