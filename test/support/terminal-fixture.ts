/** The fixture for tests of the screen: the program in a terminal of its own, with the strict server. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "./mock-server.ts";
import type { Drive, DriveOptions } from "./pty-drive.ts";
import type { Workspace } from "./sawtooth.ts";
import { serve } from "./served.ts";
import { driveWarm } from "./warm-screens.ts";

export type TerminalFixture = { terminal: Drive; server: MockServer; workspace: Workspace };

/** A command that runs until `letGo`: what is done meanwhile may take as long as it takes. */
export const held = "until [ -e ~/go ]; do sleep 0.05; done; echo done";

export function letGo({ home }: Workspace): void {
  writeFileSync(join(home, "go"), "");
}

/** Starts the program, ready for keys; everything is removed when the test is over. */
export async function open(
  turns: ScriptedReply[],
  words: string[] = [],
  options: DriveOptions = {},
): Promise<TerminalFixture> {
  const { server, workspace } = await serve(turns);
  return { terminal: await again(workspace, words, options), server, workspace };
}

/** Starts the program once more in the same workspace. */
export async function again(
  workspace: Workspace,
  words: string[] = [],
  options: DriveOptions = {},
): Promise<Drive> {
  const terminal = driveWarm(workspace, words, options);
  onTestFinished(terminal.done);
  await terminal.until("›");
  return terminal;
}

/** Waits until nothing runs. Only then most commands are taken: the last words of an answer are shown before its end is. */
export function atRest(terminal: Drive): Promise<void> {
  return terminal.until(/^(?![\s\S]*\n *[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] )/);
}

/** The newest user text in the newest request. */
export function lastUserText(server: MockServer): string {
  const message = server.requests.at(-1)?.messages.findLast(({ role }) => role === "user");
  const content = (message?.content ?? []) as { type: string; text?: string }[];
  return content.findLast(({ type }) => type === "text")?.text ?? "";
}
