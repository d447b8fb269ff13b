/** Interactive mode: connects the screen to sessions, one after the other, until the user leaves. */

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTurn } from "../../agent/loop.ts";
import { unknownCallFacts } from "../../agent/tool-calls.ts";
import { gitBranch } from "../../app/instructions/first-message.ts";
import { machineAt } from "../../app/machine.ts";
import { sessionRoot } from "../../app/opening/folders.ts";
import { warnOfOrphans } from "../../app/orphans.ts";
import { packagePath } from "../../app/prompts.ts";
import type { Person, Run } from "../../app/session.ts";
import { sessionsUnder, shortened } from "../../app/stored-sessions.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import type { PermissionMode } from "../../core/decision.ts";
import { currentModel, started } from "../../core/questions.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { shellText } from "../../core/text/tags.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { WaitingCommand } from "../../core/waiting-command.ts";
import { createTui } from "../../tui/app/tui.ts";
import { createPlain } from "../../tui/plain/plain.ts";
import type { Host, Tui, Watching } from "../../tui/ports/session.ts";
import type { Reflow } from "../../tui/screen/reflow.ts";
import { createTerminal } from "../../tui/screen/terminal.ts";
import type { Flags } from "../arguments/options.ts";
import { writeOut, writeStack } from "../terminal-output.ts";
import { rememberTyped, typedLines } from "./input-history.ts";
import { listBefore, type NextSession, nextAfter, openFirst, openOr } from "./next-session.ts";
import { sessionActions } from "./slash-commands.ts";
import { undoOf } from "./undo.ts";
import { workspaceFiles } from "./workspace-files.ts";

/** The user's choices since the start, which also apply to the following sessions. */
type Chosen = { mode?: PermissionMode; model?: string; allow: string[] };

/** Milliseconds before the machine's processes are scanned, so that the first frame comes first. */
const orphanCheckMs = 300;

/** Runs until the user leaves; returns the exit code. */
export async function runInteractive(prompt: string | undefined, flags: Flags): Promise<number> {
  const { env } = process;
  const { version } = JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as { version: string };
  const plain = flags.plain || env.TERM === "dumb";
  const choosing = flags.resume === "" ? listBefore(flags) : undefined;
  const tui = plain ? createPlain({ version, input: process.stdin }) : redrawn(version, env);
  const end = endings(tui);
  if (!plain) process.stdin.on("end", end.hangUp).on("error", end.hangUp);
  const chosen: Chosen = { allow: [] };
  const root = sessionRoot({ flags, env, cwd: process.cwd() });
  setTimeout(() => warnOfOrphans(root, "/jobs clean ends them", tui.warn), orphanCheckMs).unref();
  const person = personOf(tui, chosen);
  let hint = "";
  try {
    const resume = choosing && (await tui.pick(choosing));
    if (choosing && resume === undefined) return end.code();
    let next: NextSession = {
      flags: resume === undefined ? flags : { ...flags, resume },
      begin: { say: prompt },
    };
    let last: string | undefined;
    for (;;) {
      const context = { flags, last, person, warn: tui.warn, crashed: end.crashed };
      const run = await (last === undefined
        ? openFirst(next, context, { tui, chosen })
        : openOr(next, context));
      end.watching = false;
      end.cleanUp = () => tui.stopped().then(run.close);
      const host = hostOf(run, chosen, { flags: next.flags, root });
      const leave = await tui.attach(host, run.sessionId === last ? {} : next.begin);
      hint = hintOf(run);
      last = run.sessionId;
      await run.close();
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

function redrawn(version: string, env: NodeJS.ProcessEnv): Tui {
  const terminal = createTerminal(process.stdin, process.stdout);
  return createTui({ terminal, version, colour: !env.NO_COLOR, reflow: reflowOf(env) });
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

function personOf(tui: Tui, chosen: Chosen): Person {
  return {
    ...tui.person,
    mode: () => chosen.mode,
    allowed: chosen.allow,
  };
}

function hostOf(run: Run, chosen: Chosen, { flags, root }: { flags: Flags; root: string }): Host {
  const { agent } = run;
  const { cwd } = started(agent.log.events());
  const machine = machineAt(root);
  const typed = join(folders(process.env).state, "typed.jsonl");
  return {
    log: agent.log,
    cwd,
    shortCwd: shortened(cwd),
    folder: run.folder,
    branch: () => gitBranch(workspaceRoot(cwd))?.replace(/^branch /, ""),
    mode: () => chosen.mode ?? run.mode,
    setMode(mode) {
      chosen.mode = mode;
    },
    judgeAgain: run.judgeAgain,
    async turn(content, signal) {
      run.say(content);
      try {
        return await runTurn(agent, signal);
      } catch (error) {
        agent.log.append({
          type: "turn_ended",
          reason: "error",
          detail: error instanceof Error ? error.message : String(error),
        });
        return "error";
      }
    },
    say: run.say,
    describe: (call) => unknownCallFacts(run.agent, call),
    jobs: run.jobs,
    actions: sessionActions(run, { flags, env: process.env, cwd, chosen }),
    orphans: { find: machine.orphans, end: machine.endOrphans },
    rules: run.rules,
    sandbox: run.sandbox,
    sessions: sessionsUnder(root, cwd, run.sessionId),
    undo: undoOf(run),
    shell: (command, signal, watching) => runInShell(run, command, signal, watching),
    setEffort(effort) {
      // From the log: the model may have learned that its window is smaller.
      const { model } = currentModel(agent.log.events());
      agent.log.append({ type: "model_changed", model, effort });
    },
    files: () => workspaceFiles(cwd),
    editText,
    typed: () => typedLines(typed),
    rememberTyped: (text) => rememberTyped(typed, text),
  };
}

/** Milliseconds. A user who runs a line can answer it, so it waits until it is answered or interrupted. */
const forPerson = 2 ** 31 - 1;

/** Runs a line as the model's own commands run, and words it for the model. */
async function runInShell(
  run: Run,
  command: string,
  signal: AbortSignal,
  { onProgress, onWaiting }: Watching,
): Promise<string> {
  const { agent } = run;
  const bash = agent.tools.find(({ name }) => name === toolNames.bash);
  const context = {
    toolUseId: "!",
    events: agent.log.events(),
    access: { kind: "execute" as const, command },
    budgetTokens: 4000,
    artifacts: agent.artifacts,
    onProgress,
    onWaiting(waiting: WaitingCommand) {
      onWaiting(waiting);
      return forPerson;
    },
  };
  const text = await agent
    .guard(signal, async (either) => bash?.run({ command }, { ...context, signal: either }))
    .then(
      (output) => (typeof output?.content === "string" ? output.content : ""),
      (error) => `[it failed unexpectedly: ${error instanceof Error ? error.message : error}]`,
    );
  return shellText(command, agent.redact(text));
}

/** Returns the text as it was saved; undefined when the editor failed. Throws when there is none. */
async function editText(text: string): Promise<string | undefined> {
  const editor = process.env.VISUAL || process.env.EDITOR || "vi";
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-edit-"));
  const file = join(folder, "message.md");
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], {
      stdio: "inherit",
      env: withoutSecrets(process.env),
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    if (code === 0) return readFileSync(file, "utf8");
    throw new Error(`${editor} ended with ${code}: set VISUAL or EDITOR to another one`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
