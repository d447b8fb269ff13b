/** The screen's interface for switching sessions, going back in time, and choosing from lists. Types only. */

import type { EventBody, LogEvent } from "../../core/events.ts";
import type { SnapshotRow, UndoChoice } from "../../core/undo-port.ts";
import type { Row } from "../rows/rows.ts";

/** A session as a list shows it. */
export type StoredSession = {
  id: string;
  /** The name the user gave it, if any. */
  name?: string;
  /** The first words of its conversation. */
  title: string;
  /** Its folder as people write it. */
  shortCwd: string;
  /** Milliseconds since 1970. */
  changed: number;
  /** User messages. */
  turns: number;
  /** Dollars. */
  cost: number;
  /** Another process that has it open, as in "process 7" or "process 7 on host". */
  openIn?: string | undefined;
};

/** The stored sessions except the open one. Errors thrown here tell the user what to do. */
export type Sessions = {
  /** Lists sessions with at least one message, most recent first; of this folder only, unless `everywhere`. */
  list(everywhere: boolean): StoredSession[];
  /** Returns the last events of a session. */
  tail(id: string): readonly LogEvent[];
  /** Finds the session with this id, prefix of an id, or name. */
  find(which: string): StoredSession;
};

/** The file changes of the session, and their undo. */
export type Undoing = {
  list(): Promise<SnapshotRow[]>;
  /** Returns the list of changes as text. */
  text(): Promise<string>;
  /** Restores files and tells the model; returns a report for the user. */
  put(choice: UndoChoice): Promise<string>;
};

/** Another session to continue. */
export type Open = {
  type: "open";
  resume?: string;
  /** Continues in a branch of it, which begins with its first `events` events, or all. */
  fork?: boolean;
  events?: number;
  /** Text for the input box, to be edited and sent. */
  draft?: string;
  /** Events appended to the log first. */
  append?: EventBody[];
};

/** An item. `facts` stand at the right, the longest first; `mark`: a warning. */
export type PickItem = {
  id: string;
  label: string;
  facts: string[];
  mark?: string | undefined;
  /** Additional text that is searched beside the label. */
  words?: string;
};

/** A list to choose one from. */
export type PickRequest = {
  title: string;
  items: readonly PickItem[];
  /** A few choices rather than a long list: not searched, and a digit picks one. */
  few?: boolean | undefined;
  /** The effect of Enter, as in "Enter opens". */
  enter: string;
  /** The text for an empty list. */
  empty: string;
  /** The list that Tab shows instead; `label` and `back` name both lists in the hint. */
  wider?: { title: string; label: string; back: string; items(): readonly PickItem[] };
  /** Returns rows about an item, not wrapped; `keep` says which part matters when there is little room. */
  preview?(id: string): { rows: Row[]; keep: "end" | "beginning" };
};
