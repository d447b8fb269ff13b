/** The shape of the table of chances that is learned from recordings. Pure types. */

import type { ObservationKind } from "../reuse/kind.ts";

/** An observation of some kind, or what the model wrote in the calls of a reply. */
export type Kind = ObservationKind | "written";

/**
 * Facts besides kind, age and size: the file was read or written in the newest replies (`fresh`), or was written and read again since
 * (`renewed`); the call failed (`failed`).
 */
export type Lift = "none" | "fresh" | "renewed" | "failed";

/** `ages`: the chance that one reply uses it, for each class of age; `sizes`: a factor for each class of size. */
export type KindChances = { ages: readonly number[]; sizes: readonly number[] };

export type Table = {
  kinds: Readonly<Record<Kind, KindChances>>;
  lifts: Readonly<Record<Lift, number>>;
};
