/** Shared parts of all headless runs: stopping, and the output during a run and at its end. */

import { appendFileSync, writeFileSync } from "node:fs";
import type { Run } from "../../app/session.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent } from "../../core/events.ts";
import type { Model } from "../../core/ports.ts";
import { started } from "../../core/questions.ts";
import { isFullSandbox } from "../../core/sandbox.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { whyUnwritable } from "../../disk/error-words.ts";
import type { Flags } from "../arguments/options.ts";
import { writeError, writeLine } from "../terminal-output.ts";
import type { RunSignal } from "./result.ts";
import { stepLines } from "./steps.ts";
import { eventLine, initLine } from "./stream-json.ts";

export type Stop = ReturnType<typeof stopOnSignals>;

const heartbeatMs = 10_000;
/** The longest timer of Node, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/**
 * Combines Ctrl-C, TERM, HUP, the clock and a closed reader in one signal; a second Ctrl-C ends us at once. A second TERM
 * does not: `timeout` and schedulers send it to a process and to its group.
 */
export function stopOnSignals() {
  const controller = new AbortController();
  let received: RunSignal | undefined;
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (received && name === "SIGINT") process.exit(130);
      received ??= name;
      controller.abort(name);
    });
  }
  // The reader went away (`| head -1`): stop without a message.
  process.stdout.on("error", () => controller.abort("closed"));
  return {
    signal: controller.signal,
    /** Returns the received signal, if any. */
    by: () => received,
    /** Stops at a time in milliseconds since 1970. */
    stopAt(deadline: number | undefined): void {
      if (deadline === undefined) return;
      const wait = Math.min(longestMs, Math.max(0, deadline - Date.now()));
      setTimeout(() => controller.abort("max_time"), wait).unref();
    },
  };
}

/** Writes warnings to stderr until there is a session, and into its log from then on. */
export function warningsOf(flags: Flags) {
  const early: string[] = [];
  let run: Run | undefined;
  const log = (target: Run, text: string): void => {
    target.agent.log.append({ type: "warning", text });
    if (flags.outputFormat !== "stream-json") writeError(`sawtooth: ${text}\n`);
  };
  return {
    warn(text: string): void {
      if (run) log(run, text);
      else early.push(text);
    },
    /** Call this once somebody listens to the log. */
    begin(opened: Run): void {
      run = opened;
      for (const text of early.splice(0)) log(opened, text);
      if (flags.outputFormat !== "stream-json") tellOfNoWalls(opened);
    },
    /** Writes what was warned of to stderr: no session could be opened. */
    flush(): void {
      for (const text of early.splice(0)) writeError(`sawtooth: ${text}\n`);
    },
  };
}

/**
 * Says once on standard error when the mode that asks nothing runs its commands without every wall; not when somebody
 * chose to have none.
 */
function tellOfNoWalls({ mode, agent, sandbox }: Run): void {
  if (mode !== "auto" || sandbox.choice === "off") return;
  const stop = agent.log.subscribe((event) => {
    if (event.type !== "sandbox") return;
    stop();
    if (!isFullSandbox(event.status))
      writeError(
        `sawtooth: mode auto asks nothing, and not every wall stands: ${sandboxText(event.status)}\n`,
      );
  });
}

/** The output of a run as it goes on. */
export type Following = {
  /** Resolves once the first line was written. */
  begun(): Promise<void>;
  stop(): void;
};

/** Shows the events of a run in the requested format as they come. */
export function followRun(run: Run, flags: Flags, debug: Debug | undefined): Following {
  const { log } = run.agent;
  debug?.follow(run);
  if (!flags.verbose && flags.outputFormat === "text") sayFirstRetry(run);
  if (flags.verbose) {
    log.subscribe((event) => {
      for (const line of stepLines(event, log.events())) writeError(`${line}\n`);
    });
  }
  if (flags.outputFormat === "stream-json") return streamEvents(run);
  return { begun: async () => {}, stop() {} };
}

/** A run that waits for a server would otherwise be silent for up to a minute: one line each time it begins to. */
function sayFirstRetry({ agent: { log } }: Run): void {
  log.subscribe((event) => {
    if (event.type !== "model_failed" || event.attempt !== 1) return;
    for (const line of stepLines(event, log.events())) writeError(`sawtooth:${line.replace(/^ +!/, "")}\n`);
  });
}

/** Names the sandbox in the first line. It is looked for beside the first request; until then the lines wait. */
function streamEvents({ agent: { log, model }, sandbox, mode, sessionId }: Run): Following {
  const start = started(log.events());
  const waiting: object[] = [];
  let write = (line: object): void => void waiting.push(line);
  // Not before the message is on the disk: who reads the first line may end us, and the message is kept all the same.
  const said = Promise.withResolvers<void>();
  const first = Promise.all([sandbox.found, said.promise]).then(([status]) => {
    write = writeLine;
    const init = initLine(start, { model: model.card.id, mode, sandbox: status });
    for (const line of [init, ...waiting]) writeLine(line);
  });
  first.catch(() => {});
  const unsubscribe = log.subscribe((event: LogEvent) => {
    const line = eventLine(event, log.events());
    if (line) write(line);
    if (event.type === "user_message" || event.type === "turn_ended") said.resolve();
  });
  const beat = { type: "heartbeat", session_id: sessionId };
  const heartbeat = setInterval(() => write(beat), heartbeatMs);
  return {
    async begun() {
      said.resolve();
      if (write !== writeLine) await sandbox.status();
      await first;
    },
    stop() {
      clearInterval(heartbeat);
      unsubscribe();
    },
  };
}

export type Debug = NonNullable<ReturnType<typeof debugTo>>;

/**
 * Every event and every exact request go to `file`, one JSON line each, secrets taken out; readable for its owner only.
 * Throws `UsageError` when it cannot be written.
 */
export function debugTo(file: string | undefined) {
  if (file === undefined) return undefined;
  try {
    writeFileSync(file, "", { mode: 0o600 });
  } catch (error) {
    throw new UsageError(whyUnwritable(file, error));
  }
  let failed = false;
  const write = (line: object, redact: (text: string) => string): void => {
    if (failed) return;
    try {
      appendFileSync(file, `${redact(JSON.stringify(line))}\n`);
    } catch (error) {
      failed = true;
      writeError(`sawtooth: ${whyUnwritable(file, error)}: the rest of --debug is left out\n`);
    }
  };
  return {
    wrapModel: (model: Model, redact: (text: string) => string): Model => ({
      ...model,
      send(request, body, onPart, signal) {
        write({ type: "request", body }, redact);
        return model.send(request, body, onPart, signal);
      },
    }),
    follow: ({ agent }: Run) => agent.log.subscribe((event) => write(event, agent.redact)),
  };
}
