/**
 * Decides what is a secret: by the name of a variable, the shape of a value, or a password in a URL. Child processes
 * start without these variables, and their values are redacted for the model, the log and the screen. Pure.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Headers for a collector, such as OTEL_EXPORTER_OTLP_HEADERS. */
const otelHeaders = /^OTEL_\w*HEADERS$/i;

/** Names of secrets: a word of the name begins or ends like this. */
const secretName = new RegExp(
  [
    "SECRET|CREDENTIAL|COOKIE|WEBHOOK|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|PRIVATE_?KEY|API_?KEY|ACCESS_?KEY|ACCOUNT_?KEY",
    // AUTH and AUTHORIZATION, but no AUTHOR.
    "AUTH(?!OR(?!I))",
    "TOKENS?$|(?:^|_)TOKEN_|(?:^|_)(?:KEYS?|PAT|PWD|JWT|PASS|PW)$|(?:^|_)(?:DSN|PASS)(?:_|$)",
    otelHeaders.source,
    "(?:DB|PG|SQL|SMTP|FTP|MAIL|USER|ADMIN|ROOT)_?PASS$",
  ].join("|"),
  "i",
);

/** Settings of providers and CI systems: not secret in themselves, but no command needs them. */
const withheld =
  /^(?:ANTHROPIC_|OPENAI_|AZURE_OPENAI_|GEMINI_|CLAUDE_CODE_|ACTIONS_|RUNNER_TRACKING|INPUT_)/i;

/**
 * Names of sockets and displays: they grant access but hold no secret, and programs need them. They are dropped
 * where a sandbox hides the socket; without one, hiding the name of a reachable socket would not help.
 */
const doors =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_SESSION_BUS_ADDRESS|DOCKER_HOST|DISPLAY|XAUTHORITY|WAYLAND_DISPLAY|TMUX|VSCODE_IPC_HOOK_CLI|XDG_RUNTIME_DIR|\w*_ASKPASS)$/;
/** The folder of a shell, although it ends as MYSQL_PWD does. */
const noSecrets = /^(?:OLD)?PWD$/;

/**
 * `hints`: short literals, one of which is in each match; set where searching for them first is faster. `token`: each
 * match has a run of at least 15 letters, digits, `_` and `-` that `tokenHead` knows. A group `kept` is no secret.
 */
export type Shape = { name: string; hints?: readonly string[]; token?: true; shape: RegExp };

export const shortestToken = 15;
/** Matches the run of a token and the character before it: the token's beginning, or the dot before its last part. */
export const tokenHead =
  /gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-|xapp-|AIza|AKIA|ASIA|npm_|pypi-|k_live_|hf_|_v1_|^\./;

/** Two characters of which each of these beginnings has a pair, but for the dot. */
export const tokenPairs = "p_ o_ u_ s_ r_ t_ t- k- xo p- AI AK AS m_ i- e_ f_ 1_".split(" ");

/** Shapes of well-known secrets. None had a false positive in 15 MB of recorded sessions. All are global. */
export const secretShapes: readonly Shape[] = [
  {
    name: "PRIVATE_KEY",
    shape:
      /-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----(?:[\s\S]{0,20000}?-----END \1-----|(?:[A-Za-z0-9+/=\s]|\\[nr])*)/g,
  },
  {
    name: "AWS_ACCESS_KEY_ID",
    token: true,
    hints: ["AKIA", "ASIA"],
    shape: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  },
  {
    name: "AWS_SECRET_ACCESS_KEY",
    shape:
      /(?<kept>\b(?:aws_?secret_?access_?key|AWS_SECRET_ACCESS_KEY|(?:aws)?[sS]ecretAccessKey)["']?\s*[:=]\s*["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g,
  },
  {
    name: "GITHUB_TOKEN",
    token: true,
    shape: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})/g,
  },
  { name: "GITLAB_TOKEN", token: true, hints: ["glpat-"], shape: /\bglpat-[\w-]{20,}/g },
  { name: "ANTHROPIC_API_KEY", token: true, hints: ["-ant-"], shape: /\bsk-ant-[\w-]{20,}/g },
  {
    name: "OPENAI_API_KEY",
    token: true,
    hints: ["-proj-", "-svcac", "-or-v1"],
    shape: /\bsk-(?:proj|svcacct|or-v1)-[\w-]{20,}/g,
  },
  {
    name: "API_KEY",
    token: true,
    shape: /\bsk-(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{32,}\b/g,
  },
  {
    name: "SLACK_TOKEN",
    token: true,
    hints: ["xox"],
    shape: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  },
  { name: "SLACK_APP_TOKEN", token: true, hints: ["xapp-"], shape: /\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{20,}/g },
  {
    name: "SLACK_WEBHOOK",
    shape: /(?<kept>\bhooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9/_-]{30,}/g,
  },
  { name: "GOOGLE_API_KEY", token: true, hints: ["AIza"], shape: /\bAIza[\w-]{35}/g },
  { name: "NPM_TOKEN", token: true, shape: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: "PYPI_TOKEN", token: true, hints: ["AgEI"], shape: /\bpypi-AgEI[\w-]{40,}/g },
  { name: "STRIPE_KEY", token: true, hints: ["_live_"], shape: /\b[rs]k_live_[A-Za-z0-9]{20,}/g },
  { name: "HUGGINGFACE_TOKEN", token: true, hints: ["hf_"], shape: /\bhf_[A-Za-z0-9]{30,}\b/g },
  { name: "SENDGRID_API_KEY", token: true, hints: ["SG."], shape: /\bSG\.[\w-]{16,32}\.[\w-]{32,64}/g },
  {
    name: "DIGITALOCEAN_TOKEN",
    token: true,
    hints: ["_v1_"],
    shape: /\bdo[oprt]_v1_[a-f0-9]{64}\b/g,
  },
  { name: "JWT", token: true, hints: [".eyJ"], shape: /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/g },
  {
    name: "AUTHORIZATION",
    hints: ["zation", "ZATION"],
    shape:
      /(?<kept>\b(?:[aA]uthorization|AUTHORIZATION)["']?\s{0,4}[:=]\s{0,4}["']?(?:[bB]earer|[bB]asic|[tT]oken|BEARER|BASIC)\s{1,4})[A-Za-z0-9._~+/=-]{16,}/g,
  },
  {
    name: "PASSWORD_IN_URL",
    hints: ["@"],
    shape: /(?<kept>:\/\/[^\s/:@"'<>`]{0,64}:)[^\s/:@"'<>`{}$[\]()]{4,128}(?=@[A-Za-z0-9.-])/g,
  },
];

/** A user and a password before a host; the password is the first group. */
const passwordInUrl = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]*:([^\s/@"'<>]+)@/i;
const passwordInList = /(?:^|[;\s])(?:password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*([^;\s]{4,})/i;

/** Returns true when a variable holds a secret, so that no child process gets it. */
export function isSecret(name: string, value: string): boolean {
  if (noSecrets.test(name) || doors.test(name)) return false;
  if (hasSecretValue(value)) return true;
  return secretName.test(name) && !isPlain(name, value);
}

/** Returns true when the shape of the value alone marks it as a secret. */
function hasSecretValue(value: string): boolean {
  return (
    passwordInUrl.test(value) ||
    passwordInList.test(value) ||
    secretShapes.some(({ shape }) => value.search(shape) >= 0)
  );
}

/** Returns true for a switch, a count, a path or an address, which are no secrets whatever their name. */
function isPlain(name: string, value: string): boolean {
  if (/^(?:true|false|yes|no|on|off|none|null|[01])?$/i.test(value)) return true;
  if (/TOKENS$/i.test(name) && /^\d{1,9}$/.test(value)) return true;
  return isPath(value) || (/^[a-z]+:\/\/[^@\s]*$/i.test(value) && !/WEBHOOK|DSN/i.test(name));
}

/** Tells a path from a base64 key that begins with a slash: the parts of a key are long and mixed. */
function isPath(value: string): boolean {
  if (!/^(?:\/|\.{1,2}\/|~)/.test(value)) return false;
  const parts = value.split("/");
  return !parts.some((part) => /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[A-Za-z0-9+=]{16,}$/.test(part));
}

/** Returns true for a variable that names a socket, a display or a program that asks for passwords. */
export function isDoor(name: string): boolean {
  return doors.test(name);
}

/** Returns `env` without secrets, for a child process. `passed`: names that the user lets through. */
export function withoutSecrets(env: Environment, passed: ReadonlySet<string> = new Set()) {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isKept(entry[0], entry[1], passed),
  );
  return Object.fromEntries(kept);
}

/** Names of the variables that `withoutSecrets` leaves out, sorted. */
export function withheldNames(env: Environment, passed: ReadonlySet<string> = new Set()): string[] {
  return Object.entries(env)
    .flatMap(([name, value = ""]) => (value === "" || isKept(name, value, passed) ? [] : [name]))
    .sort();
}

function isKept(name: string, value: string, passed: ReadonlySet<string>): boolean {
  return passed.has(name) || !(withheld.test(name) || isSecret(name, value));
}

export type Secret = { name: string; value: string };

/** Shorter values would match unrelated text. */
export const shortestSecret = 8;

/** Returns the values of secret variables, except those too plain to redact without confusion. */
export function secretsOf(env: Environment): Secret[] {
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (!isSecret(name, value)) return [];
    const password = (passwordInUrl.exec(value) ?? passwordInList.exec(value))?.[1] ?? "";
    return [value, password, ...headerValues(name, value)]
      .filter(isTelling)
      .map((secret) => ({ name, value: secret }));
  });
}

/** The values of `name=value,name=value`: a secret is one of them, written with or without percent signs. */
function headerValues(name: string, value: string): string[] {
  if (!otelHeaders.test(name)) return [];
  return value.split(",").flatMap((pair) => {
    const given = pair.slice(pair.indexOf("=") + 1).trim();
    return [given, given.replaceAll("%20", " "), given.replace(/^.*(?:%20| )/, "")];
  });
}

/** Returns false for a plain word, which would match everywhere. */
function isTelling(value: string): boolean {
  return value.length >= shortestSecret && !/^(?:[a-z]{1,15}|[A-Z]{1,15})$/.test(value);
}
