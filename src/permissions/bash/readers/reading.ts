/** What a command reads. Pure. */

/** All that a command reads. Paths may be globs, with quoted specials masked. */
export type Reading = {
  /** Files (or folders) of which the content is read. */
  contents: readonly string[];
  /** Those of which only names and properties are told. */
  names: readonly string[];
  /** Folders that are walked through with all links in them followed. */
  walked: readonly string[];
  /** Folders whose names are handed to a program as its words. */
  handed?: readonly string[];
  /** Globs by which the program itself chooses files: `--include`, `-name`. */
  chosen: readonly string[];
  /** It reads nothing but its own words. */
  wordsOnly?: boolean;
};

export const nothing: Reading = { contents: [], names: [], walked: [], chosen: [] };
