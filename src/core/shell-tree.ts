/** The syntax tree of a command line, as an outside grammar produces it. Types only. */

/** A piece of the text, from `start` up to `end`, in UTF-16 units; a broken piece has the type `ERROR`. */
export type ShellNode = {
  /** The grammar's name for it, or the text of an operator such as `&&`. */
  type: string;
  start: number;
  end: number;
  /** True when the grammar inserted it: it is not in the text. */
  missing: boolean;
  children: ShellNode[];
};

/** Undefined when the text is too large for it. */
export type ParseShell = (text: string) => ShellNode | undefined;
