/** Decides whether a command may leave the sandbox: asks in every mode unless rules cover all of it. Pure. */

import type { Access } from "../core/ports.ts";
import type { AgreedReading } from "./bash/cross-check.ts";
import type { SimpleCommand } from "./bash/scanner.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery } from "./decision.ts";
import { runsInGit } from "./free.ts";
import type { Rule } from "./parse-rule.ts";
import { plain } from "./paths.ts";
import { allowsCommand } from "./rules.ts";

type Command = Extract<Access, { kind: "execute" }>;

/** Decides a command that no rule denies. `staysInside`: its redirects write only in the workspace. */
export function decideOutside(
  query: PermissionQuery,
  { command, outside, input }: Command,
  line: AgreedReading,
  staysInside: (simple: SimpleCommand) => boolean,
): PermissionDecision {
  if (query.mode === "plan") return byMode(query, "deny", "Plan mode runs nothing outside of the sandbox.");
  const rule = input === undefined ? coveringRule(query, command, line, staysInside) : undefined;
  if (rule) return byRule("allow", rule);
  const why = outside?.reason.trim();
  const reason = `It runs outside of the sandbox${why ? `, because: ${why}` : ", without a reason"}.`;
  const exact = command.trim();
  const isSimple = input === undefined && !line.unreadable && exact !== "" && exact.length <= 200;
  const suggestion = isSimple && !/[\n\r]|\*$/.test(exact) ? `outside(${exact})` : undefined;
  return byMode(query, "ask", reason, suggestion);
}

/** Returns the first of the rules that together cover the line; commands that only read are not free here. */
function coveringRule(
  query: PermissionQuery,
  command: string,
  line: AgreedReading,
  staysInside: (simple: SimpleCommand) => boolean,
): Rule | undefined {
  const isPlanted = line.commands.some((simple) => runsInGit(query, simple) !== undefined);
  const rules = query.allow.filter(
    (rule) => rule.tool === "outside" && (!isPlanted || !query.general.includes(rule)),
  );
  const whole = rules.find(({ pattern }) => pattern === command.trim() && !line.unreadable);
  if (whole || line.problems.length > 0 || line.commands.length === 0) return whole;
  const used = line.commands.map((simple) =>
    staysInside(simple) ? rules.find((rule) => allowsCommand(rule, simple.words.map(plain))) : undefined,
  );
  return used.every(Boolean) ? used[0] : undefined;
}
