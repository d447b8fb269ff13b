/** Runs a call of the `bash` tool and words its result for the model. Loaded for the first one. */

import type { ToolContext, ToolOutput } from "../../core/ports.ts";
import { headOf, utf8Length } from "../../core/text/clean-text.ts";
import { exitLine, type ShortenedOutput, truncateOutput } from "../../core/text/truncate-output.ts";
import { commandPurpose } from "../../permissions/bash/purpose.ts";
import type { Call, Input } from "./call.ts";
import { followOutput, type OutputReader } from "./output-file.ts";
import { clip as headLine } from "./shell/jobs.ts";
import type { CommandIo, CommandResult, Shell } from "./shell/shell.ts";

const hardViewBytes = 30_000;
/** Bytes reserved for the lines about status and shell, within the output's budget. */
const statusBytes = 1_500;

/** Runs the command, types the answer or restarts the shell, as the call asks. */
export async function runCommand(call: Call): Promise<ToolOutput> {
  const { request, context, shell, sandbox } = call;
  if (request.command?.includes("\0"))
    return failure("the command has a NUL byte in it, which bash cannot read");
  const { access } = context;
  if (access.kind === "execute" && access.outside && access.command !== "" && sandbox)
    return outOfSandbox(call, access.command, sandbox.outside.open(access.outside.cwd));
  const notes = request.restart ? await shell.restart() : [];
  if (request.command === undefined) {
    if (request.stdin !== undefined && !request.restart) return answer(call, request.stdin);
    if (request.restart) return { content: bracketed(notes) };
    return failure("give a command, or stdin for a command that waits for input, or restart");
  }
  if (request.background) return inBackground(call, request.command, notes);
  return inForeground(call, request.command, notes);
}

async function inForeground(call: Call, command: string, notes: string[]): Promise<ToolOutput> {
  const { request, context, shell } = call;
  const outputPath = context.artifacts.create("txt");
  return follow(call, { path: outputPath, from: 0, notes }, (io) =>
    shell.run(command, { ...io, outputPath, stdin: request.stdin, tty: request.tty }),
  );
}

/**
 * Runs a command in a fresh shell outside of the sandbox. One that waits for an answer keeps its shell until the next.
 */
async function outOfSandbox(call: Call, command: string, shell: Shell): Promise<ToolOutput> {
  if (call.request.background)
    return failure(
      "a background job cannot run outside of the sandbox: run it without background, or inside",
    );
  const output = await inForeground({ ...call, shell, sandbox: undefined }, command, [
    "ran outside the sandbox; its cd, exports and functions are not kept",
  ]);
  if (!shell.waiting()) await shell.close();
  return output;
}

/** Types the answer, with a final newline unless it spells out its keys, and shows the output after it. */
async function answer(call: Call, stdin: string): Promise<ToolOutput> {
  const shell = call.sandbox?.outside.waiting() ?? call.shell;
  const waiting = shell.waiting();
  if (!waiting) return failure("no command is waiting for input: give stdin together with its command");
  const keys = /[\x00-\x08\x0a-\x1f\x7f]/.test(stdin) ? stdin : `${stdin}\n`;
  const seen = followOutput(waiting.output);
  const from = seen.size();
  seen.close();
  const output = await follow(call, { path: waiting.output, from, notes: [] }, (io) =>
    shell.answer(keys, io),
  );
  if (shell !== call.shell && !shell.waiting()) await shell.close();
  return output;
}

type Target = { path: string; from: number; notes: string[] };

async function follow(
  { request, context, seconds, shell, sandbox }: Call,
  { path, from, notes }: Target,
  start: (io: CommandIo) => Promise<CommandResult>,
): Promise<ToolOutput> {
  const began = Date.now();
  const output = followOutput(path, { ...(request.want ? { want: request.want } : {}), from });
  try {
    const { signal, onProgress, onWaiting } = context;
    const purpose = commandPurpose(request.command ?? "", shell.cwd());
    const result = await start({ output, timeoutMs: seconds * 1000, signal, onProgress, onWaiting });
    const view = await viewOf(result, output, { request, context, path });
    const ended = { command: request.command ?? "", output: view.text, cwd: shell.cwd() };
    const found = result.verdict === "waiting" ? [] : ((await sandbox?.after(ended)) ?? []);
    const status = statusLines(result, seconds, [...notes, ...result.notes, ...found]);
    const hint = result.status && !result.screen ? emptyInputHint(request, view.text) : [];
    return {
      content: [view.text.trimEnd() || (status.length > 0 ? "" : "(no output)"), ...status, ...hint]
        .filter((part) => part !== "")
        .join("\n"),
      ...(isFailure(result) ? { isError: true } : {}),
      artifact: path,
      stats: { durationMs: Date.now() - began, ...facts(result), ...view.total, purpose },
    };
  } catch (error) {
    return failure((error as Error).message);
  } finally {
    output.close();
  }
}

type ViewSource = { request: Input; context: ToolContext; path: string };

async function viewOf(
  result: CommandResult,
  output: OutputReader,
  { request, context, path }: ViewSource,
): Promise<ShortenedOutput> {
  const maxBytes = Math.max(500, Math.min(hardViewBytes, context.budgetTokens * 4) - statusBytes);
  const options = { maxBytes, path, want: request.want };
  if (result.screen !== undefined && result.verdict !== "waiting")
    return truncateOutput(result.screen, options);
  if (result.onTerminal && result.verdict === "waiting") return truncateOutput("", options);
  const view = await output.view(options);
  return { ...view, text: view.text.replaceAll(stagedName, "bash: ") };
}

/** Matches bash's name for the file that a command is sourced from, in its error messages. */
const stagedName = /(?:bash: )?\/\S*\/shell\/in\/command\.sh: (?=line \d+: )/g;

function statusLines(result: CommandResult, seconds: number, notes: readonly string[]): string[] {
  return [...verdictLines(result, seconds), ...leftLines(result), ...bracketedLines(notes)];
}

function verdictLines({ verdict, status, screen }: CommandResult, seconds: number): string[] {
  switch (verdict) {
    case "ended":
      return status ? [exitLine(status)] : [];
    case "timeout":
      return [`[timed out after ${seconds} s and was stopped; the output so far is kept]`];
    case "interrupted":
      return ["[cancelled by user]"];
    case "too_large":
      return ["[stopped: it wrote more than 200 MB]"];
    case "waiting":
      return [
        "[waiting for input. On the terminal:]",
        headOf(screen ?? "", 4000) || "(nothing)",
        "[answer with stdin, or run something else, which stops it]",
      ];
  }
}

function leftLines({ left }: CommandResult): string[] {
  if (left.length === 0) return [];
  const shown = left.slice(0, 8).map(({ pid, command }) => `${pid} ${headLine(command)}`);
  const more = left.length > shown.length ? [`${left.length - shown.length} more`] : [];
  return [`[left running: ${[...shown, ...more].join("; ")}]`];
}

/** Returns a hint on how to give input, for a program that complained about empty input. */
function emptyInputHint(request: Input, text: string): string[] {
  if (request.stdin !== undefined || request.tty) return [];
  const complains =
    /EOFError|EOF when reading|unexpected end of (file|input) on stdin|not a (tty|terminal)|no tty|Inappropriate ioctl/i;
  const reads = /(^|[\s;&|(])read\s/;
  if (!complains.test(text) && !(text === "" && reads.test(request.command ?? ""))) return [];
  return ["[was it waiting for input? It had none: give stdin with the command, or tty for a terminal]"];
}

function isFailure({ verdict, status }: CommandResult): boolean {
  return verdict === "ended" ? status !== 0 : verdict !== "waiting";
}

function facts({ verdict, status }: CommandResult): { exitCode?: number; timedOut?: true } {
  if (verdict === "timeout") return { timedOut: true };
  return status === undefined || verdict !== "ended" ? {} : { exitCode: status };
}

async function inBackground(
  { request, context, shell }: Call,
  command: string,
  notes: string[],
): Promise<ToolOutput> {
  const log = context.artifacts.create("txt");
  try {
    const { job, notes: more } = await shell.background(command, log, request.stdin);
    const text = `[background job ${job.pid}; output: ${log}; stop it with: kill -- -${job.pid}]`;
    return { content: [text, ...bracketedLines([...notes, ...more])].join("\n"), artifact: log };
  } catch (error) {
    return failure((error as Error).message);
  }
}

function bracketedLines(notes: readonly string[]): string[] {
  return notes.map((note) => `[${headOf(note, 600)}${utf8Length(note) > 600 ? "…" : ""}]`);
}

function bracketed(notes: readonly string[]): string {
  return bracketedLines(notes).join("\n");
}

function failure(text: string): ToolOutput {
  return { content: text, isError: true };
}
