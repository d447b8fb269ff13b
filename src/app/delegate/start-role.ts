/** A role that the person starts by its name: it runs to its end, and its report is what they say next. */

import { resultText, type UserBlock } from "../../core/blocks.ts";
import { enclosed } from "../../core/text/tags.ts";
import type { Run } from "../session.ts";

/** Budget of a report in tokens, as that of a call of the model. */
const reportTokens = 4000;

/** Returns the message with its report. Rejects when there is none to start. */
export async function startRole(
  { agent, delegation }: Run,
  role: string,
  argument: string,
  signal: AbortSignal,
): Promise<UserBlock[]> {
  const brief = argument.trim() || "Do what your role says.";
  const access = { kind: "delegate" as const, writes: delegation?.mayWrite(role) ?? false };
  const started = agent.log.events().length;
  await agent.beforeWrite?.(access);
  const output = await delegation?.runForPerson(
    { role, brief, want: "what your role asks for" },
    {
      ...{ toolUseId: `person_${crypto.randomUUID()}`, signal, events: agent.log.events(), access },
      ...{ budgetTokens: reportTokens, artifacts: agent.artifacts, onProgress: () => {} },
    },
  );
  const text = resultText(output?.content ?? "there are no sub-agents here");
  if (!output || (output.isError && agent.log.events().length === started)) throw new Error(text);
  const words = `The person started the role ${role}: ${brief}\n\n${text}`;
  return [{ type: "text", text: enclosed("sub-agent", agent.redact(words)) }];
}
