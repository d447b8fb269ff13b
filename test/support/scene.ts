/** The program in a terminal of its own, over the strict server: what tests of the screen begin with. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "./mock-server.ts";
import { type Drive, type DriveOptions, drive } from "./pty-drive.ts";
import type { Place } from "./sawtooth.ts";
import { serve } from "./served.ts";

export type Scene = { terminal: Drive; server: MockServer; place: Place };

/** A command that runs until `letGo`: what is done meanwhile may take as long as it takes. */
export const held = "until [ -e ~/go ]; do sleep 0.05; done; echo done";

export function letGo({ home }: Place): void {
  writeFileSync(join(home, "go"), "");
}

/** Ready for keys; all of it is gone when the test is over. */
export async function open(
  turns: ScriptedReply[],
  words: string[] = [],
  options: DriveOptions = {},
): Promise<Scene> {
  const { server, place } = await serve(turns);
  return { terminal: await again(place, words, options), server, place };
}

/** The program once more in the same place. */
export async function again(place: Place, words: string[] = [], options: DriveOptions = {}): Promise<Drive> {
  const terminal = drive(place, words, options);
  onTestFinished(() => terminal.kill());
  await terminal.until("›");
  return terminal;
}

/** What the person said last, in the newest request. */
export function lastUserText(server: MockServer): string {
  const message = server.requests.at(-1)?.messages.findLast(({ role }) => role === "user");
  const content = (message?.content ?? []) as { type: string; text?: string }[];
  return content.findLast(({ type }) => type === "text")?.text ?? "";
}
