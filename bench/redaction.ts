/** Times redaction beside a plain search for each value and for the ten best known shapes, in CPU time. */

import { readFileSync } from "node:fs";
import { redactor } from "../src/core/secrets/redact.ts";
import { secretShapes } from "../src/core/secrets/secrets.ts";
import { figure, type Row } from "./figures.ts";

const rounds = 15;
const searched =
  /^(PRIVATE_KEY|AWS_ACCESS_KEY_ID|(GITHUB|GITLAB|SLACK|NPM)_TOKEN|(ANTHROPIC|OPENAI|GOOGLE)_API_KEY|STRIPE_KEY)$/;
const texts = {
  code: readFileSync(new URL("../src/agent/loop.ts", import.meta.url), "utf8"),
  JSON: readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"),
  URLs: Array.from(
    { length: 200 },
    (_, index) => `https://user@host${index}.example:8080/x?to=a@b.example`,
  ).join("\n"),
};

/** One row for each kind of text, size and number of secrets. */
export async function redaction(): Promise<Row[]> {
  return Object.entries(texts).flatMap(([kind, text]) =>
    [20_000, 11_000_000].flatMap((size) => [0, 1, 10].map((count) => rowOf(kind, filled(text, size), count))),
  );
}

function rowOf(kind: string, text: string, count: number): Row {
  const secrets = Array.from({ length: count }, (_, index) => ({
    name: `S${index}`,
    value: `tok_9${index}8a7b6c5d4e3f2a1b0c`,
  }));
  const shapes = secretShapes.filter(({ name }) => searched.test(name));
  const plainly = (whole: string): string => {
    const rest = secrets.reduce(
      (left, { name, value }) => left.replaceAll(value, name),
      whole.toWellFormed(),
    );
    return shapes.reduce((left, { name, shape }) => left.replace(shape, name), rest);
  };
  const redact = redactor(secrets);
  const each = Math.max(1, Math.round(2_000_000 / text.length));
  const [ours, plain]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    // Another text each time: expressions remember their last answer.
    const changed = Buffer.from(`${text}${round}`).toString();
    ours.push(timed(() => redact(changed)) / each);
    plain.push(timed(() => plainly(changed)) / each);
  }
  const [measured, baseline] = [figure(ours), figure(plain)];
  return {
    name: `redaction, ${text.length / 1000} kB of ${kind}, ${count} secrets`,
    unit: "ms",
    measured,
    baseline,
    against: "plain search",
    aim: { text: "≤ 1.1 ×", met: measured.median <= 1.1 * baseline.median },
  };

  function timed(work: () => void): number {
    const before = process.cpuUsage();
    for (let time = 0; time < each; time++) work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  }
}

function filled(text: string, size: number): string {
  return text.repeat(Math.ceil(size / text.length)).slice(0, size);
}
