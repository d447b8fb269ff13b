/** The list of commands under the input: longer than its room, and always with the chosen one in it. */

import { expect, test } from "vitest";
import { commands } from "../../src/tui/commands/commands.ts";
import { open, type TerminalFixture } from "../support/terminal-fixture.ts";

/** The rows below the input that name a command, and the one that is marked. */
function listed({ terminal }: TerminalFixture): { names: string[]; chosen: string | undefined } {
  const rows = terminal.screen().flatMap((row) => /^ {2}([❯ ]) \/(\w+)/.exec(row) ?? []);
  const names = rows.filter((_, index) => index % 3 === 2);
  const marks = rows.filter((_, index) => index % 3 === 1);
  return { names, chosen: names[marks.indexOf("❯")] };
}

test.each([
  [80, 24],
  [40, 10],
])("in a window of %i by %i the chosen command is always in sight", async (columns, rows) => {
  const fixture = await open([], [], { columns, rows });
  const { terminal } = fixture;
  const all = commands.map(({ name }) => name);
  terminal.send("/");
  await terminal.until(`1 of ${all.length}`);
  expect(listed(fixture).names).toEqual(all.slice(0, listed(fixture).names.length));
  expect(listed(fixture).chosen).toBe(all[0]);
  for (let index = 1; index < all.length; index++) {
    terminal.send("\x1b[B");
    await terminal.until(`${index + 1} of ${all.length}`);
    expect(listed(fixture).chosen).toBe(all[index]);
  }
  terminal.send("\x1b[B");
  await terminal.until(`1 of ${all.length}`);
  terminal.send("fo");
  await terminal.until("❯ /focus");
  expect(terminal.screen().join("\n")).not.toMatch(/\d of \d/);
});
