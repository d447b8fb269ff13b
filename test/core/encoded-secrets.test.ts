/** Known secrets in the forms that programs give them, and shapes of secrets that nobody told us of. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { redactor } from "../../src/core/secrets/redact.ts";
import { recordingsIn } from "../../src/lab/replay/jobs.ts";

const recordings = join(import.meta.dirname, "../../../shared/trajectories");
const secret = "s3cr3t/Canary+7f3a?~=tail";
const redact = redactor([{ name: "MY_KEY", value: secret }]);
const sh = (command: string): string =>
  // Bash whose input is a socket reads the `.bashrc` of whoever runs the tests.
  execFileSync("bash", ["--norc", "-c", command], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, S: secret, LC_ALL: "C.UTF-8" },
  });

describe("S58 encoded: what programs print of a known secret is taken out", () => {
  test.each([
    'printf %s "$S"',
    "env | grep ^S= | base64 -w0",
    'printf "a%s" "$S" | base64 -w0',
    'printf "ab%s and more" "$S" | base64 -w 11',
    'printf "abc%s" "$S" | base64 | tr +/ -_',
    'printf %s "$S" | od -An -v -tx1',
    'printf %s "$S" | od -An -v -tx1 | tr -d " \\n"',
    'printf %s "$S" | od -An -v -tx1 | tr -d "\\n" | tr "a-f " "A-F:"',
    'printf %s "$S" | rev',
    "printf %s \"$S\" | sed 's/./& /g'",
    'printf %s "$S" | fold -w 5',
    "printf %s \"$S\" | rev | sed 's/./&\\n/g'",
  ])("%s", (command) => {
    const printed = sh(command);
    expect(redact(printed)).toContain("[redacted:MY_KEY]");
    // Of what is left no six characters in a row are of the secret's own forms.
    expect(redact(printed).length).toBeLessThan(45);
  });

  test("escaped for a URL, and for JSON", () => {
    expect(redact(`?k=${encodeURIComponent(secret)}&x`)).toBe("?k=[redacted:MY_KEY]&x");
    const lines = redactor([{ name: "PEM", value: 'two\nlines "quoted"' }]);
    expect(lines(JSON.stringify({ k: 'two\nlines "quoted"' }))).toBe('{"k":"[redacted:PEM]"}');
  });

  test("and a number is found only as it stands", () => {
    const hide = redactor([{ name: "PIN", value: "12345678" }]);
    expect(hide("12345678, 1 2 3 4 5 6 7 8")).toBe("[redacted:PIN], 1 2 3 4 5 6 7 8");
  });
});

const jwt = `eyJ${"hbGciOiJI"}.eyJ${"zdWIiOiIx"}.${"dBjftJeZ4CVP-mB92K27"}`;

describe("S60 shapes", () => {
  test.each([
    [jwt, "[redacted:JWT]"],
    [`sk-${"a1B2".repeat(12)}`, "[redacted:API_KEY]"],
    [`hf_${"aBcD".repeat(9)}`, "[redacted:HUGGINGFACE_TOKEN]"],
    [`SG.${"aB3_".repeat(5)}.${"aB3-".repeat(10)}`, "[redacted:SENDGRID_API_KEY]"],
    [`pypi-AgEI${"cHlwaS5v".repeat(8)}`, "[redacted:PYPI_TOKEN]"],
    [`dop_v1_${"0a1b2c3d".repeat(8)}`, "[redacted:DIGITALOCEAN_TOKEN]"],
    [`xapp-1-A01-123-${"0a1b2c3d".repeat(4)}`, "[redacted:SLACK_APP_TOKEN]"],
    [
      "curl -H 'Authorization: Bearer abcdefghij0123456789'",
      "curl -H 'Authorization: Bearer [redacted:AUTHORIZATION]'",
    ],
    ["postgres://app:hunter2@db.example/app", "postgres://app:[redacted:PASSWORD_IN_URL]@db.example/app"],
    [
      `aws_secret_access_key = ${"wJalrXUtnF/K7MDENG+b".repeat(2)}`,
      "aws_secret_access_key = [redacted:AWS_SECRET_ACCESS_KEY]",
    ],
    [
      `https://hooks.slack.com/services/${"T00/B00/aB3d".repeat(3)}`,
      "https://hooks.slack.com/services/[redacted:SLACK_WEBHOOK]",
    ],
  ])("%s", (text, expected) => {
    expect(redactor([])(text)).toBe(expected);
  });

  test("and what only looks a little like them stays", () => {
    const text =
      "sk-learn-contrib sk-0123 hf_hub_download eyJ.eyJ. Authorization: Bearer <token> http://localhost:3000/@me git@host:a/b.git postgres://user:$PASS@host https://a.example:443/x@y";
    expect(redactor([])(text)).toBe(text);
  });

  test.skipIf(!existsSync(recordings))(
    "are found in recordings at most once each (skipped where ../shared/trajectories is not there)",
    () => {
      const counts = new Map<string, number>();
      for (const file of existsSync(recordings) ? recordingsIn([recordings]) : []) {
        const found = redactor([])(readFileSync(file, "utf8")).matchAll(/\[redacted:(\w+)\]/g);
        for (const [, name = ""] of found) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
    },
  );
});
