/** Implements `/report`, `/export` and `/doctor`; loaded when first needed. */

import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { machineAt, openPage } from "../../app/machine.ts";
import { encodingOf } from "../../app/models.ts";
import { packageVersion } from "../../app/prompts.ts";
import type { Run } from "../../app/session.ts";
import { UsageError } from "../../core/errors.ts";
import type { ExportFormat } from "../../core/formats.ts";
import { whyUnwritable } from "../../disk/error-words.ts";
import { replaceFile } from "../../disk/replace-file.ts";
import { reportHtml } from "../../report/page/html.ts";
import { doctorChecks, doctorText } from "../commands/doctor.ts";
import { exported } from "../commands/sessions.ts";

type Environment = Record<string, string | undefined>;

/** Writes the page to the session's folder, for its owner only, replacing an earlier one. */
export async function writeReport(
  { agent, folder }: Run,
  env: Environment,
): Promise<{ file: string; opened: boolean }> {
  const file = join(folder, "report.html");
  const events = agent.log.events();
  write(file, reportHtml(events, await encodingOf(events)));
  return { file, opened: await openPage(file, env) };
}

/**
 * Writes the session to a file and returns its absolute path. Without a name it lies in the session's folder. An
 * existing file is not overwritten. Throws `UsageError`.
 */
export async function writeExport(
  { agent, folder }: Run,
  { format, file, cwd }: { format: ExportFormat; file: string; cwd: string },
): Promise<string> {
  const named = file !== "";
  const home = file.replace(/^~(?=\/)/, process.env.HOME ?? homedir());
  const path = named ? resolve(cwd, home) : join(folder, `session.${format}`);
  write(path, await exported(agent.log.events(), format), named);
  return path;
}

function write(path: string, text: string, mustBeNew = false): void {
  try {
    if (mustBeNew) writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    else replaceFile(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new UsageError(`${path} already exists: choose another name`);
    throw new UsageError(whyUnwritable(path, error));
  }
}

/** Returns the output of `sawtooth doctor`, without cleaning anything. */
export async function examined(sessionRoot: string): Promise<string> {
  return doctorText(await doctorChecks(machineAt(sessionRoot), false), packageVersion());
}
