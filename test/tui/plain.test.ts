import { expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { drive } from "../support/pty-drive.ts";
import { serve } from "../support/served.ts";
import { hasTerminal } from "../tools/bash/shell-fixture.ts";

test("--plain tells each row once, asks by number, and writes no escape at all", async () => {
  const calls = [{ bash: { command: "echo made > made.txt" } }];
  const { workspace } = await serve([{ text: "I look.", calls }, { text: "All done." }]);
  const terminal = drive(workspace, ["--plain"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("/help");
  terminal.send("go\r");
  await terminal.until("Answer with a number.");
  terminal.send("1\r");
  await terminal.until("ready");
  const text = terminal.whole().join("\n");
  for (const once of ["I look.", "Run this command?", "✓ bash", "All done."])
    expect(text.split(once)).toHaveLength(2);
  terminal.send("/context\r");
  await terminal.until("The largest items");
  terminal.send("\x04");
  const { code } = await terminal.ended;
  expect(code).toBe(0);
  expect(terminal.raw()).not.toContain("\x1b");
});

test.skipIf(!hasTerminal)(
  "--plain asks by number for one line when a command waits at its terminal",
  async () => {
    const command = "printf 'name? ' >/dev/tty; read -r x </dev/tty; echo hello $x";
    const turns = [{ calls: [{ bash: { command } }] }, { text: "All done." }];
    const { terminal, server } = await openPlain(turns);
    terminal.send("go\r");
    await terminal.until("Answer with a number.");
    expect(terminal.screen().join("\n")).toMatch(/waits for input on its terminal: [\s\S]*name\?/);
    terminal.send("1\r");
    await terminal.until("Type the line");
    terminal.send("bob\r");
    await terminal.until("All done.");
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain(
      "hello bob\\n[a person answered at the terminal]",
    );
    expect(terminal.raw()).not.toContain("\x1b");
  },
);

async function openPlain(turns: ScriptedReply[]) {
  const { server, workspace } = await serve(turns);
  const terminal = drive(workspace, ["--plain", "--permission-mode", "auto"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("/help");
  return { terminal, server };
}
