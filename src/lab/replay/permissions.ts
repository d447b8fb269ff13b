/**
 * The calls of recordings judged under sets of rules and modes, with and without a sandbox: what would be asked? Pure.
 */

import { isToolUse } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import type { Access } from "../../core/ports.ts";
import { started } from "../../core/questions.ts";
import type { HostRule } from "../../core/sandbox.ts";
import { toolNames, touchesOf } from "../../core/tool-calls.ts";
import { parseTwice } from "../../permissions/bash/cross-check.ts";
import { programsOf } from "../../permissions/bash/programs.ts";
import { decidePermission, type PermissionMode, parseRule } from "../../permissions/decide.ts";
import type { PermissionDecision, PermissionInput } from "../../permissions/decision.ts";
import { decideHost, hostRulesOf, parseHostRule } from "../../permissions/sandbox/hosts.ts";
import { sandboxPlan } from "../../permissions/sandbox/plan.ts";
import { hostsNamed, mayName, type NamedHost } from "./hosts.ts";

export type RecordedCall = { toolUseId: string; toolName: string; access: Access; workspace: string[] };

/** Rules and a mode to try. `sandbox`: commands run in one that has every wall. */
export type Policy = { mode: PermissionMode; sandbox: boolean; allow: string[]; deny: string[] };

/** The parts of the machine that a decision depends on. */
export type ReplayMachine = Pick<PermissionInput, "home" | "parse">;

type Decision = PermissionDecision["decision"];

/** A host that a command names, with what the rules say about it. `rule`: the one that decided. */
export type JudgedHost = NamedHost & { decision: Decision; rule?: string };

/** A call as a policy decides it: on the call itself, and on the hosts that it names. */
export type JudgedCall = RecordedCall & {
  decision: Decision;
  decided: PermissionDecision;
  hosts: JudgedHost[];
};

/** The folder of SWE-bench tasks, where nothing else is recorded. */
const usualFolder = "/testbed";

/** Lists the shell commands of a recording, and what reads and writes files; other calls ask nobody anything here. */
export function recordedCalls(events: readonly LogEvent[]): RecordedCall[] {
  const cwd = started(events)?.cwd || usualFolder;
  const uses = events.flatMap((event) =>
    event.type === "assistant_message" ? event.content.filter(isToolUse) : [],
  );
  return uses.flatMap(({ id, name, input }) => {
    const access = accessOf(name, input, cwd);
    return access ? [{ toolUseId: id, toolName: name, access, workspace: [cwd] }] : [];
  });
}

function accessOf(name: string, input: unknown, cwd: string): Access | undefined {
  const { command } = input as Record<string, unknown>;
  if (typeof command !== "string") return undefined;
  if (name === toolNames.bash) return { kind: "execute", command };
  const { kind, paths } = touchesOf({ name, input });
  if (paths.length === 0) return undefined;
  const absolute = paths.map((path) => (path.startsWith("/") ? path : `${cwd}/${path}`));
  return { kind: kind === "reads" ? "read" : "write", paths: absolute };
}

/** Judges each call as if it came first: no answer is remembered. Throws `RuleError`. */
export function judgeCalls(
  calls: readonly RecordedCall[],
  policy: Policy,
  machine: ReplayMachine,
): JudgedCall[] {
  const { mode, allow, deny } = policy;
  const rules = { mode, allow, deny, home: machine.home, protectedPaths: [], parse: machine.parse };
  const hostRules = hostRulesOf(allow.map(parseRule), deny.map(parseRule));
  return calls.map((call) => {
    const sandbox = policy.sandbox ? { plan: planOf(policy, call, machine), full: true } : undefined;
    const decided = decidePermission({ ...rules, ...call, sandbox });
    const isRun = policy.sandbox && call.access.kind === "execute" && decided.decision !== "deny";
    const hosts = isRun ? hostsOf(call, machine).map((host) => judgeHost(host, policy, hostRules)) : [];
    const all = [decided.decision, ...hosts.map(({ decision }) => decision)];
    const decision = all.includes("deny") ? "deny" : all.includes("ask") ? "ask" : "allow";
    return { ...call, decision, decided, hosts };
  });
}

/** Lists the hosts that the programs of a command name, each once. */
function hostsOf({ access, workspace }: RecordedCall, { home, parse }: ReplayMachine): NamedHost[] {
  if (access.kind !== "execute" || !mayName(access.command)) return [];
  const context = { home, folders: workspace };
  const programs = programsOf(parseTwice(access.command, context, parse), { home });
  const named = programs.filter(({ certain }) => certain).flatMap(({ words }) => hostsNamed(words));
  return [...new Map(named.map((one) => [`${one.host} ${one.port} ${one.grant}`, one])).values()];
}

function judgeHost(named: NamedHost, { mode }: Policy, rules: readonly HostRule[]): JudgedHost {
  const unknown: Decision = mode === "plan" ? "deny" : "ask";
  if (named.host.startsWith("(")) return { ...named, decision: unknown };
  const names = named.host.startsWith("@")
    ? parseHostRule(named.host).flatMap(({ name }) => (name.startsWith("*") ? [] : [name]))
    : [named.host];
  const decided = names.map((name) => decideHost(rules, name, named.port));
  const first = decided.find(({ decision }) => decision !== "allow") ?? decided[0];
  if (!first || first.decision === "ask") return { ...named, decision: unknown };
  const rule = "rule" in first ? { rule: first.rule.text } : {};
  if (first.decision === "allow" && first.rule.grant === "fetch" && named.grant === "full")
    return { ...named, decision: unknown };
  return { ...named, decision: first.decision, ...rule };
}

/** Plans the sandbox of a call on a machine of which nothing is known, so that every path of the rules exists. */
function planOf({ mode, allow, deny }: Policy, { workspace }: RecordedCall, { home }: ReplayMachine) {
  return sandboxPlan({
    ...{ mode, workspace, home, own: [] },
    allow: allow.map(parseRule),
    deny: deny.map(parseRule),
    session: { readable: [], writable: [] },
    found: {
      kind: () => "file",
      realPath: (path) => path,
      matches: () => [],
      names: () => [],
      ...{ repositories: [], programs: [], sockets: [], namedSockets: {} },
    },
  });
}
