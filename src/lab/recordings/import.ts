/** Recordings of agents at work, whoever wrote them, as logs of ours. */

import { readFileSync, statSync } from "node:fs";
import type { LogEvent } from "../../core/events.ts";
import { isErrno, SessionError } from "../../session/errors.ts";
import { readLog } from "../../session/read.ts";
import { isClaudeCode, readClaudeCode } from "./claude-code.ts";
import { isCodex, readCodex } from "./codex.ts";
import type { Draft } from "./draft.ts";
import { type Fields, fieldsOf, parsed, timeOf } from "./json.ts";
import { isPi, readPi } from "./pi.ts";
import { isMiniSweAgent, isSweAgent, readMiniSweAgent, readSweAgent } from "./swe-agent.ts";

export type Recording = {
  file: string;
  format: "sawtooth" | "claude-code" | "pi" | "codex" | "swe-agent" | "mini-swe-agent";
  /** As a log of ours, with recorded usage and times. Summaries of the agent are `context_edited` events. */
  events: LogEvent[];
  /** Entries that are no part of the conversation, by kind. */
  leftOut: Record<string, number>;
  /** One sentence each: damaged lines, entries that are not understood. */
  warnings: string[];
};

/** Larger ones are not opened: they would not fit in the memory that a replay may take. */
const maxBytes = 32 * 1024 * 1024;

/** Reads a recording of any known format. Throws `SessionError`: one line that says what is wrong with the file. */
export function importRecording(file: string): Recording {
  const text = readText(file);
  if (text.trim() === "") throw new SessionError(`${file} is empty: there is nothing to replay`);
  const whole = /^\s*\{/.test(text) && !isLines(text) ? parsed(text) : undefined;
  const recording = whole === undefined ? fromLines(file, text) : fromValue(file, fieldsOf(whole));
  if (recording.events.some((event) => event.type === "assistant_message")) return recording;
  throw new SessionError(`${file} holds no reply of a model: there is nothing to replay`);
}

/** Reads several recordings. `problems`: one sentence for each that cannot be read. */
export function importRecordings(files: readonly string[]): { recordings: Recording[]; problems: string[] } {
  const problems: string[] = [];
  const recordings = files.flatMap((file) => {
    try {
      return [importRecording(file)];
    } catch (error) {
      if (!(error instanceof SessionError)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  return { recordings, problems };
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > maxBytes) {
      const [has, most] = [size, maxBytes].map((bytes) => Math.round(bytes / 1024 / 1024));
      throw new SessionError(`${file} is too large to replay: ${has} MB, and ${most} MB is the limit`);
    }
    return readFileSync(file, "utf8");
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new SessionError(`${file} cannot be read (${error.code})`);
  }
}

/** Returns true when the first line is a JSON value of its own, and not the last. */
function isLines(text: string): boolean {
  const end = text.indexOf("\n");
  return end >= 0 && text.slice(end).trim() !== "" && parsed(text.slice(0, end)) !== undefined;
}

function fromValue(file: string, value: Fields): Recording {
  if (isMiniSweAgent(value)) return recordingOf(file, "mini-swe-agent", readMiniSweAgent(value));
  if (isSweAgent(value)) return recordingOf(file, "swe-agent", readSweAgent(value));
  return fromEntries(file, [value], 0);
}

function fromLines(file: string, text: string): Recording {
  const entries: Fields[] = [];
  let damaged = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const value = parsed(line);
    if (typeof value === "object" && value !== null) entries.push(fieldsOf(value));
    else damaged += 1;
  }
  if (entries.length > 0)
    return fromEntries(file, areReversed(entries) ? entries.toReversed() : entries, damaged);
  throw new SessionError(`${file} is damaged, or no recording: not one line of it is JSON`);
}

/** Returns true when the lines stand with the newest first, as some tools list them. */
function areReversed(entries: readonly Fields[]): boolean {
  const times = entries.flatMap(({ timestamp }) => timeOf(timestamp) ?? []);
  const isBack = times.every((time, index) => index === 0 || time <= (times[index - 1] ?? time));
  return isBack && (times.at(-1) ?? 0) < (times[0] ?? 0);
}

/** As many lines as are looked at to tell the format. */
const sampleLines = 30;

function fromEntries(file: string, entries: readonly Fields[], damaged: number): Recording {
  const first = entries.slice(0, sampleLines);
  if (first[0]?.type === "session_started" && "seq" in first[0]) return ownLog(file);
  const warnings =
    damaged > 0 ? [`${damaged} damaged ${damaged === 1 ? "line was" : "lines were"} left out`] : [];
  if (isPi(first)) return recordingOf(file, "pi", readPi(entries), warnings);
  if (isCodex(first)) return recordingOf(file, "codex", readCodex(entries), warnings);
  if (isClaudeCode(first)) return recordingOf(file, "claude-code", readClaudeCode(entries), warnings);
  throw new SessionError(
    `${file} is of no known format: sawtooth, Claude Code, pi and Codex (JSONL), SWE-agent and mini-swe-agent are`,
  );
}

function ownLog(file: string): Recording {
  const { events, warnings } = readLog(file);
  return { file, format: "sawtooth", events, leftOut: {}, warnings };
}

function recordingOf(
  file: string,
  format: Recording["format"],
  { events, leftOut, unknown }: Draft,
  warnings: readonly string[] = [],
): Recording {
  const puzzles = [...unknown].map(([kind, times]) => `${times} × ${kind}`);
  const puzzled = puzzles.length > 0 ? [`not understood and left out: ${puzzles.join(", ")}`] : [];
  return { file, format, events, leftOut: Object.fromEntries(leftOut), warnings: [...warnings, ...puzzled] };
}
