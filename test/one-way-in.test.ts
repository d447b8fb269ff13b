/** The screen, headless runs, repairs, editors and programs talk to a session in one way: `converse`. */

import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { type Node, nodesOf, read, root } from "./support/source.ts";

/** The functions that open and run sessions, and the files that may import each. */
const waysIn = {
  converse: [
    ...["src/cli/acp/acp.ts", "src/cli/commands.ts", "src/cli/interactive/first-start.ts"],
    ...["src/cli/interactive/next-session.ts", "src/cli/run-headless.ts", "src/library/create-agent.ts"],
  ],
  openRun: ["src/app/conversation.ts"],
  runMessage: ["src/app/conversation.ts", "src/app/delegate/run-delegate.ts"],
  runTurn: ["src/app/messages/run-message.ts"],
};

test("sessions are opened and run in one place", () => {
  const importers: Record<string, string[]> = { converse: [], openRun: [], runMessage: [], runTurn: [] };
  for (const path of globSync("src/**/*.ts", { cwd: root }).sort()) {
    const names = nodesOf(read(path).program)
      .filter((node) => node.type === "ImportSpecifier")
      .map((node) => String((node.imported as Node).name));
    for (const name of new Set(names)) if (Object.hasOwn(importers, name)) importers[name]?.push(path);
  }
  expect(importers).toEqual(waysIn);
});
