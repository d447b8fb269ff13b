import { describe, expect, test } from "vitest";
import type { AssistantBlock } from "../../src/core/blocks.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { noUsage } from "../../src/core/model-card.ts";
import type { ModelPart } from "../../src/core/ports.ts";
import { addEvent, addPart, emptyTranscript, tailRows } from "../../src/tui/blocks/transcript.ts";
import { plain } from "../../src/tui/rows/rows.ts";
import { seededRandom } from "../support/random.ts";

const around = { cwd: "/w", columns: 60 };

/** Tells parts and events one after the other; the rows as text, and what is still live. */
function tell(...happenings: (ModelPart | EventBody)[]): { rows: string[]; tail: string[] } {
  let transcript = emptyTranscript();
  const rows: string[] = [];
  const events: LogEvent[] = [];
  for (const one of happenings) {
    const isPart =
      /_delta$|_started$|^attempt_failed$|^searched$/.test(one.type) && one.type !== "session_started";
    if (!isPart)
      events.push({ ...(one as EventBody), seq: events.length, at: 1000 * events.length } as LogEvent);
    const step = isPart
      ? addPart(transcript, one as ModelPart, around)
      : addEvent(transcript, events.at(-1) as LogEvent, events, around);
    transcript = step.transcript;
    rows.push(...step.rows.map(plain));
  }
  return { rows, tail: tailRows(transcript, around).map(plain) };
}

const said = (text: string): ModelPart => ({ type: "text_delta", text });
const failed: ModelPart = { type: "attempt_failed", kind: "network", message: "cut", attempt: 1, waitMs: 10 };
const reply = (...content: AssistantBlock[]): EventBody => ({
  type: "assistant_message",
  content,
  stopReason: "end_turn",
  usage: noUsage,
  model: "m",
  durationMs: 1,
});
const text = (words: string): AssistantBlock => ({ type: "text", text: words });

describe("a streamed reply", () => {
  test("is the same rows however it is cut", () => {
    const words =
      "First *line*.\n\n- one\n- two\n\n```js\nconst a = 1; // x\n```\n| a | b |\n|---|---|\n| 1 | 22 |\nlast";
    const whole = tell(reply(text(words))).rows;
    expect(whole.join("\n")).toContain("    const a = 1; // x");
    for (const size of [1, 2, 7, 30]) {
      const parts = words.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
      expect(tell(...parts.map(said), reply(text(words))).rows).toEqual(whole);
    }
  });

  test("joins the wrapped lines of a list item, however it is cut", () => {
    const words =
      "- an item that\n  the model wrapped\n  itself\n1. two\n   more\n   - inner\n     end\n- hard  \n  break\nafter";
    const rows = [
      ...["  • an item that the model wrapped itself", "  1. two more", "     • inner end"],
      ...["  • hard", "    break", "  after"],
    ];
    for (const size of [1, 3, 8, 200]) {
      const parts = words.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
      expect(tell(...parts.map(said), reply(text(words))).rows.map((row) => row.trimEnd())).toEqual(rows);
    }
    expect(tell(said("- one\n  tw"))).toEqual({ rows: [], tail: ["  • one tw"] });
    expect(tell(said("- one\n| a |\n")).rows).toEqual(["  • one"]);
  });

  test("leaves only its unfinished line live", () => {
    expect(tell(said("done.\nnot yet"))).toEqual({ rows: ["  done."], tail: ["  not yet"] });
  });

  test("that fails and comes again is shown once", () => {
    const { rows } = tell(
      said("one\ntwo\nthr"),
      failed,
      said("one\nt"),
      said("wo\nthree\n"),
      reply(text("one\ntwo\nthree\n")),
    );
    expect(rows).toEqual(["  one", "  two", "  three"]);
  });

  test("that comes again with other words says so", () => {
    const { rows } = tell(said("one\ntwo\n"), failed, said("other\n"), reply(text("other\n")));
    expect(rows.join("\n")).toMatch(/ {2}one\n {2}two\n\n.*starts again\n\n {2}other/);
  });

  test("that is interrupted keeps what was seen of it", () => {
    const ended: EventBody = { type: "turn_ended", reason: "interrupted" };
    const { rows, tail } = tell(said("half a li"), reply(text("half a li")), ended);
    expect(rows).toEqual(["  half a li", "", "  ! interrupted"]);
    expect(tail).toEqual([]);
  });

  test("shows thinking as one row before the words", () => {
    const { rows } = tell({ type: "thinking_delta", text: "hmm\nlet me see" }, said("Answer.\n"));
    expect(rows).toEqual(["  ✻ hmm let me see", "  Answer."]);
  });
});

describe("a call", () => {
  const call = (name: string, input: object): EventBody => reply({ type: "tool_use", id: "1", name, input });
  const result = (more: object): EventBody => ({
    type: "tool_result",
    toolUseId: "1",
    toolName: "bash",
    content: "",
    isError: false,
    ...more,
  });

  test("is one row with what came of it", () => {
    const stats = { exitCode: 0, lines: 42, durationMs: 2100 };
    expect(tell(call("bash", { command: "npm test\n" }), result({ stats })).rows).toEqual([
      "  ✓ bash npm test · 42 lines · 2.1 s",
    ]);
  });

  test("that failed shows the end of its output", () => {
    const content = "a\nb\nc\nd\ne\nf\ng\n[exit 2]";
    const { rows } = tell(
      call("bash", { command: "x" }),
      result({ content, isError: true, stats: { exitCode: 2, lines: 7 } }),
    );
    expect(rows).toEqual([
      "  ✗ bash x · exit 2 · 7 lines",
      "    … 2 lines above",
      "    c",
      "    d",
      "    e",
      "    f",
      "    g",
    ]);
  });

  test("that edits shows the diff with line numbers", () => {
    const display = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@\n same\n-old\n+new\n end";
    const { rows } = tell(
      call("str_replace_editor", { command: "str_replace", path: "/w/src/x.ts" }),
      result({ display, toolName: "str_replace_editor" }),
    );
    expect(rows).toEqual([
      "  ✓ edit src/x.ts · +1 −1",
      "     9   same",
      "    10 - old",
      "    10 + new",
      "    11   end",
    ]);
  });

  test("shows no escape that a program or the model wrote", () => {
    const evil = "\x1b[2J\x1b]52;c;AAAA\x07ok\u202e\x9b31m";
    const { rows } = tell(
      call("bash", { command: evil }),
      result({ content: evil, isError: true }),
      said(`${evil}\n`),
    );
    expect(rows.join("\n")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(rows.join("\n")).toContain("ok<U+202E>");
  });
});

test("no row is wider than the window", () => {
  const wide = "日本語のとても長い行 ".repeat(12) + "x".repeat(200);
  const { rows } = tell(
    { type: "user_message", content: [{ type: "text", text: wide }] },
    reply(
      text(`# ${wide}\n- ${wide}\n> ${wide}\n\`\`\`\n${wide}\n\`\`\`\n| ${wide} | b |\n|---|---|\n${wide}`),
    ),
    { type: "warning", text: wide },
  );
  for (const row of rows) expect([...row].length).toBeLessThanOrEqual(60);
});

describe("a long line under way", () => {
  const words = [
    "plain",
    "**two words**",
    "`some code`",
    "_leaning_",
    "snake_case",
    "2 * 3",
    "[a link](https://e.org/x)",
    "日本語。",
    "x".repeat(70),
  ];

  test("becomes the same rows as the whole line at once, however it comes", { timeout: 300_000 }, () => {
    const random = seededRandom(5);
    const pick = (most: number) => Math.floor(random() * most);
    for (let round = 0; round < 150; round++) {
      const lead = ["", "- ", "  1. ", "> ", "## "][pick(5)];
      const line =
        lead + Array.from({ length: 10 + pick(60) }, () => words[pick(words.length - 2)]).join(" ");
      const size = 1 + pick(30);
      const pieces = Array.from({ length: Math.ceil(line.length / size) }, (_, at) =>
        said(line.slice(at * size, (at + 1) * size)),
      );
      const trimmed = (rows: string[]) => rows.map((row) => row.trimEnd());
      expect(trimmed(tell(...pieces, reply(text(line))).rows)).toEqual(trimmed(tell(reply(text(line))).rows));
    }
  });

  test("is told while it comes, so that not more than three rows wait", () => {
    const { rows, tail } = tell(said("some words of it ".repeat(60)));
    expect(rows.length).toBeGreaterThan(10);
    expect(tail.length).toBeLessThanOrEqual(3);
  });

  test("waits as a whole where a mark in it is open", () => {
    const { rows, tail } = tell(said(`see **${"some words of it ".repeat(30)}`));
    expect(rows).toEqual([]);
    expect(tail.length).toBeGreaterThan(5);
  });

  test("goes on behind what a failed attempt has told of it", () => {
    const line = Array.from({ length: 90 }, (_, index) => `w${index}`).join(" ");
    const { rows } = tell(said(line.slice(0, 300)), failed, said(line), reply(text(line)));
    expect(rows.join(" ").match(/w\d+/g)).toEqual(line.split(" "));
  });
});

describe("a search of the provider", () => {
  const page = (url: string) => ({
    type: "web_search_result" as const,
    url,
    title: "T",
    encrypted_content: "E",
  });
  const pages = [page("https://a.example/1"), page("https://b.example/2")];
  const use: AssistantBlock = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } };
  const result: AssistantBlock = { type: "web_search_tool_result", tool_use_id: "s", content: pages };
  const line = '  · web search "q": 2 results (a.example, b.example)';
  const cited: AssistantBlock = { type: "text", text: "one.", citations: [{}] };

  test("is a row of its own between the words, once, and cited words go on in their line", () => {
    const parts: ModelPart[] = [
      said("I look."),
      { type: "searched", search: { id: "s", query: "q", pages } },
      ...[said("It is "), said("one.")],
    ];
    const { rows } = tell(...parts, reply(text("I look."), use, result, text("It is "), cited));
    expect(rows).toEqual(["  I look.", "", line, "", "  It is one."]);
  });

  test("of a stored session stands before its words; one that never ended is not shown", () => {
    expect(tell(reply(use, result, text("It is "), cited)).rows).toEqual([line, "", "  It is one."]);
    expect(tell(reply(text("I look."), use)).rows).toEqual(["  I look."]);
  });
});
