/** Makes the entry of a new server from the words of a command line, and keeps secrets out of it. Pure. */

import { UsageError } from "../../core/errors.ts";
import { isSecret } from "../../core/secrets/secrets.ts";
import { nameProblemOf, serversOf } from "../../mcp/configuration.ts";

type Given = {
  name: string;
  url?: string;
  /** `Name: value`. */
  headers: readonly string[];
  /** `NAME=value`. */
  variables: readonly string[];
  noSandbox: boolean;
  env: Readonly<Record<string, string | undefined>>;
};

/** Returns why a server cannot have the name; undefined when it can. */
export function nameProblem(name: string): string | undefined {
  return nameProblemOf(name) && `${name} is no name for a server: ${nameProblemOf(name)}`;
}

/** Returns the entry, and a sentence for each thing to know about it. Throws `UsageError`. */
export function newEntry(line: readonly string[], given: Given): { entry: object; notes: string[] } {
  const { name, env } = given;
  const entry = given.url === undefined ? programEntry(line, given) : urlEntry(line, given.url, given);
  const notes = serversOf({ [name]: entry }, env).problems.map((problem) => `Note: ${problem}.`);
  return { entry, notes };
}

function programEntry(
  [command, ...args]: readonly string[],
  { headers, variables, noSandbox }: Given,
): object {
  if (command === undefined || command.trim() === "")
    throw new UsageError(
      "add needs a command after --, or --url: sawtooth mcp add <name> -- <command> <arguments…>",
    );
  if (/^https?:\/\//.test(command))
    throw new UsageError(`${command} is no program: a server over HTTP is added with --url`);
  if (headers.length > 0) throw new UsageError("--header needs --url: a program gets variables, with --env");
  refuseSecretArguments(args);
  const env = Object.fromEntries(variables.map((text) => pairOf(text, variable)));
  return {
    command,
    ...(args.length > 0 ? { args } : {}),
    ...(variables.length > 0 ? { env } : {}),
    ...(noSandbox ? { sandbox: false } : {}),
  };
}

function urlEntry([stray]: readonly string[], url: string, { headers, variables, noSandbox }: Given): object {
  if (stray !== undefined)
    throw new UsageError(`a server has a command or --url, not both; unexpected: ${stray}`);
  if (variables.length > 0) throw new UsageError("--env is for a program: a server over HTTP gets --header");
  if (noSandbox) throw new UsageError("--no-sandbox is for a program: with --url none is started");
  checkUrl(url);
  const sent = Object.fromEntries(headers.map((text) => pairOf(text, header)));
  return { type: "http", url, ...(headers.length > 0 ? { headers: sent } : {}) };
}

type Form = { option: string; shape: RegExp; example: string };
const variable: Form = { option: "--env", shape: /^([A-Za-z_]\w*)=([\s\S]*)$/, example: "NAME=value" };
const header: Form = {
  option: "--header",
  shape: /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*)$/,
  example: "'Name: value'",
};

/** Returns name and value. Throws `UsageError` for another form, and for a secret that is written out. */
function pairOf(text: string, { option, shape, example }: Form): [string, string] {
  const [, name, value] = shape.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`${option} ${text.split(/[=:]/)[0]}: must have the form ${example}`);
  const constant = name.toUpperCase().replace(/\W/g, "_");
  if (isLiteralSecret(constant, value))
    throw new UsageError(
      `${option} ${name}: the settings are no place for a secret. Put it into a variable of your environment and write ${writtenAs(option, name, constant)}`,
    );
  return [name, value];
}

function writtenAs(option: string, name: string, constant: string): string {
  if (option === "--env") return `--env '${name}=\${${name}}'`;
  return constant === "AUTHORIZATION"
    ? `--header 'Authorization: Bearer \${TOKEN}', with the name of the variable in place of TOKEN`
    : `--header '${name}: \${${constant}}'`;
}

/** Returns true when something other than variables and the word before them is a secret. */
function isLiteralSecret(name: string, value: string): boolean {
  const literal = value.replace(/\$\{[A-Za-z_]\w*\}/g, "").replace(/\$\{[A-Za-z_]\w*:-([^}]*)\}/g, "$1");
  const rest = literal.replace(/^\s*(bearer|basic|token)\b/i, "").trim();
  return rest !== "" && (isSecret(name, rest) || isSecret("", value));
}

/** Throws `UsageError` for `--api-key abc`, `--token=abc`, and for words that have the shape of a secret. */
function refuseSecretArguments(args: readonly string[]): void {
  for (const [index, word] of args.entries()) {
    const [, joined, joinedValue] = /^--?([\w-]+)=([\s\S]*)$/.exec(word) ?? [];
    const [, before] = /^--?([\w-]+)$/.exec(args[index - 1] ?? "") ?? [];
    const name = joined ?? (word.startsWith("-") ? undefined : before);
    const value = joinedValue ?? word;
    const isOne = name !== undefined && isLiteralSecret(name.toUpperCase().replaceAll("-", "_"), value);
    if (isOne || isLiteralSecret("", value))
      throw new UsageError(
        `${name === undefined ? `argument ${index + 1}` : `--${name}`} of the command is a secret, and the settings are no place for one. Put it into a variable of your environment and write '\${NAME}' in its place`,
      );
  }
}

function checkUrl(url: string): void {
  const plain = url.replace(/\$\{[A-Za-z_]\w*(?::-([^}]*))?\}/g, "x");
  if (!URL.canParse(plain) || !/^https?:$/.test(new URL(plain).protocol))
    throw new UsageError(`--url ${url}: must be an address that begins with https:// or http://`);
  const { username, password, searchParams } = new URL(plain);
  const secret = [...searchParams].find(([name]) =>
    isLiteralSecret(name.toUpperCase().replace(/\W/g, "_"), rawValue(url, name)),
  );
  if (username || password || secret)
    throw new UsageError(
      `--url holds a secret, and the settings are no place for one: put it into --header, as 'Authorization: Bearer \${TOKEN}'`,
    );
}

/** Returns a parameter of the address as it is written, with its variables. */
function rawValue(url: string, name: string): string {
  const query = url.slice(url.indexOf("?") + 1);
  const pair = query.split("&").find((one) => one.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? "";
}
