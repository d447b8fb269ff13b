/** The result of one check of a release. */
export type Outcome = { what: string; state: "ok" | "skipped" | "FAILED"; says: string };
