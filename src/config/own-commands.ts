/**
 * Reads commands that people write as Markdown files. They are texts: nothing in them is included, run or filled in
 * here.
 */

import { createHash } from "node:crypto";
import { closeSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { cleanLine } from "../core/text/clean-text.ts";
import { shown } from "./instructions.ts";

/** A command. `text`: the message it sends, without the frontmatter. */
export type FoundCommand = { name: string; description: string; text: string };

/**
 * The result. `hash`: over names and bytes of all commands; "" when there is none. `notes`: the files left out, and
 * why.
 */
export type FoundCommands = { commands: FoundCommand[]; hash: string; notes: string[] };

const mostBytes = 32 * 1024;
const mostFiles = 50;
const longestDescription = 200;

/**
 * Reads the `*.md` files of `folder`. Each must lie in it with its links resolved, as the folder must in `inside`, if
 * given. `called`: the folder's name for people. `taken`: names that are commands already.
 */
export function readCommands(folders: {
  folder: string;
  inside?: string;
  called: string;
  taken: ReadonlySet<string>;
}): FoundCommands {
  const found: FoundCommands = { commands: [], hash: "", notes: [] };
  const real = realFolder(folders.folder, folders.inside);
  if (real === undefined) return found;
  if (real === "outside") {
    found.notes.push(`${folders.called} was not read: it leads out of its folder`);
    return found;
  }
  const hash = createHash("sha256");
  const names = filesIn(real, found.notes, folders.called);
  for (const file of names) {
    const bytes = bytesOf(join(real, file));
    const why = typeof bytes === "string" ? bytes : refusal(file, bytes, folders.taken);
    if (typeof bytes === "string" || why) {
      found.notes.push(`${folders.called}/${cleanLine(file)} is not a command: ${why}`);
      continue;
    }
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
    found.commands.push({ name: file.slice(0, -3), ...parsed(bytes.toString()) });
  }
  return { ...found, hash: found.commands.length > 0 ? hash.digest("hex") : "" };
}

/** Resolves the folder; undefined when there is none. */
function realFolder(folder: string, inside: string | undefined): string | undefined {
  try {
    const real = realpathSync(folder);
    if (!lstatSync(real).isDirectory()) return undefined;
    const isInside = inside === undefined || real.startsWith(`${realpathSync(inside)}/`);
    return isInside ? real : "outside";
  } catch {
    return undefined;
  }
}

function filesIn(folder: string, notes: string[], called: string): string[] {
  try {
    const files = readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .sort();
    if (files.length > mostFiles) notes.push(`${called}: only the first ${mostFiles} files are read`);
    return files.slice(0, mostFiles);
  } catch (error) {
    notes.push(`${called} was not read: ${(error as NodeJS.ErrnoException).code}`);
    return [];
  }
}

/**
 * Reads the file, or returns a sentence when it cannot be a command: only plain files are opened, never a pipe or a
 * link that leads outside.
 */
function bytesOf(path: string): Buffer | string {
  try {
    if (lstatSync(path).isSymbolicLink()) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      if (!realpathSync(path).startsWith(`${folder}/`)) return "it is a link out of the folder";
    }
    if (!lstatSync(realpathSync(path)).isFile()) return "it is not a file";
    return beginning(path);
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function beginning(path: string): Buffer {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(mostBytes + 1);
    return bytes.subarray(0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

function refusal(file: string, bytes: Buffer, taken: ReadonlySet<string>): string | undefined {
  const name = file.slice(0, -3);
  if (!/^[a-z0-9][a-z0-9_-]{0,39}$/i.test(name)) return "its name may hold letters, digits, - and _ only";
  if (taken.has(name.toLowerCase())) return `there is a /${name.toLowerCase()} already`;
  if (bytes.length > mostBytes) return `it is larger than ${mostBytes / 1024} KiB`;
  if (bytes.includes(0) || !isUtf8(bytes)) return "it is not text";
  return parsed(bytes.toString()).text === "" ? "it is empty" : undefined;
}

function isUtf8(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString()).equals(bytes);
}

const frontmatter = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** Splits off the frontmatter, of which only the description is read. */
function parsed(whole: string): Pick<FoundCommand, "description" | "text"> {
  const text = shown(whole.replace(/^\ufeff/, ""));
  const head = frontmatter.exec(text);
  const [, described = ""] = /^description:[ \t]*(.*)$/m.exec(head?.[1] ?? "") ?? [];
  const description = described.trim().replace(/^(["'])(.*)\1$/, "$2");
  return {
    description: cleanLine(description).slice(0, longestDescription).toWellFormed(),
    text: text.slice(head?.[0].length ?? 0).trim(),
  };
}
