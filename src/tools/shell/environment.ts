/** The environment of child processes: no secrets of ours, nothing that waits for a person. Pure. */

/** Names whose values never reach a child: keys of providers, tokens of CI systems, secrets in general. */
const secret =
  /^(ANTHROPIC_|OPENAI_|CLAUDE_CODE_|ACTIONS_|AWS_SECRET|AWS_SESSION_TOKEN|AZURE_OPENAI_|GEMINI_API|RUNNER_TRACKING|INPUT_)|API_?KEYS?$|_TOKENS?$|^(GITHUB|GH|GITLAB|NPM|CI)_.*(TOKEN|PASSWORD|JWT)|_?SECRET|PRIVATE_KEY/i;

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

export type Mark = { sessionId: string; stateFolder: string; agent: string };

/** `env` for the programs of a session. With `mark`, its processes can be found again by it. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  mark?: Mark,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !secret.test(entry[0]) && !ours.test(entry[0]),
  );
  const own = Object.fromEntries(kept);
  return { ...own, ...unattended, ...gitSettings(own), ...(mark ? markVariables(mark) : {}) };
}

/**
 * Settings of git that beat those of a repository, after those that the user gives in the same way. Hooks stay: who
 * commits wants them. Filters and text conversions stay too: without them files would be stored otherwise.
 */
function gitSettings({ GIT_CONFIG_COUNT = "0" }: Record<string, string>): Record<string, string> {
  const count = /^\d+$/.test(GIT_CONFIG_COUNT) ? Number(GIT_CONFIG_COUNT) : 0;
  const settings = [
    ["core.fsmonitor", "false"],
    ["core.pager", "cat"],
  ].flatMap(([key = "", value = ""], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  return { ...Object.fromEntries(settings), GIT_CONFIG_COUNT: String(count + 2) };
}

function markVariables({ sessionId, stateFolder, agent }: Mark): Record<string, string> {
  return { SAWTOOTH_SESSION: sessionId, SAWTOOTH_STATE: stateFolder, SAWTOOTH_AGENT: agent };
}
