/** The dialog of a permission or of a plain yes: what is asked, the ways to answer, and what a key does. Pure. */

import type { RuleScope } from "../core/permission-rule.ts";
import { type Editor, edit, emptyEditor, type Laid, layOut } from "./input/editor.ts";
import type { Key } from "./input/keys.ts";
import type { Answer, Confirmation, Question } from "./ports.ts";
import { cut, cutRow, type Row, type Span, safe, wrap } from "./rows.ts";
import { type Around, callTitle } from "./tool-rows.ts";

/** `choice`: index of the marked way. `instead`: what is being typed behind "no". */
export type Asked = { id: number; question: Question | Confirmation; choice: number; instead?: Editor };

/** What a key makes of it: an answer, a changed dialog, or nothing. */
export type Reaction = { answer: Answer } | { asked: Asked } | undefined;

/** `where`: what it would be stored in. */
type Way = { label: string; short: string; answer: Answer | "instead"; keys: string[]; where?: string };

const scopes: { scope: RuleScope; label: string; short: string; key: string }[] = [
  { scope: "session", label: "Yes, always in this session", short: "session", key: "a" },
  { scope: "project", label: "Yes, always in this project", short: "project", key: "p" },
  { scope: "user", label: "Yes, always in every project", short: "all", key: "u" },
];

const yesOrNo: Way[] = [
  { label: "Yes", short: "yes", answer: { decision: "allow" }, keys: ["y"] },
  { label: "No", short: "no", answer: { decision: "deny", say: "" }, keys: ["n"] },
];

export function isConfirmation(question: Question | Confirmation): question is Confirmation {
  return "rows" in question;
}

/** A question as it comes up. What is only to be confirmed is marked with no, so that a stray Enter changes nothing. */
export function askedOf(id: number, question: Question | Confirmation): Asked {
  return { id, question, choice: isConfirmation(question) ? 1 : 0 };
}

/** The ways to answer, in the order they are shown. */
function waysOf(question: Question | Confirmation): Way[] {
  if (isConfirmation(question)) return yesOrNo;
  const { suggestion, places } = question;
  const remembered = scopes.map(
    ({ scope, label, short, key }): Way => ({
      ...{ label, short, keys: [key] },
      answer: { decision: "allow", remember: { rule: suggestion ?? "", scope } },
      ...(places ? { where: places[scope] } : {}),
    }),
  );
  return [
    { label: "Yes, once", short: "once", answer: { decision: "allow" }, keys: ["y"] },
    ...(suggestion ? remembered : []),
    { label: "No, and tell it what to do instead", short: "no …", answer: "instead", keys: ["n"] },
  ];
}

/** Digits and letters choose at once, arrows move the mark, Enter takes what is marked. */
export function onDialogKey(asked: Asked, key: Key, columns: number): Reaction {
  if (asked.instead) return onInsteadKey(asked, asked.instead, key, columns);
  const ways = waysOf(asked.question);
  if (key.type === "text") {
    const index = ways.findIndex(
      ({ keys }, at) => key.text === String(at + 1) || keys.includes(key.text.toLowerCase()),
    );
    return index < 0 ? undefined : taken(asked, ways[index]);
  }
  if (key.type === "paste") return undefined;
  switch (key.key) {
    case "up":
    case "left":
      return { asked: { ...asked, choice: Math.max(0, asked.choice - 1) } };
    case "down":
    case "right":
    case "tab":
      return { asked: { ...asked, choice: Math.min(ways.length - 1, asked.choice + 1) } };
    case "enter":
      return taken(asked, ways[asked.choice]);
    default:
      return undefined;
  }
}

function taken(asked: Asked, way: Way | undefined): Reaction {
  if (!way) return undefined;
  return way.answer === "instead" ? { asked: { ...asked, instead: emptyEditor } } : { answer: way.answer };
}

function onInsteadKey(asked: Asked, instead: Editor, key: Key, columns: number): Reaction {
  if (key.type === "key" && key.key === "enter")
    return { answer: { decision: "deny", say: instead.text.trim() } };
  if (key.type === "key" && key.key === "escape") {
    const { instead: _, ...rest } = asked;
    return { asked: rest };
  }
  const edited = edit(instead, key, columns);
  return edited && { asked: { ...asked, instead: edited } };
}

/** The dialog in at most `maxRows` rows, and where the cursor stands in it. What would run is shown before why. */
export function dialogRows(
  { question, instead, choice }: Asked,
  around: Around,
  maxRows: number,
): { rows: Row[]; caret: { row: number; column: number } } {
  const columns = around.columns - 4;
  const small = maxRows < 10;
  const answers = instead
    ? []
    : small
      ? [waysRow(question, choice)]
      : waysOf(question).map((way, index) => wayRow(way, index === choice, index, around.columns));
  const written = instead && layOut(instead, columns - 2);
  const typed = written ? typedRows(written) : [];
  const room = Math.max(1, maxRows - 1 - answers.length - typed.length);
  const subject = subjectRows(question, { ...around, columns });
  const why = whyRows(question, around.columns).slice(
    0,
    Math.max(0, room - Math.min(subject.length, Math.ceil(room / 2))),
  );
  const head: Row = [
    { text: "  ? ", tone: "warn" },
    { text: cut(titleOf(question, around), columns), tone: "strong" },
  ];
  const shown = shortened(subject, Math.max(1, room - why.length), columns);
  const above = [head, ...shown.map((row): Row => [{ text: "    " }, ...row]), ...why, ...answers];
  const caret = written
    ? { row: above.length + written.caret.row, column: 6 + written.caret.column }
    : { row: above.length - answers.length + (small ? 0 : choice), column: 2 };
  return { rows: [...above, ...typed].map((row) => cutRow(row, around.columns)), caret };
}

function typedRows({ rows }: Laid): Row[] {
  return [
    ...rows.map(
      ({ text }, index): Row => [{ text: index === 0 ? "    › " : "      ", tone: "accent" }, { text }],
    ),
    [{ text: "    Enter sends it; empty is a plain no", tone: "dim" }],
  ];
}

function shortened(rows: Row[], most: number, columns: number): Row[] {
  if (rows.length <= most) return rows;
  const more = ` … ${rows.length - most} more rows`;
  const last = cutRow(rows[most - 1] ?? [], columns - more.length);
  return [...rows.slice(0, most - 1), [...last, { text: more, tone: "strong" }]];
}

/** The answer that a whole line gives: a number or a letter; "instead" asks for another line. */
export function answerOf(question: Question | Confirmation, line: string): Answer | "instead" | undefined {
  const word = line.trim().toLowerCase();
  return waysOf(question).find(({ keys }, index) => word === String(index + 1) || keys.includes(word))
    ?.answer;
}

function titleOf(question: Question | Confirmation, around: Around): string {
  if (isConfirmation(question)) return question.title;
  const { toolName, input } = question;
  const { verb, subject } = callTitle({ name: toolName, input }, around);
  if (toolName === "bash") return "Run this command?";
  const place = cut(safe(subject), around.columns - 14);
  return verb === "view" ? `Read ${place}?` : `${verb === "create" ? "Write" : "Change"} ${place}?`;
}

/** Of a path that is too long the end says most. */
function ending(path: string, most: number): string {
  const chars = [...path];
  return chars.length <= most ? path : `…${chars.slice(-Math.max(1, most - 1)).join("")}`;
}

function wayRow({ label, where }: Way, marked: boolean, index: number, columns: number): Row {
  return [
    { text: marked ? "  ❯ " : "    ", tone: "accent" },
    { text: `${index + 1} ${label}`, ...(marked ? { tone: "strong" as const } : {}) },
    ...(where
      ? [{ text: `  ${ending(safe(where), columns - label.length - 8)}`, tone: "dim" as const }]
      : []),
  ];
}

/** All ways in one row, for a window with few. */
function waysRow(question: Question | Confirmation, choice: number): Row {
  return waysOf(question).flatMap(({ short }, index): Row => {
    const marked = index === choice;
    return [
      { text: marked ? " ❯" : "  ", tone: "accent" },
      { text: `${index + 1} ${short} `, ...(marked ? { tone: "strong" as const } : {}) },
    ];
  });
}

/** The very rule that "always" would store, then why it asks. */
function whyRows(question: Question | Confirmation, columns: number): Row[] {
  if (isConfirmation(question)) return [];
  const { reason, suggestion, toolName, input } = question;
  const same = suggestion === `${toolName}(${String(input.command ?? "").trim()})`;
  const rule: Row = same
    ? [{ text: "    always means this very command", tone: "dim" }]
    : [
        { text: "    always means the rule ", tone: "dim" },
        { text: safe(suggestion ?? ""), tone: "code" },
      ];
  return [
    ...(suggestion ? wrap(rule, columns, "    ") : []),
    ...wrap([{ text: `    ${safe(reason)}`, tone: "dim" }], columns, "    "),
  ];
}

/** The command in full, or what an edit would change. */
function subjectRows(question: Question | Confirmation, around: Around): Row[] {
  if (isConfirmation(question))
    return question.rows.flatMap((row) => (row.length === 0 ? [row] : wrap(row, around.columns)));
  const { toolName, input } = question;
  return toolName === "bash" ? commandRows(input, around) : changeRows(input, around);
}

function commandRows(input: Record<string, unknown>, { columns }: Around): Row[] {
  const extra = ["stdin", "background", "tty"].flatMap((key) =>
    input[key] ? [`${key}: ${String(input[key])}`] : [],
  );
  const lines = String(input.command ?? "").split("\n");
  return [
    ...lines.flatMap((line) => wrap([{ text: safe(line), tone: "code" }], columns)),
    ...extra.flatMap((text) => wrap([{ text: safe(text.replaceAll("\n", " ⏎ ")), tone: "dim" }], columns)),
  ];
}

function changeRows(input: Record<string, unknown>, { columns }: Around): Row[] {
  const edits = Array.isArray(input.edits) ? (input.edits as Record<string, unknown>[]) : [input];
  const side = (text: unknown, sign: string, tone: Span["tone"]): Row[] =>
    typeof text === "string" && text !== ""
      ? text
          .replace(/\n$/, "")
          .split("\n")
          .map((line): Row => [{ text: cut(`${sign} ${safe(line)}`, columns), tone }])
      : [];
  return edits.flatMap((each) => [
    ...side(each.old_str, "-", "bad"),
    ...side(each.new_str ?? each.insert_text ?? each.file_text, "+", "good"),
  ]);
}
