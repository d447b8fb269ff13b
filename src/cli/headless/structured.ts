/** Answers as data: `--json-schema`. The answer is checked, and the model gets three turns to correct it. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Conversation } from "../../app/conversation.ts";
import { readPrompt } from "../../app/prompts.ts";
import type { UserBlock } from "../../core/blocks.ts";
import { UsageError } from "../../core/errors.ts";
import type { LogEvent, TurnEnd } from "../../core/events.ts";
import { lastText } from "../../core/questions.ts";
import type { Answer } from "./result.ts";

export type AnswerShape = {
  /** Runs one message to its end, and to a valid answer. `answer` is undefined when the turn was not completed. */
  run(
    conversation: Conversation,
    content: UserBlock[],
    signal: AbortSignal,
  ): Promise<{ reason: TurnEnd; answer: Answer | undefined }>;
};

const maxRepairs = 3;
/** Number of violations that are reported. */
const maxProblems = 10;

/**
 * Creates the validator. `source`: a schema as JSON, or the name of a file that holds one. `checkSchema` throws for one
 * that is not wanted. Throws `UsageError`.
 */
export function answerShape(
  source: string,
  cwd: string,
  checkSchema: (schema: object) => void = () => {},
): AnswerShape {
  const schema = parseSchema(source, cwd);
  const validate = compile(schema);
  checkSchema(schema);
  const words = sections(readPrompt("structured"));
  const task = words.ask.replace("{{schema}}", () => JSON.stringify(schema));
  return {
    async run({ run: { agent }, prompt }, content, signal) {
      let next: UserBlock[] = [...content, { type: "text", text: task }];
      for (let repairs = 0; ; repairs++) {
        const from = agent.log.events().length;
        const reason = await prompt(next, signal);
        if (reason !== "completed") return { reason, answer: undefined };
        const checked = check(answerSince(agent.log.events(), from), validate);
        if ("value" in checked) return { reason, answer: checked };
        const error = `the answer does not fit the schema: ${checked.problems.join("; ")}`;
        if (repairs === maxRepairs) return { reason, answer: { error } };
        agent.log.append({ type: "warning", text: error });
        const list = checked.problems.map((problem) => `- ${problem}`).join("\n");
        next = [{ type: "text", text: words.repair.replace("{{problems}}", () => list) }];
      }
    },
  };
}

function sections(text: string): { ask: string; repair: string } {
  const [ask = "", repair = ""] = text.split(/^---$/m);
  return { ask: ask.trim(), repair: repair.trim() };
}

function answerSince(events: readonly LogEvent[], from: number): string {
  return lastText(events.slice(from));
}

function parseSchema(source: string, cwd: string): object {
  const inline = source.trimStart().startsWith("{");
  const text = inline ? source : readSchema(source, cwd);
  const name = inline ? "the value" : source;
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  } catch (error) {
    throw new UsageError(`--json-schema: ${name} is not JSON: ${(error as Error).message.split("\n")[0]}`);
  }
  throw new UsageError(`--json-schema: ${name} is not a JSON object, as a schema must be`);
}

function readSchema(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new UsageError(`--json-schema ${file}: neither JSON nor a readable file (${code})`);
  }
}

/** Compiles as draft 2020-12 unless the schema names an older draft. Formats are not checked. */
function compile(schema: object): ValidateFunction {
  const options = { allErrors: true, strict: false, validateFormats: false, logger: false } as const;
  const { $schema = "" } = schema as { $schema?: unknown };
  const ajv = /draft-0[67]/.test(String($schema)) ? new Ajv(options) : new Ajv2020(options);
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new UsageError(`--json-schema: not a usable JSON Schema: ${(error as Error).message}`);
  }
}

function check(text: string, validate: ValidateFunction): { value: unknown } | { problems: string[] } {
  let problems = ["it holds no JSON value"];
  for (const candidate of candidates(text)) {
    const value = parsed(candidate);
    if (!value) continue;
    if (validate(value.value)) return value;
    problems = (validate.errors ?? []).slice(0, maxProblems).map(sentence);
  }
  return { problems };
}

/**
 * Returns the places where the value may stand: the whole text, a fenced block (the last one first), or from brace to
 * brace.
 */
function candidates(text: string): string[] {
  const fenced = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? "");
  const braces = /[[{][\s\S]*[\]}]/.exec(text)?.[0];
  return [text, ...fenced.reverse(), ...(braces ? [braces] : [])];
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function sentence({ instancePath, message = "does not fit", params }: ErrorObject): string {
  const more = params.additionalProperty ?? params.allowedValues;
  const detail = more === undefined ? "" : ` (${Array.isArray(more) ? more.join(", ") : more})`;
  return `${instancePath || "the value"} ${message}${detail}`;
}
