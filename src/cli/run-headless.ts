/** A headless run and what it needs up to its first request: the file that every run loads. */

import { converse } from "../app/conversation.ts";
import type { Flags } from "./arguments/options.ts";
import { runPrint } from "./headless/print.ts";

/** Runs the prompt and returns the exit code. */
export function runHeadless(prompt: string | undefined, flags: Flags): Promise<number> {
  return runPrint(prompt, flags, converse);
}
