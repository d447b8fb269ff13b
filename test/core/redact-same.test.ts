/** Redaction finds what a plain search finds, secret by secret and shape by shape. */

import { expect, test } from "vitest";
import { secretFinder } from "../../src/core/secrets/encoded.ts";
import { redactor } from "../../src/core/secrets/redact.ts";
import { secretShapes } from "../../src/core/secrets/secrets.ts";
import { seededRandom } from "../support/random.ts";

const random = seededRandom(11);
const below = (count: number) => Math.floor(random() * count);
const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T;
const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const mark = (name: string) => `[${name}]`;

/** Letters of which no other encoding is made: only the values themselves and their reversals can be found. */
const word = (length: number) => many(length, () => pick(["a", "b"])).join("");
const spaced = (text: string) =>
  [...text].map((char) => (below(5) === 0 ? `${char}${" \n".repeat(below(3))}` : char)).join("");

test("a known value is found where an expression for it finds it, whatever is near it", () => {
  let found = 0;
  for (let round = 0; round < 1000; round++) {
    const secrets = many(1 + below(4), () => word(8 + below(30))).map((value, index) => ({
      name: `S${index}`,
      value,
    }));
    const forms = secrets
      .flatMap(({ name, value }) => [value, [...value].reverse().join("")].map((text) => ({ name, text })))
      .sort((a, b) => b.text.length - a.text.length);
    const anywhere = forms.map(({ text }) => `(${[...text].join("[\\0- ]*")})`).join("|");
    const piece = () => pick([pick(forms).text, pick(forms).text.slice(1), word(below(12)), " ".repeat(9)]);
    const text = many(12, () => (below(3) === 0 ? spaced(piece()) : piece())).join("");
    const plain = text.replace(new RegExp(anywhere, "g"), (...groups) =>
      mark(forms[groups.slice(1).findIndex((group) => group !== undefined)]?.name ?? ""),
    );
    expect(secretFinder(secrets, mark)(text)).toBe(plain);
    if (plain !== text) found++;
  }
  expect(found).toBeGreaterThan(700);
});

const key = "aB3xY9kLmN0pQrS7tUvW2zC4dE6fGh1JkL5nM8oP";
const samples = [
  `-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----`,
  "AKIAIOSFODNN7EXAMPLE",
  ...[
    "aws_secret_access_key = ",
    "AWS_SECRET_ACCESS_KEY=",
    'awsSecretAccessKey": "',
    "secretAccessKey: ",
  ].map((name) => `${name}${key}`),
  ...["ghp_", "gho_", "github_pat_", "glpat-", "sk-ant-", "sk-proj-", "sk-or-v1-", "sk-"].map(
    (head) => `${head}${key}`,
  ),
  ...["xoxb-", "https://hooks.slack.com/services/", "hf_", "rk_live_"].map((head) => `${head}${key}`),
  `xapp-1-A1-22-${"0a".repeat(12)}`,
  `AIza${key.slice(0, 35)}`,
  `npm_${key.slice(0, 36)}`,
  `pypi-AgEI${key}`,
  `SG.${key.slice(0, 20)}.${key}`,
  `dop_v1_${"0a".repeat(32)}`,
  `eyJ${key}.eyJ${key}.${key}`,
  `Authorization: Bearer ${key}`,
  "AUTHORIZATION: BASIC dXNlcjpwYXNzd29yZA==",
  "postgres://user:hunter22@host",
];

test("a shape is found where its expression finds it, whatever is near it", () => {
  const kept = (groups: unknown) => String((groups as { kept?: string } | undefined)?.kept ?? "");
  const plainly = (text: string) =>
    secretShapes.reduce(
      (rest, { name, shape }) =>
        rest.replace(shape, (...found) => {
          const groups = found.at(-1);
          return `${typeof groups === "object" ? kept(groups) : ""}[redacted:${name}]`;
        }),
      text,
    );
  const redact = redactor([]);
  for (const sample of samples) expect(redact(sample), sample).not.toBe(sample);
  for (let round = 0; round < 1000; round++) {
    const cut = (text: string) => text.slice(below(4) === 0 ? below(text.length) : 0);
    const text = many(8, () => cut(pick(samples)) + pick(["", " ", "_", "-", "\n", '"', "@", "/"])).join("");
    expect(redact(text)).toBe(plainly(text));
  }
});

test("every shape of a token has a run of letters by which it is looked for", () => {
  for (const { name, shape } of secretShapes.filter(({ token }) => token)) {
    const matched = samples.flatMap((sample) => [...sample.matchAll(shape)].map(([match]) => match));
    expect(matched.length, name).toBeGreaterThan(0);
    for (const match of matched)
      for (const before of ["", " ", ".", "=", "\n", "é"])
        expect(redactor([])(`${before}${match} `), name).not.toContain(match);
  }
});
