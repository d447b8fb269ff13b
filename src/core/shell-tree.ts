/** The syntax tree of a command line, as an outside grammar produces it. Types only. */

export type ShellNodeType =
  /** A script, or the list of statements in a compound command; between them stand `;`, line breaks and comments. */
  | "list"
  /** A chain, and the `&` after it. */
  | "statement"
  /** Commands with `&&`, `||`, `|` or `|&` between them. */
  | "chain"
  /** `time` or `!` in front of a pipeline. */
  | "prefix"
  | "command"
  /** Any command made of keywords, and a clause of one. */
  | "compound"
  /** `for name in words; do …; done`: the name, the words, and the list between `do` and `done`. */
  | "for"
  | "assignment"
  | "redirect"
  /** The number of a stream in front of a redirection. */
  | "stream"
  | "stream-variable"
  | "here-string"
  /** The operator with its delimiter; the body, which stands elsewhere in the text, is its only child. */
  | "heredoc"
  /** From its first character up to the end of the closing delimiter. */
  | "heredoc-body"
  /** A body in which nothing is expanded. */
  | "heredoc-text"
  /** Without children it is one literal. */
  | "word"
  | "literal"
  | "single-quoted"
  | "double-quoted"
  | "ansi-quoted"
  | "parameter"
  /** `$(…)`, a pair of backquotes, `<(…)` or `>(…)`: its child is the list inside. */
  | "substitution"
  /** An arithmetic expansion, an expression inside one, and a condition inside `[[ … ]]`. */
  | "expression"
  /** Braces that expand, and a glob with quotes or expansions inside. */
  | "pattern"
  /** A form whose value only bash knows, or that it has only with an option. */
  | "unknown"
  /** A piece that the grammar does not fit, or that lacks its end. */
  | "error";

/** A piece of the text, from `start` up to `end`, in UTF-16 units. */
export type ShellNode = {
  type: ShellNodeType;
  start: number;
  end: number;
  /** The text that the positions in it refer to, where it is another: that of escaped backquotes. */
  source?: string;
  /** Those of a chain, one for each gap; that of a redirection; the `&` of a statement. */
  operators: readonly string[];
  children: ShellNode[];
};

/** Undefined when the text is too large for it. */
export type ParseShell = (text: string) => ShellNode | undefined;
