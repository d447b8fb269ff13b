/** Six screens of the program as a person sees them, kept in `test/golden/screens`: a change is read in the diff. */

import { afterAll, beforeAll, describe, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { matchesGolden, scrub } from "../support/golden.ts";
import { open, type TerminalFixture } from "../support/terminal-fixture.ts";

const size = { columns: 80, rows: 30 };
const auto = ["--permission-mode", "auto"];

/** Returns the screen once nothing more is written but the spinner: the window, and where the cursor stands. */
function matchesScreen(name: string, { terminal, workspace }: TerminalFixture): void {
  const { row, column } = terminal.cursor();
  const text = scrub(terminal.screen().join("\n"), { folder: workspace.cwd, home: workspace.home })
    .replaceAll(/\b(work-)[0-9a-f]{12}\b/g, "$1<hash>")
    .replace(/(Sawtooth) \d+\.\d+\.\d+/, "$1 <version>")
    .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "<spinner>")
    .replaceAll(/(calls?), \d+ s,/g, "$1, <seconds> s,")
    // Whether a call took long enough for its time to be told depends on the machine.
    .replaceAll(/ · \d+(\.\d)? s\b/g, "");
  matchesGolden(`screens/${name}`, `${text.trimEnd()}\n\n[cursor in row ${row + 1}, column ${column + 1}]\n`);
}

const edit: ScriptedReply[] = [
  {
    calls: [
      { bash: { command: "printf 'export const a = 1;\\nexport const b = 1;\\n' > cart.ts; ls -1" } },
      {
        str_replace_editor: {
          command: "str_replace",
          path: "{{cwd}}/cart.ts",
          old_str: "b = 1;\n",
          new_str: "b = 2;\nexport const c = 3;\n",
        },
      },
      { bash: { command: "sh -c 'echo one; echo two >&2; exit 3'" } },
    ],
  },
  { text: "The **cart** is fixed:\n\n- `b` is 2 now\n- `c` is new" },
];

async function finished(): Promise<TerminalFixture> {
  const fixture = await open(edit, auto, size);
  fixture.terminal.send("fix the cart\r");
  await fixture.terminal.until("c is new");
  await fixture.terminal.until("what to do?");
  return fixture;
}

// The figures count the folder's name and the platform's, which the model reads.
describe.skipIf(process.platform !== "linux")("the screen", () => {
  const before = process.env.TMPDIR;
  beforeAll(() => {
    process.env.TMPDIR = "/tmp";
  });
  afterAll(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });

  test("of a session that begins", async () => {
    const fixture = await open([], [], size);
    await fixture.terminal.until("what to do?");
    matchesScreen("welcome", fixture);
  });

  test("while it works through a list of tasks, with a message queued", async () => {
    const items = [
      { text: "Read the failing test", status: "done" },
      { text: "Fix the discount of a cart", status: "active" },
      { text: "Run all tests again", status: "open" },
    ];
    const command = 'for i in 1 2 3 4; do echo "ok $i - a test of the cart"; done; sleep 600';
    const turns: ScriptedReply[] = [
      { text: "I run the tests.", calls: [{ todo: { items } }] },
      { calls: [{ bash: { command } }] },
    ];
    const fixture = await open(turns, auto, size);
    fixture.terminal.send("make the tests pass\r");
    await fixture.terminal.until("ok 4");
    fixture.terminal.send("and keep the public names\r");
    await fixture.terminal.until("queued");
    matchesScreen("working", fixture);
  });

  test("of a question whether a command may run", async () => {
    const command = "rm -rf build && npm run build -- --mode production";
    const fixture = await open(
      [{ text: "I clear the old build first.", calls: [{ bash: { command } }] }],
      [],
      size,
    );
    fixture.terminal.send("build it\r");
    await fixture.terminal.until("Run this command?");
    matchesScreen("permission", fixture);
  });

  test("of a finished turn with a diff", async () => {
    matchesScreen("finished", await finished());
  });

  test("of /context", async () => {
    const fixture = await finished();
    fixture.terminal.send("/context\r");
    await fixture.terminal.until(/largest[\s\S]*what to do\?/);
    matchesScreen("context", fixture);
  });

  test("of the list of stored sessions", async () => {
    const fixture = await finished();
    fixture.terminal.send("/clear\r");
    await fixture.terminal.until(/› \/clear[\s\S]*\/help[\s\S]*what to do\?/);
    fixture.terminal.send("/resume\r");
    await fixture.terminal.until("type to search");
    await fixture.terminal.until("just now");
    matchesScreen("sessions", fixture);
  });
});
