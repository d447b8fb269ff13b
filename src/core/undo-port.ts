/** The port for undoing a session's changes to files, as screens and commands see it. Pure. */

/** A change of a file, looking forward in time. */
export type FileChange = { path: string; status: "added" | "changed" | "removed" };

/** A snapshot before a step, with what the step changed. */
export type SnapshotRow = {
  n: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Seq of the turn's user message. */
  turn: number;
  /** The call that was about to run; for an undo, the point it went back to. */
  label: string;
  kind: "step" | "undo";
  files: FileChange[];
};

/** Which snapshot to go back to: a number, the one before the last undo, or by default the one before the last turn. */
export type UndoChoice = { to?: number; redo?: boolean };

export type Undone = {
  /** The snapshot from before this undo: restoring it reverts the undo. */
  before: number;
  /** The snapshot that was restored. */
  to: number;
  /** The changes that the undo made to files. */
  files: FileChange[];
  /** Files changed by others since, and where their last state is saved. */
  copies: { path: string; copy: string }[];
  /** Files that could not be restored, each with a short reason. */
  lost: { path: string; why: string }[];
  /** Sentences about other changes, left alone: git's HEAD and stash. */
  notes: string[];
};

/** The call that is about to run, with its step and turn. `named`: absolute paths that it writes, anywhere. */
export type Moment = { turn: number; step: number; label: string; named: readonly string[] };

export type Snapshots = {
  /** Reads ahead for the first snapshot. Never throws. */
  prepare(): void;
  /**
   * Takes a snapshot before a call that writes, at most one per step. Never throws: a failure is warned of once, and
   * ends snapshots.
   */
  take(moment: Moment): Promise<void>;
  /** Ends a turn: later changes by others are not attributed to the session. Never throws. */
  settle(): Promise<void>;
  /** All steps that have a snapshot, and all undos, oldest first. */
  list(): Promise<SnapshotRow[]>;
  /** Restores files. Undefined when there is nothing to undo, or no such snapshot. Throws `SessionError`. */
  undo(choice?: UndoChoice): Promise<Undone | undefined>;
  /** Settles, and deletes what no undo can need. Idempotent. */
  close(): Promise<void>;
};

/** Words the message about an undo, so that the model does not rely on reverted changes. */
export function undoNotice({ files }: Undone): string {
  const intro =
    "The user undid changes of files. They are as they were before; look again before you build on them:";
  return [intro, ...listed(files)].join("\n");
}

/** Words the message for a branch from an earlier message that keeps the files as they are now. */
export function keptNotice(files: readonly FileChange[]): string {
  const intro =
    "The user went back to this point of the conversation, but the files did not. Changed since, and still so:";
  return [intro, ...listed(files)].join("\n");
}

function listed(files: readonly FileChange[]): string[] {
  const named = files.slice(0, 20).map(({ path, status }) => `- ${path} (${status})`);
  return files.length > 20 ? [...named, `- and ${files.length - 20} more`] : named;
}
