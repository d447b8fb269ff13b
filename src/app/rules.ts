/** The rules in force and the place that stores each: command line, settings, this folder's file, this session. */

import { homedir } from "node:os";
import { join } from "node:path";
import { type Settings, SettingsError } from "../config/settings.ts";
import {
  changeProjectRules,
  changeUserRules,
  projectRulesFile,
  readProjectRules,
} from "../config/stored-rules.ts";
import { firstTreeOf } from "../git/work-tree.ts";
import type { RuleScope, StandingRule, StandingRules } from "../permissions/rules.ts";
import type { SessionOptions } from "./options.ts";

type Sources = {
  flags: SessionOptions;
  settings: Settings;
  /** Absolute folder of the user's configuration. */
  config: string;
  /** Real path of the workspace. */
  root: string;
  /** The rules of this session, which are added here. */
  session: string[];
  env: Readonly<Record<string, string | undefined>>;
  warn(text: string): void;
};

/** Returns the folder whose rules hold in `root`: for a linked worktree its repository's first one. */
export function projectOf(root: string): string {
  try {
    return firstTreeOf(root);
  } catch {
    // Its pointers were forged: the folder stands for itself.
    return root;
  }
}

export function standingRules(sources: Sources): StandingRules &
  Record<"allow" | "allowEverywhere" | "deny", () => string[]> & {
    subscribe(listener: () => void): () => void;
  } {
  const { flags, settings, config, session, env, warn } = sources;
  const root = projectOf(sources.root);
  const files = { user: join(config, "settings.json"), project: projectRulesFile(config, root) };
  const user = { allow: [...(settings.allow ?? [])], deny: [...(settings.deny ?? [])] };
  const project = flags.bare ? [] : rulesOfProject(files.project, root, warn);
  const home = env.HOME ?? homedir();
  const listeners = new Set<() => void>();
  const locations = {
    session: "kept until you leave",
    project: shortened(files.project, home),
    user: shortened(files.user, home),
    flags: "the command line",
  };
  const change = (scope: RuleScope, kind: "allow" | "deny", edit: (rules: string[]) => string[]): void => {
    if (scope === "project") changeProjectRules(files.project, root, edit);
    if (scope === "user") changeUserRules(files.user, kind, edit);
    const list = { session, project, user: user[kind] }[scope];
    list.splice(0, list.length, ...edit(list));
    for (const listener of listeners) listener();
  };
  return {
    allow: () => [...flags.allow, ...project, ...session],
    allowEverywhere: () => user.allow,
    deny: () => [...flags.deny, ...user.deny],
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    locations,
    list: () => [
      ...named("deny", { flags: flags.deny, user: user.deny }, locations),
      ...named("allow", { flags: flags.allow, user: user.allow, project, session }, locations),
    ],
    add(rule, scope) {
      const added = (rules: string[]): string[] => (rules.includes(rule) ? rules : [...rules, rule]);
      try {
        change(scope, "allow", added);
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        warn(`${error.message}; the rule ${rule} applies to this session only`);
        change("session", "allow", added);
      }
    },
    remove({ rule, kind, scope }) {
      if (scope === "flags") return "given on the command line: remove it there";
      try {
        change(scope, kind, (rules) => rules.filter((each) => each !== rule));
        return undefined;
      } catch (error) {
        if (error instanceof SettingsError) return error.message;
        throw error;
      }
    },
  };
}

/** Lists rules with the place that stores each. */
function named(
  kind: "allow" | "deny",
  rules: Partial<Record<StandingRule["scope"], readonly string[]>>,
  locations: Readonly<Record<StandingRule["scope"], string>>,
): StandingRule[] {
  const scopes = Object.keys(rules) as StandingRule["scope"][];
  return scopes.flatMap((scope) =>
    (rules[scope] ?? []).map((rule) => ({ rule, kind, scope, where: locations[scope] })),
  );
}

/** Reads the rules of a folder. An invalid file allows nothing, and is left as it is. */
function rulesOfProject(file: string, root: string, warn: (text: string) => void): string[] {
  try {
    return readProjectRules(file, root);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    warn(`${error.message}; until then no rule for this folder applies`);
    return [];
  }
}

function shortened(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
