/** Decides about calls, and settles open questions: by asking the user, or by a rule where nobody can be asked. */

import type { Agent, Permission } from "../agent/agent.ts";
import type { Access } from "../core/ports.ts";
import type { CallFacts } from "../core/tool-calls.ts";
import { toolNames } from "../core/tool-calls.ts";
import { decidePermission } from "../permissions/decide.ts";
import type { PermissionDecision, PermissionInput } from "../permissions/decision.ts";
import { type LinkScope, linksIn } from "../permissions/links.ts";
import type { StandingRules } from "../permissions/rules.ts";
import type { Answer, Question } from "../tui/ports/session.ts";
import { parserFor } from "./bash-grammar.ts";
import type { Person, SettleHeadless } from "./session.ts";

type Rules = Omit<PermissionInput, "toolName" | "access" | "parse"> & {
  /** Resolves once it is known which sandbox commands run in. */
  settled?: () => Promise<unknown>;
  standing: Pick<StandingRules, "list">;
  /** Returns what a person has to know of a command that leaves the sandbox; undefined for other calls. */
  leaving?: (access: Access) => Promise<string[] | undefined>;
};

/**
 * For `Agent.permit` without a person at the screen. `rules` is asked at each call: the shell's folder changes.
 * `settle`: who decides what rules and mode leave open; nobody when absent, and then it is denied.
 */
export function permitHeadless(rules: () => Rules, settle?: SettleHeadless): Agent["permit"] {
  return permitBy(rules, async ({ reason, suggestion, rule }, { toolName, input, signal }) => {
    const hint = suggestion ? ` It would be allowed by --allow '${suggestion}'.` : "";
    const text = `${reason} Nobody is here to be asked.${hint} Go on with what is allowed, or say what you need.`;
    const denied = {
      ...{ decision: "deny" as const, rule: suggestion ?? rule, by: "headless" as const },
      ...{ asked: { reason }, reason: text },
    };
    return settle ? settle({ toolName, input, signal }, denied) : denied;
  });
}

/** `refuse` is heard before the rules and the mode; undefined leaves the call to them. */
export function refusing(
  permit: Agent["permit"],
  refuse: ((access: Access) => Permission | undefined) | undefined,
): Agent["permit"] {
  if (!refuse) return permit;
  return async (call, signal) => refuse(call.access) ?? permit(call, signal);
}

/** The open questions: each entry judges its question again, and closes it when rules and mode now answer it. */
export type OpenQuestions = Set<() => void>;

/** Creates `Agent.permit` with a user at the screen, whose words reach the model where the answer is no. */
export function permitAsking(
  rules: () => Rules,
  ask: Person["ask"],
  { locations, add }: Pick<StandingRules, "locations" | "add">,
  questions: OpenQuestions = new Set(),
): Agent["permit"] {
  return permitBy(rules, async (open, call) => {
    const { reason, suggestion } = open;
    const { id: toolUseId, toolName, input, facts, signal } = call;
    const links = linksIn(input, linkScope(toolName, rules()));
    const outside = await rules().leaving?.(call.access);
    const question = { toolUseId, toolName, input, facts, reason, suggestion, links, outside, locations };
    const answer = await answerOrJudgement(question, call, { ask, questions });
    if (answer.type === "judged") return { ...recorded(answer.decided, rules()), asked: { reason } };
    const made = { rule: suggestion ?? open.rule, by: "user" as const };
    if (answer.decision === "deny") {
      const details = { reason, ...(answer.say ? { say: answer.say } : {}) };
      const unanswered = signal.aborted && !answer.say ? { unanswered: true as const } : {};
      const denied = { decision: "deny" as const, ...made, asked: { ...details, ...unanswered } };
      return { ...denied, reason: denialText(answer.say, signal.aborted) };
    }
    const { remember } = answer;
    if (remember) {
      add(remember.rule, remember.scope);
      for (const judgeAgain of [...questions]) judgeAgain();
    }
    return { decision: "allow", ...made, asked: { reason, ...(remember ? { remembered: remember } : {}) } };
  });
}

function denialText(say: string, stopped: boolean): string {
  if (say) return `The user did not allow this, and says what to do instead: ${say}`;
  return stopped ? "The turn was stopped before the user answered." : "The user did not allow this.";
}

/** Returns the folder that relative paths of a call start from: the shell's for a command, else the workspace. */
function linkScope(toolName: string, { cwd, workspace, home, realPath }: Rules): LinkScope {
  const [root = "/"] = workspace;
  return { cwd: toolName === toolNames.bash ? (cwd ?? root) : root, home, realPath };
}

type Answered = ({ type: "answered" } & Answer) | { type: "judged"; decided: PermissionDecision };

/** Waits for the user, or until a change of mode or rules answers the question. */
async function answerOrJudgement(
  question: Question,
  { signal, judge }: AskedCall,
  { ask, questions }: { ask: Person["ask"]; questions: OpenQuestions },
): Promise<Answered> {
  const closing = new AbortController();
  let decided: PermissionDecision | undefined;
  const judgeAgain = (): void => {
    const now = judge();
    if (now.decision === "ask") return;
    decided = now;
    closing.abort();
  };
  questions.add(judgeAgain);
  const answer = await ask(question, AbortSignal.any([signal, closing.signal]));
  questions.delete(judgeAgain);
  return decided && !signal.aborted ? { type: "judged", decided } : { type: "answered", ...answer };
}

type AskedCall = {
  id: string;
  toolName: string;
  access: Access;
  input: Record<string, unknown>;
  facts: CallFacts;
  signal: AbortSignal;
  /** Decides by the rules and the mode in force now. */
  judge(): PermissionDecision;
};

/** Settles a question that rules and mode leave open. */
type Settle = (open: PermissionDecision, call: AskedCall) => Promise<Permission>;

function permitBy(rules: () => Rules, settle: Settle): Agent["permit"] {
  return async ({ id, tool, input, access }, signal): Promise<Permission> => {
    await rules().settled?.();
    const parse = await parserFor(access);
    const judge = (): PermissionDecision => {
      const { standing: _, settled: __, ...inForce } = rules();
      return decidePermission({ ...inForce, toolName: tool.name, access, parse });
    };
    const open = judge();
    if (open.decision !== "ask") return recorded(open, rules());
    const facts = { ...tool.describe(input), ...tool.touches(input) };
    const settled = await settle(open, { id, toolName: tool.name, access, input, facts, signal, judge });
    return { mode: rules().mode, ...settled };
  };
}

/** Records a decision by the mode or a rule, with the place that stores the rule. */
function recorded(decided: PermissionDecision, { mode, standing }: Rules): Permission {
  const { decision, rule, by, reason } = decided;
  const standingRule =
    by === "rule"
      ? standing.list().find((candidate) => candidate.kind === decision && candidate.rule.trim() === rule)
      : undefined;
  const record = { rule, by, mode, ...(standingRule ? { scope: standingRule.scope } : {}) };
  return decision === "allow" ? { decision, ...record } : { decision: "deny", ...record, reason };
}
