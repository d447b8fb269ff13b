/** Undo of what a session did to files: the port, as screens and commands see it. Pure. */

/** How a file differs, looking forward in time. */
export type FileChange = { path: string; status: "added" | "changed" | "removed" };

/** A snapshot before a step, with what the step changed. */
export type SnapshotRow = {
  n: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Seq of the turn's user message. */
  turn: number;
  /** The call that was about to run; of an undo, the point that it went back to. */
  label: string;
  kind: "step" | "undo";
  files: FileChange[];
};

/** Which snapshot to go back to: a number, the one before the last undo, or by default the one before the last turn. */
export type UndoChoice = { to?: number; redo?: boolean };

export type Undone = {
  /** The snapshot from before this undo: going back to it takes the undo back. */
  before: number;
  /** The snapshot that was gone back to. */
  to: number;
  /** The changes that the undo made to files. */
  files: FileChange[];
  /** Files that somebody else had changed since, and where their last state is kept. */
  copies: { path: string; copy: string }[];
  /** Files that could not be restored, each with a short reason. */
  lost: { path: string; why: string }[];
  /** Other things that changed since and are left alone, as sentences: git's HEAD and stash. */
  notes: string[];
};

/** The call that is about to run, with its step and turn. `named`: absolute paths that it writes, wherever they lie. */
export type Moment = { turn: number; step: number; label: string; named: readonly string[] };

export type Snapshots = {
  /** Reads ahead what the first snapshot will need. Never throws. */
  prepare(): void;
  /**
   * Before a call that writes; at most one snapshot a step. Never throws: when it fails, it warns once, and there are
   * no more snapshots.
   */
  take(moment: Moment): Promise<void>;
  /** After a turn, so that what others change from here on is not taken for the session's doing. Never throws. */
  settle(): Promise<void>;
  /** All steps that have a snapshot, and all undos, oldest first. */
  list(): Promise<SnapshotRow[]>;
  /** Puts files back. Undefined when there is nothing to undo, or no such snapshot. Throws `SessionError`. */
  undo(choice?: UndoChoice): Promise<Undone | undefined>;
  /** Settles, and drops what no undo can need. Idempotent. */
  close(): Promise<void>;
};

/** The message that tells the model of an undo, so that it does not rely on changes that are gone. */
export function undoNotice({ files }: Undone): string {
  const intro =
    "The user undid changes of files. They are as they were before; look again before you build on them:";
  return [intro, ...listed(files)].join("\n");
}

/** The message for a branch that begins earlier in the conversation while the files stay as they are now. */
export function keptNotice(files: readonly FileChange[]): string {
  const intro =
    "The user went back to this point of the conversation, but the files did not. Changed since, and still so:";
  return [intro, ...listed(files)].join("\n");
}

function listed(files: readonly FileChange[]): string[] {
  const named = files.slice(0, 20).map(({ path, status }) => `- ${path} (${status})`);
  return files.length > 20 ? [...named, `- and ${files.length - 20} more`] : named;
}
