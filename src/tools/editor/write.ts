/** The commands that write: each changes what was asked or nothing, and shows the changed region. */

import { hash } from "node:crypto";
import type { ToolOutput } from "../../core/ports.ts";
import type { Call } from "./call.ts";
import { type Change, changeBetween } from "./diff.ts";
import { insertAfter, replaceAllOf, rewrite } from "./edit.ts";
import { encode } from "./encoding.ts";
import { endingsOf, withLf } from "./line-endings.ts";
import { lineNumbers, linesOf, numbered } from "./lines.ts";
import { clipped, errorCode, type Lines, Refusal } from "./refusal.ts";
import { replaceFile } from "./replace-file.ts";
import { remember, type Seen, staleOffset } from "./seen.ts";
import { asText, readRaw, type TextFile } from "./text-file.ts";

const maxShownBytes = 4000;

/** `create`: a new file, or a known one written anew. Throws a Refusal or the system's error, like all here. */
export async function create(call: Call): Promise<ToolOutput> {
  const { path, input, memory, context } = call;
  const text = input.file_text;
  if (text === undefined) throw new Refusal("create needs file_text: the whole text of the file.");
  const old = await existing(path);
  if (!old) {
    const fresh = { path, text, encoding: "UTF-8" as const, bom: false };
    return await save(call, undefined, fresh, (lines) => `Created ${input.path} (${lines} lines).`);
  }
  const known = memory.get(path);
  if (!known?.viewed || known.hash !== old.hash) {
    const reason = await unseen(old, known, input.path);
    remember(memory, old, context.events.length, true);
    throw new Refusal(reason);
  }
  const made = { ...old, text: await rewrite(old, text) };
  if (made.text === old.text) return { content: `${input.path} holds exactly this text already.` };
  return await save(call, old, made, (lines) => `Wrote ${input.path} anew (${lines} lines).`);
}

export async function strReplace(call: Call): Promise<ToolOutput> {
  const { path, input, memory, context } = call;
  const single =
    input.old_str === undefined ? [] : [{ old_str: input.old_str, new_str: input.new_str ?? "" }];
  const replacements = [...single, ...(input.edits ?? [])];
  if (replacements.length === 0) throw new Refusal("str_replace needs old_str and new_str, or edits.");
  const file = await asText(await readRaw(path));
  const known = memory.get(path);
  const changed = known !== undefined && known.hash !== file.hash;
  if (changed) for (const { old_str } of replacements) refuseStale(call, file, known, old_str);
  try {
    const { text, count, loose } = await replaceAllOf(
      file,
      input.path,
      replacements,
      input.replace_all === true,
    );
    const notes = [
      ...(loose
        ? [
            "Matched although look-alike characters differ (quotes, dashes, spaces): the file had others than old_str.",
          ]
        : []),
      ...(changed ? [elsewhere] : []),
    ];
    const times = count === 1 ? "1 replacement" : `${count} replacements`;
    return await save(call, file, { ...file, text }, () =>
      [`Edited ${input.path}: ${times}.`, ...notes].join(" "),
    );
  } catch (error) {
    if (!(error instanceof Refusal) || !changed) throw error;
    remember(memory, file, context.events.length, true);
    throw new Refusal(
      `${input.path} has changed on disk since you last saw it. ${error.message}`,
      error.lines,
    );
  }
}

export async function insert(call: Call): Promise<ToolOutput> {
  const { path, input, memory, context } = call;
  const after = input.insert_line;
  const inserted = input.insert_text ?? input.new_str;
  if (after === undefined || inserted === undefined)
    throw new Refusal("insert needs insert_line and insert_text.");
  const file = await asText(await readRaw(path));
  const known = memory.get(path);
  const changed = known !== undefined && known.hash !== file.hash;
  if (
    changed &&
    known.text !== undefined &&
    !sameAround(known.text, withLf(file.text, file.endings), after)
  ) {
    remember(memory, file, context.events.length, true);
    throw staleness(file, input.path, after);
  }
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
  const change = await changeBetween(input.path, old && withLf(old.text, old.endings), after);
  const lines = linesOf(after);
  const shown = input.command === "create" ? "" : regions(lines, change);
  return {
    content: words(lines.length) + shown,
    stats: { wrote: [path], lines: lines.length, bytes: bytes.length },
    display: change.patch,
  };
}

/** The changed regions as they read now, as many as fit. */
function regions(lines: readonly string[], { regions }: Change): string {
  if (regions.length === 0) return " Only line endings differ.";
  const made: string[] = [];
  let left = maxShownBytes;
  for (const region of regions) {
    if (left < 200) break;
    const { text } = numbered(lines, { ...region, last: Math.min(region.last, lines.length) }, left);
    left -= Buffer.byteLength(text);
    made.push(text);
  }
  const rest = regions.length - made.length;
  return `\n${made.join("\n   ...\n")}${rest > 0 ? `\n[and ${rest} more places]` : ""}`;
}

async function existing(path: string): Promise<TextFile | undefined> {
  try {
    return await asText(await readRaw(path));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Why a file that exists may not be written over yet, with what it holds. */
async function unseen(file: TextFile, known: Seen | undefined, name: string): Promise<string> {
  const text = withLf(file.text, file.endings);
  const lines = linesOf(text);
  if (known?.viewed && known.text !== undefined) {
    const { patch } = await changeBetween(name, known.text, text);
    return `${name} has changed on disk since you last saw it. Nothing was written. If your text still holds, send it again. What changed:\n${clipped(patch, 1500)}`;
  }
  const head = numbered(lines, { first: 1, last: Math.min(10, lines.length) }, 1200).text;
  return `${name} exists (${lines.length} lines) and you have not viewed it in this session. Nothing was written. View it first with {"command": "view", "path": ${JSON.stringify(name)}}, then change it with str_replace, or send this again to replace it whole. It begins:\n${head}`;
}

function refuseStale(call: Call, file: TextFile, known: Seen, old: string): void {
  const now = withLf(file.text, file.endings);
  const at = staleOffset(known, now, withLf(old, file.endings), call.context.events);
  if (at === undefined) return;
  remember(call.memory, file, call.context.events.length, true);
  throw staleness(file, call.input.path, lineNumbers(now, [at])[0] ?? 1);
}

function staleness(file: TextFile, name: string, line: number): Refusal {
  const lines = linesOf(withLf(file.text, file.endings));
  const around: Lines = {
    first: Math.max(1, Math.min(line, lines.length) - 3),
    last: Math.min(lines.length, line + 4),
  };
  return new Refusal(
    `${name} has changed on disk since you last saw it, just there. Nothing was written. It reads now:\n${numbered(lines, around, 1400).text}\nIf your change still holds, send it again.`,
    around,
  );
}

/** Whether the lines on both sides of the place after line `after` are the same in both texts. */
function sameAround(before: string, now: string, after: number): boolean {
  const [old, fresh] = [before.split("\n"), now.split("\n")];
  return old[after - 1] === fresh[after - 1] && old[after] === fresh[after];
}
