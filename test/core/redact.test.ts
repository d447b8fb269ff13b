/** Secrets that never reach the model, the log or the screen (T23). */

import { describe, expect, test } from "vitest";
import { redactor } from "../../src/core/secrets/redact.ts";
import { type Secret, secretsOf } from "../../src/core/secrets/secrets.ts";
import { growthOver4 } from "../support/growth.ts";

const redact = (text: string, secrets: readonly Secret[]): string => redactor(secrets)(text);

describe("redaction", () => {
  test("takes out every occurrence of a known value, the longest first", () => {
    const secrets = [
      { name: "A_KEY", value: "sk-canary-7f3a" },
      { name: "B_KEY", value: "sk-canary-7f3a-longer" },
      { name: "SHORT", value: "abc" },
    ];
    expect(redact("x=sk-canary-7f3a; y='sk-canary-7f3a-longer' abc", secrets)).toBe(
      "x=[redacted:A_KEY]; y='[redacted:B_KEY]' abc",
    );
    expect(redact("$& a+b(c)$1d", [{ name: "R", value: "a+b(c)$1d" }])).toBe("$& [redacted:R]");
  });

  test.each([
    ["AKIAIOSFODNN7EXAMPLE", "AWS_ACCESS_KEY_ID"],
    [`ghp_${"a1B2".repeat(9)}`, "GITHUB_TOKEN"],
    [`github_pat_${"a1_B".repeat(9)}`, "GITHUB_TOKEN"],
    [`sk-ant-api03-${"aB3_-".repeat(8)}`, "ANTHROPIC_API_KEY"],
    ["xoxb-1234567890-abcdefghij", "SLACK_TOKEN"],
    [`-----BEGIN RSA PRIVATE KEY-----\n${"MIIE\n".repeat(9)}-----END RSA PRIVATE KEY-----`, "PRIVATE_KEY"],
    [`-----BEGIN PRIVATE KEY-----\n${"MIIE\n".repeat(9)}`, "PRIVATE_KEY"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl\\n-----END OPENSSH PRIVATE KEY-----", "PRIVATE_KEY"],
  ])("knows the shape of %s", (secret, name) => {
    expect(redact(`KEY=${secret}`, [])).toBe(`KEY=[redacted:${name}]`);
  });

  test("leaves other text alone, and makes it well-formed", () => {
    const text = "sk-ant colony, ghp_short, AKIA, task-xoxo, -----BEGIN CERTIFICATE----- 🟢";
    expect(redact(text, [])).toBe(text);
    expect(redact("half \ud83d", [])).toBe("half \ufffd");
  });

  test.each(["-----BEGIN RSA PRIVATE KEY-----", "A".repeat(64), "sk-ant-", "xoxb-123 "])(
    "costs in proportion to a text that almost matches: %s",
    (piece) => {
      const secrets = Array.from({ length: 50 }, (_, index) => ({
        name: `S${index}`,
        value: `value-${index}-abcdef`,
      }));
      const work = (characters: number) => redact(piece.repeat(characters / piece.length), secrets);
      expect(growthOver4(work, 16_000, 9)).toBeLessThan(9);
    },
  );
});

describe("the environment's secrets", () => {
  test("are known by the names of their variables", () => {
    const env = {
      ANTHROPIC_API_KEY: "sk-canary-7f3a",
      ANTHROPIC_AUTH_TOKEN: "token-12345",
      GITHUB_TOKEN: "ghs_12345678",
      CI_JOB_TOKEN: "job-12345678",
      NPM_TOKEN: "npm-12345678",
      AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI",
      DB_PASSWORD: "hunter2hunter2",
    };
    expect(secretsOf(env)).toEqual(Object.entries(env).map(([name, value]) => ({ name, value })));
  });

  test("are not what would only confuse: paths, plain words, short values, other variables", () => {
    const env = {
      GOOGLE_APPLICATION_CREDENTIALS: "/home/u/key.json",
      SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
      DB_PASSWORD: "postgres",
      A_TOKEN: "short",
      PATH: "/usr/bin:/bin",
      MAX_TOKENS: "100000000",
      EMPTY_KEY: undefined,
    };
    expect(secretsOf(env)).toEqual([]);
  });
});
