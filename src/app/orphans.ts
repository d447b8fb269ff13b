/** Warnings about this machine while a session runs on it. */

import type { EventLog } from "../core/ports.ts";
import { toolNames } from "../core/tool-calls.ts";
import { findOrphans } from "../tools/bash/shell/orphans.ts";
import type { Shell } from "../tools/bash/shell/shell.ts";

/** `root`: folder of all sessions. `warn`: shows one line to the user. `reportOrphans`: true to report orphans here. */
type ShellLocation = { root: string; warn(text: string): void; reportOrphans: boolean };

/**
 * Reports each finding once. Orphans are looked up while the model thinks, so that no start waits for it. Call the
 * returned function at the end of the run, which may come sooner.
 */
export function watchMachine(log: EventLog, shell: Shell, surroundings: ShellLocation): () => void {
  let pending = surroundings.reportOrphans;
  const report = (): void => {
    if (!pending) return;
    pending = false;
    warnOfOrphans(surroundings.root, "sawtooth doctor --clean ends them", surroundings.warn);
  };
  const onRequest = log.subscribe(({ type }) => {
    if (type !== "model_request") return;
    onRequest();
    setTimeout(report, 50).unref();
  });
  const onResult = log.subscribe((event) => {
    if (event.type !== "tool_result" || event.toolName !== toolNames.bash) return;
    onResult();
    if (shell.terminal() === false)
      surroundings.warn(
        "the shell has no terminal here: commands run on pipes, tty is not available, and nobody can type for them",
      );
  });
  return report;
}

/** Reports the processes that killed runs left, if any, in one line; `advice`: how to end them. */
export function warnOfOrphans(root: string, advice: string, warn: (text: string) => void): void {
  const found = findOrphans(root);
  if (found.length === 0) return;
  const named = found.slice(0, 3).map(({ pid, command }) => `${pid} ${command.slice(0, 60)}`);
  const more = found.length > 3 ? `, and ${found.length - 3} more` : "";
  warn(`a killed run left processes: ${named.join("; ")}${more} (${advice})`);
}
