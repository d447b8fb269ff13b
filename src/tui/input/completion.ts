/** Completion of `@` file names and `/` commands, as a value beside the editor. Pure. */

import fuzzysort from "fuzzysort";
import { type Editor, editorWith } from "./editor.ts";

export type Prepared = ReturnType<typeof fuzzysort.prepare>;
/** The names to complete. `files` is undefined until they were requested. */
export type Sources = {
  files: readonly Prepared[] | undefined;
  commands: readonly { name: string; summary: string; argument?: string }[];
};

/** `from`: offset of the completed word, including its mark. */
export type Completion = {
  kind: "file" | "command";
  from: number;
  query: string;
  items: { text: string; note: string; takesArgument: boolean }[];
  chosen: number;
};

const shown = 8;

export function prepareFiles(paths: readonly string[]): Prepared[] {
  return paths.map((path) => fuzzysort.prepare(path));
}

/** Returns true when the cursor stands in a word that names a file, so that the files are needed. */
export function wantsFiles(editor: Editor): boolean {
  return fileWord(editor) !== undefined;
}

/** Returns the possible completions at the cursor; undefined when there are none. */
export function completionFor(
  editor: Editor,
  { files, commands }: Sources,
  before?: Completion,
): Completion | undefined {
  const command =
    editor.cursor > 0
      ? /^\/([\w-]*|[\w.-]+(?::[\w./-]*)?)$/.exec(editor.text.slice(0, editor.cursor))?.[1]
      : undefined;
  if (command !== undefined) {
    const items = commands
      .filter(({ name }) => name.startsWith(command))
      .map(({ name, summary, argument }) => ({
        text: name,
        note: summary,
        takesArgument: argument !== undefined,
      }));
    return made({ kind: "command", from: 0, query: command, items, chosen: 0 }, before);
  }
  const word = fileWord(editor);
  if (word === undefined || !files) return undefined;
  const found =
    word === "" ? files.slice(0, shown) : fuzzysort.go(word, files as Prepared[], { limit: shown });
  const items = found.map(({ target }) => ({ text: target, note: "", takesArgument: true }));
  return made({ kind: "file", from: editor.cursor - word.length - 1, query: word, items, chosen: 0 }, before);
}

function fileWord({ text, cursor }: Editor): string | undefined {
  return /(?:^|[\s([{"'])@([^\s@]*)$/.exec(text.slice(Math.max(0, cursor - 300), cursor))?.[1];
}

function made(completion: Completion, before: Completion | undefined): Completion | undefined {
  if (completion.items.length === 0) return undefined;
  return before?.query === completion.query && before.kind === completion.kind
    ? { ...completion, chosen: Math.min(before.chosen, completion.items.length - 1) }
    : completion;
}

/** Returns the text with the chosen name inserted. */
export function accept(editor: Editor, { kind, from, items, chosen }: Completion): Editor {
  const name = items[chosen]?.text ?? "";
  const put = `${kind === "file" ? "@" : "/"}${name} `;
  const rest = editor.text.slice(editor.cursor).replace(/^ /, "");
  const text = editor.text.slice(0, from) + put;
  return { ...editor, ...editorWith(text + rest, editor.pastes), cursor: text.length };
}

/** Moves the mark by one, wrapping around. */
export function moveChoice(completion: Completion, by: 1 | -1): Completion {
  const { length } = completion.items;
  return { ...completion, chosen: (completion.chosen + by + length) % length };
}
