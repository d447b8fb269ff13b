/** Interactive mode: connects the screen to sessions, one after the other, until the user leaves. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Chosen, Conversation } from "../../app/conversation.ts";
import { sessionRoot } from "../../app/opening/folders.ts";
import { warnOfOrphans } from "../../app/orphans.ts";
import { packagePath } from "../../app/prompts.ts";
import type { Run } from "../../app/session.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings } from "../../config/settings.ts";
import { createTui } from "../../tui/app/tui.ts";
import { createPlain } from "../../tui/plain/plain.ts";
import type { Tui } from "../../tui/ports/session.ts";
import type { Reflow } from "../../tui/screen/reflow.ts";
import { createTerminal } from "../../tui/screen/terminal.ts";
import type { Flags } from "../arguments/options.ts";
import { writeOut, writeStack } from "../terminal-output.ts";
import { hostOf, pictured } from "./host.ts";
import { listBefore, type NextSession, nextAfter, openFirst, openOr } from "./next-session.ts";
import { notifierOf } from "./notifier.ts";

/** Milliseconds before the machine's processes are scanned, so that the first frame comes first. */
const orphanCheckMs = 300;

/** Runs until the user leaves; returns the exit code. */
export async function runInteractive(prompt: string | undefined, flags: Flags): Promise<number> {
  const { env } = process;
  const { version } = JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as { version: string };
  const plain = flags.plain || env.TERM === "dumb";
  const choosing = flags.resume === "" ? listBefore(flags) : undefined;
  const tui: Tui = plain
    ? createPlain({ version, input: process.stdin })
    : redrawn(version, { env, flags, warn: (text) => tui.warn(text) });
  const end = endings(tui);
  if (!plain) process.stdin.on("end", end.hangUp).on("error", end.hangUp);
  // They also apply to the following sessions.
  const chosen: Chosen = { allow: [] };
  const root = sessionRoot({ flags, env, cwd: process.cwd() });
  setTimeout(() => warnOfOrphans(root, "/jobs clean ends them", tui.warn), orphanCheckMs).unref();
  let hint = "";
  try {
    const resume = choosing && (await tui.pick(choosing));
    if (choosing && resume === undefined) return end.code();
    if (!flags.bare && existsSync(join(workspaceRoot(process.cwd()), ".mcp.json")))
      await (await import("./project-servers.ts")).askAboutServers(tui, env);
    let next: NextSession = {
      flags: resume === undefined ? flags : { ...flags, resume },
      begin: { say: prompt },
    };
    let last: string | undefined;
    for (;;) {
      const { person, warn } = tui;
      const takeSteering = () => pictured(person.takeQueued(), conversation.run);
      const { ask, onWaiting } = person;
      const context = { ask, onWaiting, takeSteering, flags, last, chosen, warn, crashed: end.crashed };
      const conversation: Conversation = await (last === undefined
        ? openFirst(next, context, { tui, chosen })
        : openOr(next, context));
      const { run, close } = conversation;
      end.watching = false;
      end.cleanUp = () => tui.stopped().then(close);
      const host = hostOf(conversation, { flags: next.flags, root });
      const leave = await tui.attach(host, run.sessionId === last ? {} : next.begin);
      hint = hintOf(run);
      last = run.sessionId;
      await close();
      end.watching = true;
      if (leave.type === "quit") break;
      next = nextAfter(leave, { ...flags, ...(chosen.model ? { model: chosen.model } : {}) });
    }
  } finally {
    tui.close();
  }
  writeOut(hint);
  return end.code();
}

type Drawing = { env: NodeJS.ProcessEnv; flags: Flags; warn(text: string): void };

/** Throws `SettingsError`. */
function redrawn(version: string, { env, flags, warn }: Drawing): Tui {
  const settings = flags.bare ? {} : readSettings(join(folders(env).config, "settings.json"));
  const notifier = notifierOf(settings.notify, { env, warn });
  const terminal = createTerminal(process.stdin, process.stdout, { reportsFocus: notifier !== undefined });
  return createTui({ terminal, version, colour: !env.NO_COLOR, reflow: reflowOf(env), notifier });
}

/** Detects the terminal by its variables; an unknown one counts as the most widespread library. */
function reflowOf(env: NodeJS.ProcessEnv): Reflow {
  if (env.XTERM_VERSION || env.TERM === "linux") return "none";
  const { TMUX, VTE_VERSION, KITTY_WINDOW_ID, ALACRITTY_WINDOW_ID, TERM_PROGRAM = "" } = env;
  const exact = TMUX || VTE_VERSION || KITTY_WINDOW_ID || ALACRITTY_WINDOW_ID;
  return exact || /iTerm|WezTerm|ghostty|Apple_Terminal/.test(TERM_PROGRAM) ? "exact" : "xterm.js";
}

/** Returns how to resume the session, unless it is empty. */
function hintOf({ agent, sessionId }: Run): string {
  const said = agent.log.events().some(({ type }) => type === "user_message");
  return said ? `Resume with: sawtooth -r ${sessionId}\n` : "";
}

/** Restores the terminal first, however the process ends; a signal then ends the session in order. */
function endings(tui: Tui) {
  let exitCode = 0;
  const onSignal = (code: number) => () => {
    if (exitCode !== 0) process.exit(code);
    exitCode = code;
    tui.close();
    setTimeout(() => process.exit(code), 3000).unref();
    void end.cleanUp().finally(() => process.exit(code));
  };
  const crashed = (error: unknown) => {
    try {
      tui.close();
    } finally {
      // Also when the bug lies in drawing, and closing meets it again.
      writeStack(error);
    }
  };
  const end = {
    ...{ cleanUp: async () => {}, code: () => exitCode, hangUp: onSignal(129), crashed },
    /** True while no session is open, which would hear of a bug itself. */
    watching: true,
  };
  process.on("SIGTERM", onSignal(143));
  process.on("SIGHUP", onSignal(129));
  process.stdout.on("error", end.hangUp);
  process.on("uncaughtException", (error) => {
    if (!end.watching) return;
    crashed(error);
    process.exit(1);
  });
  return end;
}
