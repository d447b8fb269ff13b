/** The open session as the screen and its slash commands see it. */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unknownCallFacts } from "../../agent/tool-calls.ts";
import type { Conversation } from "../../app/conversation.ts";
import { gitBranch } from "../../app/instructions/first-message.ts";
import { machineAt } from "../../app/machine.ts";
import { serverActions } from "../../app/mcp/server-actions.ts";
import { withNamedPictures } from "../../app/messages/paste.ts";
import { setEffort } from "../../app/model-switch.ts";
import { picturesFolder } from "../../app/opening/folders.ts";
import type { SessionOptions } from "../../app/options.ts";
import type { Run } from "../../app/session.ts";
import { sessionsUnder, shortened } from "../../app/stored-sessions.ts";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import type { UserMessage } from "../../core/events.ts";
import { started } from "../../core/questions.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { shellText } from "../../core/text/tags.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { WaitingCommand } from "../../core/waiting-command.ts";
import type { Host, Queued, Watching } from "../../tui/ports/session.ts";
import { pastedPicture } from "./clipboard.ts";
import { rememberTyped, typedLines } from "./input-history.ts";
import { sessionActions } from "./slash-commands.ts";
import { undoOf } from "./undo.ts";
import { workspaceFiles } from "./workspace-files.ts";

/** Milliseconds after a turn before hooks hear that nobody answers, as in Claude Code. */
const idleMs = 60_000;

/** `root`: folder of all sessions. */
export function hostOf(
  { run, chosen, follow, prompt }: Conversation,
  { flags, root }: { flags: SessionOptions; root: string },
): Host {
  const { agent } = run;
  const { cwd } = started(agent.log.events());
  const machine = machineAt(root);
  let idle: NodeJS.Timeout | undefined;
  const typed = join(folders(process.env).state, "typed.jsonl");
  return {
    log: agent.log,
    cwd,
    shortCwd: shortened(cwd),
    folder: run.folder,
    // A command may have removed the folder.
    branch: () => (existsSync(cwd) ? gitBranch(workspaceRoot(cwd))?.replace(/^branch /, "") : undefined),
    mode: () => chosen.mode ?? run.mode,
    setMode(mode) {
      chosen.mode = mode;
    },
    judgeAgain: run.judgeAgain,
    follow,
    async turn(messages, signal) {
      clearTimeout(idle);
      const content = (await pictured(messages, run, signal)).flatMap((message) => message.content);
      const end = await prompt(content, signal);
      idle = setTimeout(() => run.hooks?.notify("idle_prompt", "Sawtooth waits for you"), idleMs).unref();
      return end;
    },
    pastedPicture: () => pastedPicture(run.folder, process.env),
    say: run.say,
    describe: (call) => unknownCallFacts(run.agent, call),
    jobs: run.jobs,
    actions: sessionActions(run, { flags, env: process.env, cwd, chosen }),
    orphans: { find: machine.orphans, end: machine.endOrphans },
    rules: run.rules,
    mcp: serverActions(run, { env: process.env, workspace: workspaceRoot(cwd), isBare: flags.bare }),
    sandbox: run.sandbox,
    sessions: sessionsUnder(root, cwd, run.sessionId),
    undo: undoOf(run),
    shell: (command, signal, watching) => runInShell(run, command, signal, watching),
    setEffort: (effort) => setEffort(run, effort),
    files: () => workspaceFiles(cwd),
    editText,
    typed: () => typedLines(typed),
    rememberTyped: (text) => rememberTyped(typed, text),
  };
}

/** Attaches the pictures that the messages of the user name. */
export async function pictured(
  messages: readonly Queued[],
  { agent, folder }: Run,
  signal?: AbortSignal,
): Promise<UserMessage[]> {
  const source = { cwd: started(agent.log.events()).cwd, pasted: picturesFolder(folder) };
  return Promise.all(
    messages.map(async ({ typed, ...message }) =>
      typed ? { ...message, content: await withNamedPictures(message.content, source, signal) } : message,
    ),
  );
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
