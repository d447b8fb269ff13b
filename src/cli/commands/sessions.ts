/** `sawtooth sessions`: lists the stored sessions, shows one, or exports it. */

import { storedRedactor } from "../../config/env-files.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent } from "../../core/events.ts";
import type { ExportFormat } from "../../core/formats.ts";
import { started } from "../../core/questions.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import type { FlagsOf } from "../arguments/options.ts";

type Stored = { id: string; turns: number; title: string; name?: string; cwd: string };

/** The session store, as these commands need it. */
export type StoredSessions = {
  /** Lists sessions with their secrets redacted, newest first; of every folder without `cwd`. */
  list(cwd: string | undefined): Stored[];
  /** Reads a session by a prefix of its id; without one, the newest of this folder. Throws `SessionError`. */
  read(id: string | undefined): readonly LogEvent[];
};

/** Returns the output of the command. Throws `UsageError`. */
export async function sessionsOutput(
  [verb = "list", id, ...rest]: readonly string[],
  flags: FlagsOf<"sessions">,
  stored: StoredSessions,
): Promise<string> {
  if (rest.length > 0) throw new UsageError(`sessions ${verb} takes one session; unexpected: ${rest[0]}`);
  switch (verb) {
    case "list": {
      const cwd = flags.verbose ? undefined : process.cwd();
      return sessionsText(stored.list(cwd), cwd);
    }
    case "show":
      return exported(stored.read(id), "text");
    case "export":
      return exported(stored.read(id), flags.format, flags.redact);
    default:
      throw new UsageError(`unknown command: sessions ${verb} (use sessions list, show, or export)`);
  }
}

/**
 * Exports a session in one of the formats, with secrets redacted: of this environment, of `.env` files, of well-known
 * shapes. `forSharing`: without what names the person or the machine too.
 */
export async function exported(
  events: readonly LogEvent[],
  format: ExportFormat | "text",
  forSharing = false,
): Promise<string> {
  const withoutSecrets = storedRedactor(process.env, [started(events).cwd]);
  const withoutNames = forSharing ? await namesRedactor() : undefined;
  const hide = withoutNames ? (text: string) => withoutNames(withoutSecrets(text)) : withoutSecrets;
  if (format === "json") return (await import("../../report/export/json.ts")).exportJson(events, hide);
  const whole = (await import("../../report/export/parts.ts")).exportOf(events, hide);
  if (format === "html") return (await import("../../report/export/html.ts")).exportHtml(whole);
  const { exportMarkdown, exportText } = await import("../../report/export/markdown.ts");
  return format === "md" ? exportMarkdown(whole) : exportText(whole);
}

async function namesRedactor(): Promise<(text: string) => string> {
  const [{ homedir, hostname, userInfo }, { withoutPerson }] = await Promise.all([
    import("node:os"),
    import("../../core/secrets/personal.ts"),
  ]);
  return withoutPerson({
    home: process.env.HOME ?? homedir(),
    user: accountName(userInfo),
    host: hostname(),
  });
}

/** An account without an entry has no name to find. */
function accountName(userInfo: () => { username: string }): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

/** Formats one line a session; `cwd`: the list is of this folder only, so the lines need not name it. */
function sessionsText(sessions: readonly Stored[], cwd: string | undefined): string {
  if (sessions.length === 0) return cwd ? "no sessions in this folder\n" : "no sessions\n";
  return sessions
    .map(({ id, turns, title, name, cwd: folder }) => {
      const count = `${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}`;
      const called = name ? `[${name}] ` : "";
      return `${id}  ${count}  ${cleanLine(`${called}${title}${cwd ? "" : `  (${folder})`}`)}\n`;
    })
    .join("");
}
