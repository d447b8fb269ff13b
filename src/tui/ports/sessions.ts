/** What the screen needs to go from one session to another and back in time, and to let a person choose. Types only. */

import type { EventBody, LogEvent } from "../../core/events.ts";
import type { SnapshotRow, UndoChoice } from "../../core/undo-port.ts";
import type { Row } from "../rows/rows.ts";

/** A session as a list shows it. */
export type StoredSession = {
  id: string;
  /** What the person called it, if anything. */
  name?: string;
  /** The first words that were said in it. */
  title: string;
  /** How a person calls its folder. */
  shortCwd: string;
  /** Milliseconds since 1970. */
  changed: number;
  /** User messages. */
  turns: number;
  /** Dollars. */
  cost: number;
  /** The other process that has it open. */
  heldBy?: number | undefined;
};

/** The stored sessions but the one that is open. What throws here says what to do. */
export type Sessions = {
  /** Those in which something was said, the most recent first; of this folder only, unless `everywhere`. */
  list(everywhere: boolean): StoredSession[];
  /** The end of what happened in it. */
  tail(id: string): readonly LogEvent[];
  /** The session with this id, beginning of an id, or name. */
  find(which: string): StoredSession;
};

/** What the session did to files. */
export type Undoing = {
  list(): Promise<SnapshotRow[]>;
  /** The same, for a person. */
  text(): Promise<string>;
  /** Puts files back and tells the model; what was done, for a person. */
  put(choice: UndoChoice): Promise<string>;
};

/** Another session that is gone on with. */
export type Open = {
  type: "open";
  resume?: string;
  /** Into a branch of it, which begins with its first `events` events, or all. */
  fork?: boolean;
  events?: number;
  /** Put into the input box, to be changed and sent. */
  draft?: string;
  /** The log gets these first. */
  append?: EventBody[];
};

/** `facts` stand at the right, the first of them longest; `mark`: what is to be minded. */
export type PickItem = {
  id: string;
  label: string;
  facts: string[];
  mark?: string | undefined;
  /** What is searched beside the label. */
  words?: string;
};

/** A list to choose one from. */
export type PickRequest = {
  title: string;
  items: readonly PickItem[];
  /** A few ways rather than many things: not searched, and a digit takes one. */
  few?: boolean | undefined;
  /** What Enter does, as in "Enter opens". */
  enter: string;
  /** Said when there is nothing in it. */
  empty: string;
  /** What Tab shows in its place; `label` and `back` say in the hint where Tab leads. */
  wider?: { title: string; label: string; back: string; items(): readonly PickItem[] };
  /** Rows about an item, not wrapped; where there is little room their end is what counts, or their beginning. */
  preview?(id: string): { rows: Row[]; keep: "end" | "beginning" };
};
