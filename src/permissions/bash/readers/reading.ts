/** The paths that a command reads. Pure. */

/** Everything that a command reads. Paths may be globs, with quoted specials masked. */
export type Reading = {
  /** Files (or folders) whose content is read. */
  contents: readonly string[];
  /** Files of which only names and properties are shown. */
  names: readonly string[];
  /** Folders that are walked with all links in them followed. */
  walked: readonly string[];
  /** Folders whose file names are passed to a program as arguments. */
  handed?: readonly string[];
  /** Globs by which the program itself chooses files: `--include`, `-name`. */
  chosen: readonly string[];
  /** True when it reads only its own arguments. */
  wordsOnly?: boolean;
};

export const nothing: Reading = { contents: [], names: [], walked: [], chosen: [] };
