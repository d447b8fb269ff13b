/** `sawtooth replay --permissions`: what modes and rules would have asked and refused in recordings. */

import { parserFor } from "../../app/bash-grammar.ts";
import { permissionModes } from "../../core/decision.ts";
import { UsageError } from "../../core/errors.ts";
import { importRecordings } from "../../lab/recordings/import.ts";
import { figuresOf, policyCsv, policyJson, policyTable } from "../../lab/replay/permission-table.ts";
import { judgeCalls, type Policy, recordedCalls } from "../../lab/replay/permissions.ts";
import type { Command } from "../arguments/arguments.ts";
import { writeError, writeOut } from "../terminal-output.ts";

type Flags = Extract<Command, { name: "replay" }>["flags"];

/** Prints the figures of each policy. Exit code 0; 1 when a file could not be read. Throws `UsageError`. */
export async function replayPermissions(files: readonly string[], flags: Flags): Promise<number> {
  const { recordings, problems } = importRecordings(files);
  for (const problem of problems) writeError(`sawtooth: ${problem}\n`);
  if (recordings.length === 0) throw new UsageError("none of the files could be replayed");
  const calls = recordings.flatMap(({ events }) => recordedCalls(events));
  const parse = await parserFor({ kind: "execute", command: "a|b" });
  const figures = policiesOf(flags).map((policy) =>
    figuresOf(policy, judgeCalls(calls, policy, { home: "/home/user", parse })),
  );
  switch (flags.tableFormat) {
    case "table": {
      const commands = calls.filter(({ access }) => access.kind === "execute").length;
      writeOut(`${recordings.length} recordings, ${commands} commands among ${calls.length} calls\n\n`);
      writeOut(`${policyTable(figures)}\n`);
      break;
    }
    case "json":
      writeOut(`${policyJson(figures)}\n`);
      break;
    case "csv":
      writeOut(`${policyCsv(figures)}\n`);
  }
  return problems.length > 0 ? 1 : 0;
}

/** Every mode, with and without a sandbox, as far as the flags do not choose. */
function policiesOf({ permissionMode, allow, deny, ...more }: Flags): Policy[] {
  const { sandbox } = more as { sandbox?: string };
  const modes = permissionMode ? [permissionMode] : permissionModes;
  const inside = sandbox === "on" ? [true] : sandbox === "off" ? [false] : [false, true];
  return modes.flatMap((mode) => inside.map((one) => ({ mode, sandbox: one, allow, deny })));
}
