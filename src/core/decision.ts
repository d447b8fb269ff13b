/** The record of a permission decision in the log, and its wording. Pure. */

export const permissionModes = ["ask", "accept-edits", "plan", "auto"] as const;
export type PermissionMode = (typeof permissionModes)[number];

/** Scope of an allow rule: this session, this folder, or everywhere. */
export type RuleScope = "session" | "project" | "user";

/**
 * Who decided: the mode, a rule, the list of what is always denied, a person, a driving program, or nobody; `changed`:
 * nobody has seen how the server that `rule` names describes its tools now; `delegate`: a sub-agent has fewer rights.
 */
export type DecidedBy =
  | "mode"
  | "rule"
  | "always"
  | "user"
  | "driver"
  | "headless"
  | "fix"
  | "changed"
  | "hook"
  | "delegate";

/** How a call was decided at the time, whatever the rules say today. */
export type DecisionRecord = {
  decision: "allow" | "deny";
  /** The rule's text, the mode's name, or `refused always`; after a question, the rule that would allow the call. */
  rule: string;
  by: DecidedBy;
  /** The mode in force; absent in logs of versions that did not record it. */
  mode?: PermissionMode;
  /** Where the deciding rule is stored. */
  scope?: RuleScope | "flags";
  /** Present when rules and mode left the decision open. */
  asked?: {
    /** The reason for the question. */
    reason: string;
    waitedMs: number;
    /** The rule that the answer added. */
    remembered?: { rule: string; scope: RuleScope };
    /** The explanation given with a refusal. */
    say?: string;
    /** The turn was stopped before there was an answer. */
    unanswered?: true;
  };
};

const scopeWords: Record<RuleScope | "flags", string> = {
  flags: "of the command line",
  session: "of this session",
  project: "of this project",
  user: "of the user's settings",
};

/** Describes a decision in one line: `allowed by the rule bash(npm test:*) of this project`. */
export function decisionText(record: DecisionRecord): string {
  const { decision, asked } = record;
  if (asked?.unanswered) return "not run: the turn was stopped before the question was answered";
  const verb = decision === "allow" ? "allowed" : "denied";
  const added = asked?.remembered;
  const more = added ? `; the rule ${added.rule} ${scopeWords[added.scope]} was added` : "";
  return `${verb} ${decider(record)}${asked?.say ? `: ${asked.say}` : ""}${more}`;
}

function decider({ by, rule, scope }: DecisionRecord): string {
  switch (by) {
    case "mode":
      return `by the mode ${rule}`;
    case "rule":
      return `by the rule ${rule}${scope ? ` ${scopeWords[scope]}` : ""}`;
    case "always":
      return "in every mode";
    case "user":
      return "by the user";
    case "driver":
      return "by the driving program";
    case "headless":
      return `because nobody could be asked (${rule})`;
    case "changed":
      return `because the tools of ${rule} changed, and nobody has looked`;
    case "hook":
      return `by the hook ${rule}`;
    case "delegate":
      return `because a sub-agent may not (${rule})`;
    case "fix":
      return "because a repair stays inside the project";
  }
}
