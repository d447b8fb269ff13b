/** Keeps secrets out of what the model, the log and the screen get. Pure. */

export type Secret = { name: string; value: string };

const secretName =
  /(?:API_?KEY|AUTH|SECRET|PASSWORD|PASSWD|PASSPHRASE|PRIVATE_?KEY|CREDENTIALS?)|(?:^|_)(?:TOKEN|KEY|PAT|PWD)$/i;
const shortest = 8;

/** Values of the environment that are secrets by the name of their variable. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): Secret[] {
  return Object.entries(env).flatMap(([name, value = ""]) =>
    secretName.test(name) && isTelling(value) ? [{ name, value }] : [],
  );
}

/** A path or a plain word is no secret; taking it out of every text would only confuse. */
function isTelling(value: string): boolean {
  return value.length >= shortest && !/^(?:\/|\.{1,2}\/|~|[a-z]{1,15}$|[A-Z]{1,15}$)/.test(value);
}

const shapes: { name: string; shape: RegExp }[] = [
  {
    name: "PRIVATE_KEY",
    shape:
      /-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----(?:[\s\S]{0,20000}?-----END \1-----|(?:[A-Za-z0-9+/=\s]|\\[nr])*)/g,
  },
  { name: "AWS_ACCESS_KEY_ID", shape: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { name: "GITHUB_TOKEN", shape: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})/g },
  { name: "GITLAB_TOKEN", shape: /\bglpat-[\w-]{20,}/g },
  { name: "ANTHROPIC_API_KEY", shape: /\bsk-ant-[\w-]{20,}/g },
  { name: "OPENAI_API_KEY", shape: /\bsk-(?:proj|svcacct|or-v1)-[\w-]{20,}/g },
  { name: "SLACK_TOKEN", shape: /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g },
  { name: "GOOGLE_API_KEY", shape: /\bAIza[\w-]{35}/g },
  { name: "NPM_TOKEN", shape: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { name: "STRIPE_KEY", shape: /\b[rs]k_live_[A-Za-z0-9]{20,}/g },
];

/** The text with `[redacted:NAME]` for each known secret value and each well-known shape of one; well-formed. */
export function redact(text: string, secrets: readonly Secret[]): string {
  const known = secrets
    .filter(({ value }) => value.length >= shortest)
    .sort((a, b) => b.value.length - a.value.length);
  const marked = (name: string): string => `[redacted:${name}]`;
  const withoutKnown = known.reduce(
    (rest, { name, value }) => rest.replaceAll(value, () => marked(name)),
    text.toWellFormed(),
  );
  return shapes.reduce((rest, { name, shape }) => rest.replace(shape, () => marked(name)), withoutKnown);
}
