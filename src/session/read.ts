/** Reads a session's log: a damaged line costs only itself. */

import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import type { EventBody, LogEvent } from "../core/events.ts";
import type { JsonSchema } from "../core/request.ts";
import { violations } from "../core/schema.ts";
import { renamed, upgraded } from "./upgrade.ts";

export type StoredLog = {
  events: LogEvent[];
  /** One above the highest seq ever written. */
  nextSeq: number;
  /** Length of the whole lines in bytes; the rest is a line that was cut while it was written. */
  wholeBytes: number;
  /** True when the last line is whole but for its newline. */
  unended: boolean;
  /** One sentence each: damaged lines, events of a newer version. */
  warnings: string[];
};

/** Reads and parses the events of a log file. Throws the errors of reading a file. */
export function readLog(file: string): StoredLog {
  const bytes = readFileSync(file);
  const log: StoredLog = { events: [], nextSeq: 0, wholeBytes: 0, unended: false, warnings: [] };
  const foreign = new Set<string>();
  let dropped = 0;
  for (const { start, end, ended } of lines(bytes)) {
    const event = start === end ? undefined : parseLine(bytes.subarray(start, end));
    const fits = event !== undefined && event.seq >= log.nextSeq;
    if (fits) log.nextSeq = event.seq + 1;
    if (fits && isKnown(event)) log.events.push(event);
    else if (fits) foreign.add(event.type);
    else dropped += end - start;
    if (ended) log.wholeBytes = end + 1;
    else if (fits) log.wholeBytes = end;
    log.unended = fits && !ended;
  }
  if (dropped > 0) log.warnings.push(`${dropped} bytes of damaged lines in the session's log were dropped`);
  if (foreign.size > 0)
    log.warnings.push(`the session has events of a newer version, ignored here: ${[...foreign].join(", ")}`);
  return log;
}

/** Reads the last events of a log file, out of its last `mostBytes` bytes; none when it cannot be read. */
export function readTail(file: string, mostBytes: number): LogEvent[] {
  try {
    const fd = openSync(file, "r");
    try {
      const { size } = fstatSync(fd);
      const from = Math.max(0, size - mostBytes);
      const bytes = Buffer.alloc(size - from);
      const tail = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
      // The first line is whole only when nothing precedes it.
      const whole = from === 0 ? tail : tail.subarray(tail.indexOf(10) + 1);
      return [...lines(whole)].flatMap(({ start, end }) => {
        const event = start === end ? undefined : parseLine(whole.subarray(start, end));
        return event && isKnown(event) ? [event] : [];
      });
    } finally {
      closeSync(fd);
    }
  } catch {
    return [];
  }
}

function* lines(bytes: Buffer): Generator<{ start: number; end: number; ended: boolean }> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    yield { start, end, ended: newline >= 0 };
    start = end + 1;
  }
}

type Line = { seq: number; at: number; type: string };

/** Parses a line of the log; undefined when the line is damaged. */
export function parseLine(line: Buffer): Line | undefined {
  if (!isUtf8(line)) return undefined;
  try {
    const value = renamed(JSON.parse(line.toString("utf8")));
    return isLine(value) ? upgraded(value) : undefined;
  } catch {
    return undefined;
  }
}

function isLine(value: unknown): value is Line {
  if (violations(lineSchema, value).length > 0) return false;
  const { type } = value as Line;
  return !Object.hasOwn(shapes, type) || violations(shapes[type as EventBody["type"]], value).length === 0;
}

/** Returns true for an event of this version. */
export function isKnown(line: Line): line is LogEvent {
  return Object.hasOwn(shapes, line.type);
}

const string: JsonSchema = { type: "string" };
const number: JsonSchema = { type: "number" };
const list: JsonSchema = { type: "array" };
const record: JsonSchema = { type: "object" };

function shape(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties) };
}

const lineSchema = shape({ seq: { type: "integer", minimum: 0 }, at: number, type: string });

/** The fields that every reader of an event relies on; a line that lacks one counts as damaged. */
const shapes: Record<EventBody["type"], JsonSchema> = {
  session_started: shape({ sessionId: string, cwd: string, model: record, system: string, tools: list }),
  model_changed: shape({ model: record }),
  session_named: shape({ name: string }),
  settings_changed: shape({ context: string, engine: record }),
  user_message: shape({ content: list }),
  assistant_message: shape({ content: list, usage: record }),
  tool_result: shape({ toolUseId: string, toolName: string }),
  sandbox: shape({ status: record, writable: list }),
  quarantined: shape({ path: string, kept: string }),
  mcp_called: shape({ server: string, tool: string, outcome: string }),
  runs_elsewhere: shape({ paths: list }),
  permission_decided: shape({ toolUseId: string, decision: string }),
  context_edited: shape({ policy: string, edits: list }),
  reminder: shape({ channel: string, text: string }),
  tools_gated: shape({ withdrawn: list }),
  model_request: shape({ bodyHash: string }),
  model_failed: shape({ kind: string, message: string }),
  summary_call: shape({ usage: record }),
  warning: shape({ text: string }),
  egress: shape({ host: string, port: number, decision: string, bytesUp: number, bytesDown: number }),
  delegate_started: shape({ delegate: string, folder: string, toolUseId: string }),
  delegate_called: shape({ delegate: string, usage: record }),
  delegate_ended: shape({ delegate: string, reason: string, economics: record }),
  turn_ended: shape({ reason: string }),
};
