/** Headless mode: a prompt, or the messages of a driving program; one result; never a question to the user. */

import type { Conversation, Converse } from "../../app/conversation.ts";
import { withNamedPictures } from "../../app/messages/paste.ts";
import type { Run } from "../../app/session.ts";
import type { UserBlock } from "../../core/blocks.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent, TurnEnd } from "../../core/events.ts";
import { lastText } from "../../core/questions.ts";
import { enclosed } from "../../core/text/tags.ts";
import type { Flags } from "../arguments/options.ts";
import { writeError, writeLine, writeOut, writeStack } from "../terminal-output.ts";
import { debugTo, type Following, followRun, type Stop, stopOnSignals, warningsOf } from "./headless.ts";
import type { Isolated } from "./quarantine.ts";
import {
  type Answer,
  isLimit,
  type RunSummary,
  resultObject,
  sessionlessResult,
  verdict,
  type WrittenResult,
} from "./result.ts";
import { readStdin } from "./stdin.ts";
import type { Driver } from "./stream-input.ts";
import { turnLine } from "./stream-json.ts";
import type { AnswerShape } from "./structured.ts";

/** A message. `line`: the words that may name a role or a prompt of a server, without what was piped. */
type Given = { blocks: UserBlock[]; line?: string | undefined };
type Input = Given & { warning?: string; driver?: Driver };

/** Runs the prompt and returns the exit code. Output for programs goes to stdout, the rest to stderr. */
export async function runPrint(
  prompt: string | undefined,
  flags: Flags,
  converse: Converse,
): Promise<number> {
  const startedAt = Date.now();
  try {
    return await printed(prompt, flags, converse, startedAt);
  } catch (error) {
    // A program that waits for the result gets one even when the run could not start.
    if (flags.outputFormat !== "text" && error instanceof Error) {
      const durationMs = Date.now() - startedAt;
      writeLine(sessionlessResult({ durationMs, reason: "not_started", error: error.message }));
    }
    throw error;
  }
}

async function printed(
  prompt: string | undefined,
  flags: Flags,
  converse: Converse,
  startedAt: number,
): Promise<number> {
  const isolated = flags.quarantine
    ? (await import("./quarantine.ts")).quarantined(flags, converse)
    : undefined;
  try {
    return await printedRun(prompt, flags, { open: isolated?.converse ?? converse, startedAt, isolated });
  } finally {
    isolated?.remove();
  }
}

type Opening = { open: Converse; startedAt: number; isolated: Isolated | undefined };

async function printedRun(
  prompt: string | undefined,
  flags: Flags,
  { open, startedAt, isolated }: Opening,
): Promise<number> {
  const shape = await shapeOf(flags, isolated?.checkSchema);
  const input =
    flags.inputFormat === "stream-json" ? await driven(prompt, flags) : await messageOf(prompt, flags);
  const stop = stopOnSignals();
  const warnings = warningsOf(flags);
  const debug = debugTo(flags.debug);
  const crashed = (error: unknown, events: readonly LogEvent[]) => {
    writeStack(error);
    const result = resultObject(events, { durationMs: Date.now() - startedAt });
    if (isolated) writeEnd(isolated.withoutWords(result), flags, "");
    else writeEnd(result, flags, lastText(events));
  };
  const conversation = await open({
    ...{ flags, cwd: process.cwd(), env: process.env, warn: warnings.warn, crashed, onBug: writeStack },
    ...{
      wrapModel: debug?.wrapModel,
      settle: input.driver?.settle,
      takeSteering: input.driver?.takeSteering,
    },
  }).catch((error: unknown) => {
    warnings.flush();
    throw error;
  });
  const { run } = conversation;
  stop.stopAt(run.agent.limits.deadline);
  const following = followRun(run, flags, debug);
  warnings.begin(run);
  if (input.warning) warnings.warn(input.warning);
  const answer = await work(conversation, { ...input, stop, shape, following });
  await following.begun();
  await conversation.close();
  following.stop();
  const events = run.agent.log.events();
  const signal = stop.by();
  const ended = {
    durationMs: Date.now() - startedAt,
    ...(signal ? { signal } : {}),
    ...(answer ? { answer } : {}),
  };
  const result = resultObject(events, ended);
  if (isolated) writeEnd(isolated.withoutWords(result), flags, answerText(ended) ?? "");
  else writeEnd(result, flags, answerText(ended) ?? lastText(events));
  return verdict(events, ended).exitCode;
}

async function shapeOf(
  { jsonSchema }: Flags,
  check?: (schema: object) => void,
): Promise<AnswerShape | undefined> {
  if (jsonSchema === undefined) return undefined;
  // The validator is only loaded where needed.
  const { answerShape } = await import("./structured.ts");
  return answerShape(jsonSchema, process.cwd(), check);
}

/** Combines the prompt and piped input into one message (design §5). Throws `UsageError` when there is neither. */
async function messageOf(prompt: string | undefined, flags: Flags): Promise<Input> {
  if (prompt !== undefined && prompt.trim() === "")
    throw new UsageError("the prompt is empty: describe the task");
  const given = prompt === "-" ? undefined : prompt;
  const piped = await readStdin(given === undefined);
  const text = [given, given && piped.text ? enclosed("stdin", piped.text) : piped.text]
    .filter((part) => part?.trim())
    .join("\n\n");
  if (text === "")
    throw new UsageError('no prompt: pass one, for example sawtooth -p "fix the failing test"');
  // Piped text may be somebody else's: it names no files of this machine.
  const named = given && !flags.quarantine ? [{ type: "text" as const, text: given }] : [];
  const [, ...pictures] = await withNamedPictures(named, { cwd: process.cwd() });
  return {
    blocks: [{ type: "text", text }, ...pictures],
    line: given,
    ...(piped.warning ? { warning: piped.warning } : {}),
  };
}

/** Returns the first message of a driving program; a prompt on the command line goes before it. */
async function driven(prompt: string | undefined, flags: Flags): Promise<Input> {
  if (flags.outputFormat !== "stream-json")
    throw new UsageError("--input-format stream-json needs --output-format stream-json");
  const { readDriver } = await import("./stream-input.ts");
  const driver = readDriver(process.stdin, writeLine);
  const blocks: UserBlock[] | undefined = prompt ? [{ type: "text", text: prompt }] : await driver.next();
  if (!blocks) throw new UsageError("no user message on standard input");
  return { ...givenBy(blocks), driver };
}

/** Returns a message of a driving program, all of whose first text is a line. */
function givenBy(blocks: UserBlock[]): Given {
  const [first] = blocks;
  return { blocks, line: first?.type === "text" ? first.text : undefined };
}

type Work = Input & { stop: Stop; shape: AnswerShape | undefined; following: Following };

/** Runs message after message. A bug of ours ends the turn, with the log intact. */
async function work(conversation: Conversation, parts: Work): Promise<Answer | undefined> {
  const { driver, stop, following } = parts;
  const { agent } = conversation.run;
  let answer: Answer | undefined;
  driver?.warnIn(agent.log);
  try {
    for (let given: Given | undefined = parts; given; ) {
      const signal = driver ? AbortSignal.any([stop.signal, driver.turnSignal()]) : stop.signal;
      const reached = await turnOf(conversation, given, { ...parts, signal });
      answer = reached.answer;
      if (reached.isBug) return answer;
      if (driver) await following.begun();
      if (driver) writeLine(turnLine(agent.log.events(), reached));
      if (isLimit(reached.reason)) return answer;
      const next = await driver?.next(stop.signal);
      given = next && givenBy(next);
    }
    if (driver && stop.signal.aborted) {
      const reason = stop.signal.reason === "max_time" ? "max_time" : "interrupted";
      agent.log.append({ type: "turn_ended", reason, detail: "stopped between two messages" });
    }
  } catch (error) {
    writeStack(error);
    agent.log.append({ type: "turn_ended", reason: "error", detail: String(error) });
  }
  return answer;
}

type Made = { content: UserBlock[] } | { failure: string };

/** Returns the message as it is sent, or why its role or prompt of a server made none. */
async function contentOf(run: Run, given: Given, signal: AbortSignal): Promise<Made> {
  const made = (await fromPrompt(run, given, signal)) ?? (await fromRole(run, given, signal));
  return made ?? { content: given.blocks };
}

/** Runs a turn. One that has no message to begin with ends at once, and a driving program, which may go on, is told why. */
async function turnOf(
  conversation: Conversation,
  given: Given,
  { shape = plain, driver, signal }: Pick<Work, "shape" | "driver"> & { signal: AbortSignal },
): Promise<{ reason: TurnEnd; answer: Answer | undefined; isBug: boolean }> {
  const made = await contentOf(conversation.run, given, signal);
  if ("content" in made) {
    const reached = await shape.run(conversation, made.content, signal);
    return { ...reached, isBug: reached.reason === "error" };
  }
  const { log } = conversation.run.agent;
  const stopped = signal.reason === "max_time" ? "max_time" : "interrupted";
  const reason = signal.aborted ? stopped : "error";
  if (driver) log.append({ type: "warning", text: made.failure });
  log.append({ type: "turn_ended", reason, detail: made.failure });
  return { reason, answer: undefined, isBug: false };
}

/** `/server:prompt` becomes what the server makes of it, before what was piped. */
async function fromPrompt(
  { agent, servers }: Run,
  { blocks, line = "" }: Given,
  signal: AbortSignal,
): Promise<Made | undefined> {
  if (!servers || !/^\s*\/[\w.-]+:/.test(line)) return undefined;
  const io = { signal, artifacts: agent.artifacts, onProgress: () => {} };
  const { startedPrompt } = await import("../../app/mcp/session-prompts.ts");
  const filled = await startedPrompt(line, servers, io);
  if (!filled || "failure" in filled) return filled;
  const [first, ...rest] = blocks;
  const piped = first?.type === "text" ? first.text.slice(line.length).trim() : "";
  const given: UserBlock[] = piped === "" ? [] : [{ type: "text", text: piped }];
  return { content: [...filled.content, ...given, ...rest] };
}

/** `/role task` becomes the report of a sub-agent, whose task has what was piped. */
async function fromRole(
  run: Run,
  { blocks, line = "" }: Given,
  signal: AbortSignal,
): Promise<Made | undefined> {
  const [start, name = ""] = /^\s*\/([\w.-]+)(?!\S)/.exec(line) ?? [];
  const [first, ...rest] = blocks;
  const role = start ? run.skills.role(name) : undefined;
  if (!start || !role || first?.type !== "text") return undefined;
  const { startRole } = await import("../../app/delegate/start-role.ts");
  try {
    const report = await startRole(run, role.name, first.text.slice(start.length), signal);
    if (!signal.aborted) return { content: [...report, ...rest] };
    run.say(report);
    return { failure: `stopped while the role ${role.name} worked` };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

/** Answers that need no shape. */
const plain: AnswerShape = {
  run: async ({ prompt }, content, signal) => ({ reason: await prompt(content, signal), answer: undefined }),
};

function answerText({ answer }: RunSummary): string | undefined {
  return answer && "value" in answer ? JSON.stringify(answer.value) : undefined;
}

/** Writes the last line of `stream-json`, the whole of `json`, or the answer and, on stderr, the problem. */
function writeEnd(result: WrittenResult, { outputFormat }: Flags, answer: string): void {
  if (outputFormat !== "text") writeLine(result);
  else writeOut(`${answer}\n`);
  if (result.is_error && outputFormat !== "stream-json")
    writeError(`sawtooth: ${result.errors.join("; ")}${hint(result)}\n`);
}

function hint(result: WrittenResult): string {
  return result.subtype === "error_during_execution" || result.resume === null
    ? ""
    : ` (resume with: ${result.resume})`;
}
