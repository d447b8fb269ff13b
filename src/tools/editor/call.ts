/** One call of the editor: the request, the file, and what the model has seen so far. */

import type { ToolContext } from "../../core/ports.ts";
import type { Replacement } from "./edit.ts";
import type { Memory } from "./seen.ts";

export type EditorInput = {
  command: "view" | "create" | "str_replace" | "insert";
  path: string;
  file_text?: string;
  old_str?: string;
  new_str?: string;
  replace_all?: boolean;
  edits?: Replacement[];
  insert_line?: number;
  insert_text?: string;
  view_range?: number[];
};

export type Call = {
  input: EditorInput;
  /** Absolute, links resolved. */
  path: string;
  memory: Memory;
  context: ToolContext;
};
