/**
 * Questions as they are drawn: in windows of every size the command's end, what it touches and the refusal are seen.
 */

import { describe, expect, test } from "vitest";
import { liveView } from "../../src/tui/app/live.ts";
import { initialState, reduce, type State } from "../../src/tui/app/state.ts";
import { commands } from "../../src/tui/commands/commands.ts";
import { dialogRows } from "../../src/tui/dialogs/dialog-view.ts";
import type { Confirmation, Question } from "../../src/tui/ports/session.ts";
import { plain, width } from "../../src/tui/rows/rows.ts";
import { frameOf } from "../support/frame.ts";
import { memoryLog, started } from "../support/logs.ts";

const locations = {
  session: "kept until you leave",
  project: "~/.config/sawtooth/projects/work-0123456789ab.json",
  user: "~/.config/sawtooth/settings.json",
};
const bash = (command: string, more: Partial<Question> = {}): Question => ({
  toolName: "bash",
  input: { command },
  reason: "It may change files.",
  suggestion: "bash(npm run build:*)",
  locations,
  ...more,
});

function asking(question: Question | Confirmation, columns: number, rows: number, choice?: number): State {
  const log = memoryLog([started()]);
  const state = initialState({
    size: { columns, rows },
    mode: "ask",
    location: { cwd: "/w", shortCwd: "~/w" },
    commands,
    typed: [],
    events: log.events(),
  });
  const asked = reduce(state, { type: "asked", id: 1, question }).state;
  const [first] = asked.questions;
  return first && choice !== undefined ? { ...asked, questions: [{ ...first, choice }] } : asked;
}

const screenOf = (state: State) => frameOf(liveView(state, 0)).lines;
const columns = [30, 40, 60, 80, 120];
const rows = [5, 10, 24];
const sizes = columns.flatMap((each) => rows.map((high) => [each, high] as const));
const link = [{ path: "docs/link", target: "/home/me/.ssh/authorized_keys" }];

describe.each(sizes)("in a window of %i by %i", (wide, high) => {
  test("every permission shows the choice to refuse, whichever choice is marked", () => {
    for (const suggestion of ["bash(npm run build:*)", undefined]) {
      for (let choice = 0; choice < (suggestion ? 5 : 2); choice++) {
        const lines = screenOf(
          asking(bash("rm -rf build && npm run build", { suggestion }), wide, high, choice),
        );
        const refusal = suggestion ? /\b5 (No|no)\b/ : /\b2 (No|no)\b/;
        expect(lines.join("\n")).toMatch(refusal);
        expect(lines.join("\n")).toMatch(new RegExp(`❯ ?${choice + 1} `));
        expect(lines.length).toBeLessThan(high);
        expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(wide);
      }
    }
  });

  test("a plain yes or no shows both", () => {
    const text = "A sentence that says what would happen then, and at what price it would be. ".repeat(4);
    const screen = screenOf(asking({ title: "Go on with another?", rows: [[{ text }]] }, wide, high)).join(
      "\n",
    );
    expect(screen).toMatch(/1 yes/i);
    expect(screen).toMatch(/2 no/i);
  });

  test("S56 dialog-padding: the end of a command is seen, however it is padded", () => {
    const end = "rm -rf ~";
    for (const padding of [
      " ".repeat(5000),
      "\n".repeat(300),
      "\necho fine".repeat(300),
      "\u3000".repeat(900),
      `${"x".repeat(3000)} `,
      "\u2800".repeat(900),
    ]) {
      const screen = screenOf(asking(bash(`npm test; ${padding}${end}`), wide, high))
        .join(" ")
        .replaceAll(/\s+/g, " ");
      expect(screen).toContain(end);
      expect(screen).toMatch(/5 (No|no)/);
    }
  });

  test("where a link leads is seen", () => {
    const screen = screenOf(asking(bash("cp notes docs/link", { links: link }), wide, high)).join("\n");
    expect(screen).toContain("/.ssh/authorized_keys");
  });
});

test("S55 dialog-real-path: the title of an edit through a link names the file that is really changed", () => {
  const input = { command: "create", path: "docs/link", file_text: "ssh-ed25519 AAAA\n" };
  const question = { toolName: "str_replace_editor", input, reason: "Outside.", links: link };
  const title = (wide: number) => screenOf(asking(question, wide, 24)).find((line) => line.includes("?"));
  expect(title(80)).toBe("  ? Write docs/link → /home/me/.ssh/authorized_keys?");
  expect(title(40)).toBe("  ? Write …e/me/.ssh/authorized_keys?");
});

test("S47 outside-edited-script: before a command leaves the sandbox it is seen which script was changed, and in which step", () => {
  const outside = ["scripts/deploy.sh was changed by the agent in step 14", "runs in /w/app"];
  const screen = screenOf(asking(bash("sh scripts/deploy.sh", { outside }), 80, 24))
    .join(" ")
    .replaceAll(/\s+/g, " ");
  expect(screen).toContain("? Run this outside of the sandbox?");
  expect(screen).toContain("sh scripts/deploy.sh");
  for (const note of outside) expect(screen).toContain(note);
  const small = screenOf(asking(bash("sh scripts/deploy.sh", { outside }), 60, 10)).join("\n");
  expect(small.replaceAll(/\s+/g, " ")).toContain("was changed by the agent in step 14");
});

test("control characters, letters that only look Latin and letters that draw nothing are named", () => {
  const shown = (command: string) =>
    dialogRows({ id: 1, question: bash(command), choice: 0 }, { cwd: "/w", columns: 100 }, 24)
      .map(plain)
      .join("\n");
  expect(shown("rm -rf ~ #\rls")).toContain("rm -rf ~ #<U+000D>ls");
  expect(shown("rm x\b\b\b\bls")).toContain("rm x<U+0008><U+0008><U+0008><U+0008>ls");
  expect(shown("a\x1b]0;\x07b")).toContain("a<U+001B>]0;<U+0007>b");
  expect(shown("curl https://pаypal.com")).toContain("p<U+0430>ypal.com");
  expect(shown("echo привет 日本語")).toContain("echo привет 日本語");
  expect(shown("cat a\u3164b")).toContain("a<U+3164>b");
});

test("a run of blanks or of empty lines is told by its number", () => {
  const shown = dialogRows(
    { id: 1, question: bash(`echo a${" ".repeat(400)}b${"\n".repeat(41)}c`), choice: 0 },
    { cwd: "/w", columns: 80 },
    24,
  ).map(plain);
  expect(shown).toContain("    echo a ⟨400 blanks⟩ b");
  expect(shown).toContain("    ⟨40 empty lines⟩");
});

test("a page that is asked about shows its whole address, starts on no, and is allowed for one project at most", () => {
  const url = "https://docs.example/guide?page=2&hidden=\u200b";
  const reason = "docs.example is not on the list of hosts.";
  const question = { toolName: "fetch", input: { url }, reason, suggestion: "host(docs.example)", locations };
  const lines = screenOf(asking(question, 100, 24)).join("\n");
  expect(lines).toContain("Fetch this page?");
  expect(lines).toContain("https://docs.example/guide?page=2&hidden=<U+200B>");
  expect(lines).toContain("host(docs.example)");
  expect(lines).toMatch(/❯ ?4 No/);
  expect(lines).not.toContain("settings.json");
});
