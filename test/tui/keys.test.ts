import { expect, test } from "vitest";
import { again, atRest, open } from "../support/terminal-fixture.ts";

const auto = ["--permission-mode", "auto"];

test("what was typed comes back with Up and is found with Ctrl-R, also in the next session", async () => {
  const { terminal, workspace } = await open([{ text: "one" }, { text: "two" }]);
  terminal.send("first question\r");
  await terminal.until("one");
  terminal.send("second question\r");
  await terminal.until("two");
  terminal.send("\x1b[A\x1b[A");
  await terminal.until(/two[\s\S]*› first question\n/);
  terminal.send("\x03\x04");
  await terminal.ended;
  const later = await again(workspace);
  later.send("\x12fir");
  await later.until("search: fir  first question");
  later.send("\r");
  await later.until("› first question");
});

test("Ctrl-G opens the editor of the person on the text", async () => {
  const env = { EDITOR: "sed -i s/draft/better/" };
  const { terminal } = await open([{ text: "final" }], [], { env });
  terminal.send("a draft\x07");
  await terminal.until("› a better");
});

test("Ctrl-O shows show the latest calls in full, and history stays as it was", async () => {
  const calls = [{ bash: { command: "seq 100 140" } }];
  const { terminal } = await open([{ calls }, { text: "final" }], auto);
  terminal.send("go\r");
  await terminal.until("final");
  expect(terminal.whole().join("\n")).not.toContain("117");
  terminal.send("\x0f");
  await terminal.until("112");
  terminal.send("\x1b[6~\x1b[6~\x1b[6~");
  await terminal.until("│ 140");
  terminal.send("\x1b");
  await terminal.until("› ");
  await terminal.quiet();
  expect(terminal.whole().join("\n")).not.toContain("140\n");
});

test("Shift-Tab changes the mode, for the very next call", async () => {
  const calls = [{ bash: { command: "echo free > made.txt" } }];
  const { terminal } = await open([{ calls }, { text: "final" }]);
  terminal.send("\x1b[Z\x1b[Z\x1b[Z");
  await terminal.until(/^ {2}auto/m);
  terminal.send("go\r");
  await terminal.until("final");
  expect(terminal.whole().join("\n")).toContain("✓ bash");
});

test("a session goes on with its last words on the screen, and /clear begins another", async () => {
  const { terminal, workspace, server } = await open([
    { text: "answer one" },
    { text: "answer two" },
    { text: "answer three" },
  ]);
  terminal.send("remember me\r");
  await terminal.until("answer one");
  await atRest(terminal);
  terminal.send("\x04");
  await terminal.ended;
  const later = await again(workspace, ["-c"]);
  await later.until("answer one");
  later.send("more\r");
  await later.until("answer two");
  await atRest(later);
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("remember me");
  later.send("/clear\r");
  await later.until(/Sawtooth[\s\S]*answer two[\s\S]*Sawtooth/);
  later.send("anew\r");
  await later.until("answer three");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).not.toContain("remember me");
});

test("a retry is counted down, and the answer is shown once", async () => {
  const { terminal } = await open([
    { text: "never", fault: { status: 529, headers: { "retry-after": "2" } } },
    { text: "the answer" },
  ]);
  terminal.send("go\r");
  await terminal.until(/Trying again in [12] s/);
  await terminal.until("the answer");
  await terminal.quiet();
  expect(terminal.whole().join("\n").split("the answer")).toHaveLength(2);
});
