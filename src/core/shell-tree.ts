/** A command line as a grammar sees it. The grammar itself is outside; here is what it hands over. Types only. */

/** A piece of the text, from `start` up to `end`, in UTF-16 units; a broken piece has the type `ERROR`. */
export type ShellNode = {
  /** The grammar's name, or the very text of a sign such as `&&`. */
  type: string;
  start: number;
  end: number;
  /** The grammar made it up: it is not in the text. */
  missing: boolean;
  children: ShellNode[];
};

/** Undefined when the text is too large for it. */
export type ParseShell = (text: string) => ShellNode | undefined;
