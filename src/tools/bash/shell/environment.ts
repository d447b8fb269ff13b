/** The environment of child processes: no secrets of ours, nothing that waits for a person. Pure. */

import { type Environment, withoutSecrets } from "../../../core/secrets.ts";

/** What would change how the shell itself works, and what only our own process or its tests set. */
const ours =
  /^(VITEST|SAWTOOTH_(SESSION|STATE|AGENT|JOB)$|NODE_COMPILE_CACHE$|NODE_CHANNEL_|TMOUT$|PROMPT_COMMAND$|PS[0-4]$|HIST|COLUMNS$|LINES$|SHLVL$|_$|OLDPWD$|MAILCHECK$|BASHOPTS$|SHELLOPTS$|TERMCAP$)/;

/** Programs that would open a pager or an editor, or ask a question, print or fail instead. */
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
 * `env` for the programs of a session. With `mark`, its processes can be found again by it. `passed`: names of secrets
 * that a person lets through.
 */
export function childEnvironment(env: Environment, mark?: ProcessMark, passed?: ReadonlySet<string>) {
  const kept = Object.entries(withoutSecrets(env, passed)).filter(([name]) => !ours.test(name));
  const own = Object.fromEntries(kept);
  return { ...own, ...unattended, ...gitSettings(own), ...(mark ? markVariables(mark) : {}) };
}

/**
 * Settings of git that beat those of a repository, after those that the user gives in the same way. Hooks stay: who
 * commits wants them. Filters and text conversions stay too: without them files would be stored otherwise.
 */
function gitSettings(own: Record<string, string>): Record<string, string> {
  const { GIT_CONFIG_COUNT = "0" } = own;
  const count = /^\d+$/.test(GIT_CONFIG_COUNT) ? Number(GIT_CONFIG_COUNT) : 0;
  const settings = [
    ["core.fsmonitor", "false"],
    ["core.pager", "cat"],
    // A bare repository among the files of another one may name programs; git takes it only when told to.
    ["safe.bareRepository", "explicit"],
  ];
  const variables = settings.flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  const total = String(count + settings.length);
  return { ...withheldSettings(own, count), ...Object.fromEntries(variables), GIT_CONFIG_COUNT: total };
}

/** A setting of the user's whose value is a secret is left out; git fails where one of those it counts is missing. */
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

function markVariables({ sessionId, stateFolder, agent }: ProcessMark): Record<string, string> {
  return { SAWTOOTH_SESSION: sessionId, SAWTOOTH_STATE: stateFolder, SAWTOOTH_AGENT: agent };
}
