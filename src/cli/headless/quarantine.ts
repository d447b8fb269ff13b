/** `--quarantine`: a run over text that nobody trusts, without tools, project files and a session that is kept. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Converse } from "../../app/conversation.ts";
import { UsageError } from "../../core/errors.ts";
import type { Flags } from "../arguments/options.ts";
import { unboundedIn } from "./bounded-schema.ts";
import type { ResultObject, WrittenResult } from "./result.ts";

export type Isolated = ReturnType<typeof quarantined>;

/** Prepares runs in an empty folder; `remove` takes them away. Throws `UsageError` for flags that do not fit. */
export function quarantined(flags: Flags, converse: Converse) {
  checkFlags(flags);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-quarantine-")));
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  const own = { bare: true, context: "raw", sessionDir: join(folder, "sessions"), addDirs: [] };
  const open: Converse = (options) =>
    converse({ ...options, cwd, withoutTools: true, flags: { ...options.flags, ...own } });
  return {
    converse: open,
    checkSchema(schema: object): void {
      const [first, ...more] = unboundedIn(schema);
      if (first === undefined) return;
      const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
      throw new UsageError(`--quarantine: the schema lets free text out: ${first}${rest}`);
    },
    withoutWords,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function checkFlags(flags: Flags): void {
  if (flags.jsonSchema === undefined)
    throw new UsageError("--quarantine needs --json-schema: nothing else of the answer is let out");
  if (flags.inputFormat !== "text" || flags.outputFormat === "stream-json")
    throw new UsageError("--quarantine takes text and gives text or json: a stream would let the words out");
  if (flags.continueNewest || flags.resume !== undefined || flags.fork || flags.sessionDir !== undefined)
    throw new UsageError("--quarantine keeps no session: leave out -c, -r, --fork and --session-dir");
}

/** Takes every word of the model out of a result but the data that fits the schema, and the session that is gone. */
function withoutWords(result: ResultObject): WrittenResult {
  const { structured_output: value, is_error } = result;
  return {
    ...result,
    result: value === null ? "" : JSON.stringify(value),
    errors: is_error ? [`no answer that fits the schema (${result.subtype})`] : [],
    session_id: null,
    resume: null,
  };
}
