/** Builds the environment of child processes: none of our secrets, and no program that waits for a person. Pure. */

import { type Environment, withoutSecrets } from "../../../core/secrets/secrets.ts";

/** Variables that would change how the shell itself works, or that only our own process or its tests set. */
const ours =
  /^(VITEST|SAWTOOTH_(SESSION|STATE|AGENT|JOB)$|NODE_COMPILE_CACHE$|NODE_CHANNEL_|TMOUT$|CDPATH$|PROMPT_COMMAND$|PS[0-4]$|HIST|COLUMNS$|LINES$|SHLVL$|_$|OLDPWD$|MAILCHECK$|BASHOPTS$|SHELLOPTS$|TERMCAP$)/;

/** Values that make programs print or fail instead of opening a pager or an editor, or asking a question. */
const unattended: Record<string, string> = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  LESS: "-FRX",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "echo 'no editor here: give the text on the command line' >&2; false",
  GIT_SEQUENCE_EDITOR: "echo 'no editor here: interactive rebase is not possible' >&2; false",
  EDITOR: "false",
  VISUAL: "false",
  DEBIAN_FRONTEND: "noninteractive",
  PYTHONUNBUFFERED: "1",
};

export type ProcessMark = { sessionId: string; stateFolder: string; agent: string };

/**
 * Returns `env` for the programs of a session. With `mark`, its processes can be found again by it. `passed`: names of
 * secrets that the user lets through.
 */
export function childEnvironment(env: Environment, mark?: ProcessMark, passed?: ReadonlySet<string>) {
  const allowed = Object.entries(withoutSecrets(env, passed)).filter(([name]) => !ours.test(name));
  const own = Object.fromEntries(allowed);
  return { ...own, ...unattended, ...gitSettings(own), ...(mark ? markVariables(mark) : {}) };
}

/**
 * Settings of git that override those of a repository, appended to those that the user gives in the same way. Hooks
 * stay: a person who commits wants them. Filters and text conversions stay too: without them files would be stored
 * differently.
 */
function gitSettings(own: Record<string, string>): Record<string, string> {
  const { GIT_CONFIG_COUNT = "0" } = own;
  const count = /^\d+$/.test(GIT_CONFIG_COUNT) ? Number(GIT_CONFIG_COUNT) : 0;
  const settings = [
    ["core.fsmonitor", "false"],
    ["core.pager", "cat"],
    // A bare repository among the files of another may name programs; git then uses it only on request.
    ["safe.bareRepository", "explicit"],
  ];
  const variables = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  const total = String(count + settings.length);
  return { ...withheldSettings(own, count), ...Object.fromEntries(variables), GIT_CONFIG_COUNT: total };
}

/** Drops settings of the user whose value is a withheld secret; git fails where one of those it counts is missing. */
function withheldSettings(own: Record<string, string>, count: number): Record<string, string> {
  const gone = Array.from({ length: Math.min(count, 1000) }, (_, index) => index).filter(
    (index) => own[`GIT_CONFIG_KEY_${index}`] === undefined || own[`GIT_CONFIG_VALUE_${index}`] === undefined,
  );
  return Object.fromEntries(
    gone.flatMap((index) => [
      [`GIT_CONFIG_KEY_${index}`, "sawtooth.withheld"],
      [`GIT_CONFIG_VALUE_${index}`, ""],
    ]),
  );
}

/** Programs read `AI_AGENT` or `AGENT` to print for an agent instead of a person. */
function markVariables({ sessionId, stateFolder, agent }: ProcessMark): Record<string, string> {
  return {
    ...{ SAWTOOTH_SESSION: sessionId, SAWTOOTH_STATE: stateFolder, SAWTOOTH_AGENT: agent },
    ...{ AI_AGENT: "sawtooth", AGENT: "sawtooth" },
  };
}
