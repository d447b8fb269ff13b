/** The commands without a screen of their own, in one file so that start-up reads one. */

import { currentModel } from "../core/questions.ts";
import { listSessions } from "../session/listing.ts";
import { readSession } from "../session/store.ts";
import { type Command, UsageError } from "./arguments.ts";
import { encoderOf } from "./choose-model.ts";
import { runDemo } from "./demo.ts";
import { runPrint } from "./print.ts";
import { reportText, stepBody } from "./report.ts";
import { sessionsText } from "./sessions.ts";
import { openRun, sessionRoot } from "./wire.ts";

type Headless = Exclude<Command, { name: "help" | "version" }>;

/** Runs the command and returns the exit code. */
export async function runCommand(command: Headless): Promise<number> {
  const { flags } = command;
  switch (command.name) {
    case "run":
      return runPrint(command.prompt, flags, openRun);
    case "demo":
      return runDemo(flags, openRun);
    case "report":
      return report(command);
    case "sessions": {
      const [verb = "list"] = command.operands;
      if (verb !== "list") throw new UsageError(`unknown: sessions ${verb} (there is: sessions list)`);
      const cwd = flags.verbose ? undefined : process.cwd();
      return say(sessionsText(listSessions(place(command), cwd), cwd));
    }
  }
}

function place({ flags }: Headless): string {
  return sessionRoot({ flags, env: process.env, cwd: process.cwd() });
}

function report(command: Extract<Headless, { operands: string[] }>): number {
  const id = command.operands[0] ?? command.flags.resume;
  const which = id ? { id } : { newest: true, cwd: process.cwd() };
  const { events } = readSession({ root: place(command), ...which, warn: complain });
  const { step } = command.flags;
  if (step === undefined) return say(reportText(events));
  return say(`${stepBody(events, step, encoderOf(currentModel(events).model))}\n`);
}

function complain(text: string): void {
  process.stderr.write(`sawtooth: ${text}\n`);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
