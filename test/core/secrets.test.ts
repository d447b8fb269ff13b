/** Which variables hold secrets (security §6): by name, by the shape of a value, by a password in a URL. */

import { describe, expect, test } from "vitest";
import { isSecret, secretsOf, withheldNames, withoutSecrets } from "../../src/core/secrets/secrets.ts";

const secrets: Record<string, string> = {
  ANTHROPIC_API_KEY: "sk-canary-7f3a",
  ANTHROPIC_AUTH_TOKEN: "token-12345",
  AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
  AWS_SECRET_ACCESS_KEY: "/JalrXUtnFEMI/K7MDENGbPxRfiCYEXAMPLEKEY",
  AWS_SESSION_TOKEN: "FwoGZXIvYXdz",
  CI_JOB_JWT: "eyJ0",
  CI_JOB_TOKEN: "job-12345678",
  COOKIE: "sid=1",
  DATABASE_URL: "postgres://app:hunter2@db.example/app",
  DB_PASS: "postgres",
  DB_PASSWORD: "postgres",
  DBPASS: "x1",
  ENCRYPTION_KEY: "00ff",
  GITHUB_PAT: "x",
  GH_TOKEN: "gho_1",
  HTTPS_PROXY: "http://u:p4ss@proxy.example:3128",
  HTTP_AUTHORIZATION: "Basic eDp5",
  MYSQL_PWD: "a",
  MY_PASSPHRASE: "correct horse",
  NODE_AUTH_TOKEN: "x",
  NPM_TOKEN: "npm-12345678",
  PGPASSWORD: "a",
  PRIVATEKEY: "MIIE",
  REDIS_URL: "redis://:secret@cache:6379/0",
  REDISCLOUD: "redis://default:secret@cache:6379",
  SECRET_KEY_BASE: "x",
  SENTRY_DSN: "https://0123abcd@o1.ingest.example/2",
  SLACK_WEBHOOK_URL: "https://hooks.example/services/T0/B0/x",
  STORAGE: "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=abcd1234==;EndpointSuffix=x",
  STRIPE_KEY: "rk_1",
  TF_VAR_password: "x",
  SOMETHING: `ghp_${"a1B2".repeat(9)}`,
  VAULT_CREDENTIALS: "u:p",
  npm_config__auth: "dTpw",
};

const harmless: Record<string, string> = {
  PATH: "/usr/bin:/bin",
  PWD: "/home/u/project",
  OLDPWD: "/home/u",
  GIT_AUTHOR_NAME: "A U Thor",
  GIT_AUTHOR_EMAIL: "a@b.example",
  GOOGLE_APPLICATION_CREDENTIALS: "/home/u/key.json",
  SSH_KEY: "~/.ssh/id_ed25519",
  MAX_TOKENS: "4096",
  TOKENIZERS_PARALLELISM: "false",
  USE_AUTH: "true",
  AUTH_URL: "https://login.example/authorize",
  HTTP_PROXY: "http://proxy.example:3128",
  KEYBOARD: "us",
  BYPASS: "1",
  COMPASS: "north",
  MONKEY: "x",
  NODE_OPTIONS: "--max-old-space-size=4096",
};

describe("S57 environment: a variable of a name or value that tells of a secret", () => {
  test.each(Object.entries(secrets))("%s=%s is one", (name, value) => {
    expect(isSecret(name, value)).toBe(true);
  });

  test.each(Object.entries(harmless))("%s=%s is none", (name, value) => {
    expect(isSecret(name, value)).toBe(false);
  });

  test("sockets and displays are doors, which programs get as long as no sandbox hides what they lead to", () => {
    const doors = {
      SSH_AUTH_SOCK: "/tmp/ssh-aB3dE6gH9jK2/agent.1",
      XAUTHORITY: "/home/u/.Xauthority",
      DOCKER_HOST: "unix:///run/docker.sock",
      SUDO_ASKPASS: "/usr/bin/ask",
    };
    expect(withoutSecrets(doors)).toEqual(doors);
  });
});

test("children get the rest of the environment, and what a person lets through by name", () => {
  const env = {
    ...secrets,
    ...harmless,
    OPENAI_BASE_URL: "http://localhost",
    INPUT_NAME: "x",
    GONE: undefined,
  };
  expect(withoutSecrets(env)).toEqual(harmless);
  expect(withoutSecrets(env, new Set(["DATABASE_URL"]))).toEqual({
    ...harmless,
    DATABASE_URL: secrets.DATABASE_URL,
  });
  expect(withheldNames(env)).toEqual([...Object.keys(secrets), "INPUT_NAME", "OPENAI_BASE_URL"].sort());
});

test("the values to be taken out of texts are those of the same variables, and passwords in them", () => {
  expect(secretsOf({ DATABASE_URL: "postgres://app:hunter2hunter2@db.example/app" })).toEqual([
    { name: "DATABASE_URL", value: "postgres://app:hunter2hunter2@db.example/app" },
    { name: "DATABASE_URL", value: "hunter2hunter2" },
  ]);
  expect(secretsOf({ ...harmless, DB_PASSWORD: "postgres", A_TOKEN: "short" })).toEqual([]);
  const named = new Set(secretsOf(secrets).map(({ name }) => name));
  expect([...named].every((name) => name in secrets)).toBe(true);
});
