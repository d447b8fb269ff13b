/** The commands that write: each makes the requested change or none, and shows the changed region. */

import { hash } from "node:crypto";
import type { ToolOutput } from "../../core/ports.ts";
import { errorCode } from "../../disk/real-path.ts";
import type { Call } from "./call.ts";
import { insertAfter, replaceAllOf, rewrite } from "./edit.ts";
import { fileState } from "./file-watch.ts";
import { Refusal } from "./refusal.ts";
import { replaceFile } from "./replace-file.ts";
import { remember } from "./seen.ts";
import { refuseStaleEdit, refuseStaleInsert, refuseUnseen } from "./stale.ts";
import { faultLine, newSyntaxFault } from "./syntax.ts";
import { type Change, changeBetween } from "./text/diff.ts";
import { encode } from "./text/encoding.ts";
import { endingsOf, withLf } from "./text/line-endings.ts";
import { linesOf, numbered } from "./text/lines.ts";
import { asText, readRaw, type TextFile } from "./text/text-file.ts";

const maxShownBytes = 4000;

/** Runs `create`: a new file, or a known one rewritten. Throws a Refusal or the system's error, like all here. */
export async function create(call: Call): Promise<ToolOutput> {
  const { path, input } = call;
  const text = input.file_text;
  if (text === undefined) throw new Refusal("create needs file_text: the whole text of the file.");
  const old = await existing(path);
  if (!old) {
    const fresh = { path, text, encoding: "UTF-8" as const, bom: false };
    return await save(call, undefined, fresh, (lines) => `Created ${input.path} (${lines} lines).`);
  }
  await refuseUnseen(call, old);
  const made = { ...old, text: await rewrite(old, text) };
  if (made.text === old.text) return { content: `${input.path} holds exactly this text already.` };
  return await save(call, old, made, (lines) => `Wrote ${input.path} anew (${lines} lines).`);
}

export async function strReplace(call: Call): Promise<ToolOutput> {
  const { path, input } = call;
  const single =
    input.old_str === undefined ? [] : [{ old_str: input.old_str, new_str: input.new_str ?? "" }];
  const replacements = [...single, ...(input.edits ?? [])];
  if (replacements.length === 0) throw new Refusal("str_replace needs old_str and new_str, or edits.");
  const file = await asText(await readRaw(path));
  const changed = await refuseStaleEdit(
    call,
    file,
    replacements.map(({ old_str }) => old_str),
  );
  const everywhere = input.replace_all === true;
  const { text, count, loose } = await replaceAllOf(file, input.path, replacements, everywhere).catch(
    (error) => {
      if (!changed || !(error instanceof Refusal)) throw error;
      const message = `${input.path} has changed on disk since you last saw it. ${error.message}`;
      throw new Refusal(message, error.lines);
    },
  );
  const message = [
    `Edited ${input.path}: ${count === 1 ? "1 replacement" : `${count} replacements`}.`,
    ...(loose ? ["The file had look-alikes of what old_str has (quotes, dashes, spaces, accents)."] : []),
    ...(changed ? [elsewhere] : []),
  ];
  return await save(call, file, { ...file, text }, () => message.join(" "));
}

export async function insert(call: Call): Promise<ToolOutput> {
  const { path, input } = call;
  const after = input.insert_line;
  const inserted = input.insert_text ?? input.new_str;
  if (after === undefined || inserted === undefined)
    throw new Refusal("insert needs insert_line and insert_text.");
  const file = await asText(await readRaw(path));
  const changed = await refuseStaleInsert(call, file, after);
  const text = await insertAfter(file, after, inserted);
  const notes = changed ? ` ${elsewhere}` : "";
  return await save(
    call,
    file,
    { ...file, text },
    () => `Inserted into ${input.path} after line ${after}.${notes}`,
  );
}

const elsewhere =
  "The file had changed on disk since you last saw it; that change is elsewhere and was kept.";

type Made = Pick<TextFile, "path" | "text" | "encoding" | "bom">;

async function save(
  call: Call,
  old: TextFile | undefined,
  made: Made,
  words: (lines: number) => string,
): Promise<ToolOutput> {
  const { path, memory, input, context } = call;
  const bytes = await encode(made.text, made);
  if (context.signal.aborted) throw new Refusal("[cancelled by user] Nothing was written.");
  await replaceFile(path, bytes);
  const endings = endingsOf(made.text);
  const file: TextFile = { ...made, bytes, hash: hash("sha256", bytes), endings };
  remember(memory, file, context.events.length, input.command === "create");
  const after = withLf(made.text, endings);
  const before = old && withLf(old.text, old.endings);
  const faulty = newSyntaxFault(path, { before, after }, context.signal);
  const change = await changeBetween(input.path, before, after);
  const lines = linesOf(after);
  const shown = input.command === "create" ? "" : regions(lines, change);
  const fault = await faulty;
  return {
    content: words(lines.length) + shown + (fault ? `\n${faultLine(fault)}` : ""),
    stats: { wrote: [path], lines: lines.length, bytes: bytes.length, hash: fileState(file.hash) },
    display: change.patch,
  };
}

/** Returns the changed regions as they read now, as many as fit. */
function regions(lines: readonly string[], { regions, first }: Change): string {
  if (regions.length === 0) return " Only line endings differ.";
  const shown: string[] = [];
  let left = maxShownBytes;
  for (const { made: region } of regions) {
    if (left < 200) break;
    const { text } = numbered(lines, { ...region, last: Math.min(region.last, lines.length) }, left, first);
    left -= Buffer.byteLength(text);
    shown.push(text);
  }
  const rest = regions.length - shown.length;
  return `\n${shown.join("\n   ...\n")}${rest > 0 ? `\n[and ${rest} more places]` : ""}`;
}

async function existing(path: string): Promise<TextFile | undefined> {
  try {
    return await asText(await readRaw(path));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
