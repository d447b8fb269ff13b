/** Files that somebody else changes under the model's eyes: told once, by the cheapest channel, and only when true. */

import { mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import type { Channel } from "../../src/context/reminders/wording.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { fileWatch } from "../../src/tools/editor/file-watch.ts";
import { editorTool } from "../../src/tools/editor/tool.ts";
import { fakeTool, type TestAgent, testAgent } from "../support/agents.ts";
import { testCard, user } from "../support/logs.ts";

const never = new AbortController().signal;
let folder = "";
let file = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-files-")));
  file = join(folder, "a.ts");
  writeFileSync(file, "one\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const view: ScriptedReply = { calls: [{ str_replace_editor: { command: "view", path: "a.ts" } }] };
const bash = (command: string): ScriptedReply => ({ calls: [{ bash: { command } }] });
const done: ScriptedReply = { text: "done" };

/** Events while a command runs; the rest is quiet. */
type Happenings = Record<string, () => void>;

function session(
  turns: ScriptedReply[],
  happen: Happenings,
  changes: Parameters<typeof testAgent>[0] | object = {},
): TestAgent {
  const made = testAgent({
    turns,
    tools: [
      editorTool({ description: "", workspace: folder }),
      fakeTool("bash", ({ command }) => {
        happen[String(command)]?.();
        return { content: `ran ${command}` };
      }),
    ],
    ...changes,
  });
  made.agent.changedFiles = fileWatch();
  return made;
}
const told = ({ log }: TestAgent) =>
  allOf(log.events(), "reminder").filter((event) => event.about?.includes("files"));
const write = (text: string) => () => writeFileSync(file, text);

test.each([
  ["free", "tail"],
  ["free", "logged"],
  ["prefix_bound", "turn_scoped"],
] as const)(
  "on a %s history it is told once by %s, and anew when it changes again",
  async (history, reminders) => {
    const contract = { ...testCard(history).contract, reminders: reminders as Channel };
    const turns = [
      view,
      bash("wait"),
      bash("look"),
      bash("wait again"),
      bash("look"),
      view,
      bash("look"),
      done,
    ];
    const made = session(
      turns,
      { wait: write("two\n"), "wait again": write("three\n") },
      { card: [history, { contract }] },
    );
    expect(await runTurn(made.agent, never)).toBe("completed");
    expect(told(made).map((event) => event.channel)).toEqual([reminders, reminders]);
    expect(told(made)[0]?.text).toContain("a.ts");
    for (const request of made.requests) expect(brokenRules(request)).toEqual([]);
    expect(JSON.stringify(made.requests[2]?.messages)).toContain(
      JSON.stringify(told(made)[0]?.text).slice(1, -1),
    );
  },
);

test("a touch, a change back and the model's own edits say nothing", async () => {
  const edit: ScriptedReply = {
    calls: [{ str_replace_editor: { command: "str_replace", path: "a.ts", old_str: "one", new_str: "two" } }],
  };
  const made = session(
    [view, bash("touch"), edit, bash("look"), bash("there and back"), bash("look"), done],
    {
      touch: () => utimesSync(file, new Date(), new Date()),
      "there and back": () => {
        writeFileSync(file, "other\n");
        writeFileSync(file, "two\n");
      },
    },
  );
  await runTurn(made.agent, never);
  expect(told(made)).toEqual([]);
});

test("what the model's own command names it knows; what a formatter did besides it is told", async () => {
  const made = session(
    [view, bash("sed -i s/one/two/ a.ts"), bash("look"), bash("npm run format"), bash("look"), done],
    {
      "sed -i s/one/two/ a.ts": write("two\n"),
      "npm run format": write("two;\n"),
    },
  );
  await runTurn(made.agent, never);
  expect(told(made)).toHaveLength(1);
  const first = made.requests.findIndex(({ messages }) => JSON.stringify(messages).includes("<reminder>"));
  expect(JSON.stringify(made.requests[first]?.messages)).toContain("npm run format");
});

test("a file that is gone is said to be gone, one whose content left the view is not spoken of", async () => {
  const gone = session([view, bash("rm"), bash("look"), done], { rm: () => rmSync(file) });
  await runTurn(gone.agent, never);
  expect(told(gone).map((event) => event.text)).toEqual([expect.stringContaining("a.ts (gone)")]);

  writeFileSync(file, "one\n");
  const masked = session([view, bash("look"), done, bash("wait"), bash("look"), done], {
    wait: write("two\n"),
  });
  await runTurn(masked.agent, never);
  const seq = allOf(masked.log.events(), "tool_result")[0]?.seq ?? 0;
  const edits = [{ type: "replace" as const, seq, block: 0, text: "[masked]" }];
  masked.log.append({ type: "context_edited", policy: "masking", reason: "", edits, economics: {} });
  masked.log.append(user("go on"));
  await runTurn(masked.agent, never);
  expect(told(masked)).toEqual([]);
});

test("what changed while no session ran is told when it goes on, once", async () => {
  const made = session([view, done, bash("look"), done, done], {});
  await runTurn(made.agent, never);
  writeFileSync(file, "two\n");
  for (const words of ["go on", "and on"]) {
    made.log.append(user(words));
    // Another process: it remembers nothing.
    await runTurn({ ...made.agent, changedFiles: fileWatch() }, never);
  }
  expect(told(made)).toHaveLength(1);
});
