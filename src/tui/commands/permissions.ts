/** `/permissions`: lists the rules in force and where each is stored, and removes one. */

import type { StandingRule, StandingRules } from "../../permissions/rules.ts";
import { cutRow, type Row, safe } from "../rows/rows.ts";
import type { Command, CommandContext } from "./command.ts";

export const permissionCommands: readonly Command[] = [
  {
    name: "permissions",
    summary: "list the permission rules and where they are kept; remove one",
    argument: "remove <n>",
    run: managePermissions,
  },
];

function managePermissions(argument: string, { host, columns, notice, print }: CommandContext): void {
  const rules = host.rules.list();
  const number = /^remove\s+(\d+)$/.exec(argument)?.[1];
  const rule = rules[Number(number) - 1];
  if (argument === "") print(ruleRows(rules, columns));
  else if (number === undefined) notice("Usage: /permissions [remove <n>]");
  else notice(rule ? removed(host.rules, rule) : `No rule ${number}. /permissions lists them`);
}

function removed(rules: StandingRules, rule: StandingRule): string {
  const failure = rules.remove(rule);
  return failure === undefined
    ? `removed: ${rule.kind} ${safe(rule.rule)} (${rule.where})`
    : `cannot remove ${safe(rule.rule)}: ${failure}`;
}

const scopes: Record<StandingRule["scope"], string> = {
  flags: "this run",
  session: "this session",
  project: "this project",
  user: "every project",
};

function ruleRows(rules: readonly StandingRule[], columns: number): Row[] {
  if (rules.length === 0) return [[{ text: "  No rules: the permission mode decides", tone: "dim" }]];
  return rules.flatMap(({ rule, kind, scope, where }, index): Row[] => [
    cutRow(
      [
        { text: `  ${String(index + 1).padStart(2)}  ${kind.padEnd(5)}  ` },
        { text: safe(rule), tone: "code" },
      ],
      columns,
    ),
    cutRow([{ text: `      ${scopes[scope]}: ${where}`, tone: "dim" }], columns),
  ]);
}
