/** A long session whose edits are those that the policies plan, built without an agent: for growth and for oracles. */

import { policyInputOf } from "../../src/context/policies/policy-input.ts";
import { policyStack } from "../../src/context/policies/stacks.ts";
import { composeRequest } from "../../src/context/request/compose.ts";
import { viewReader } from "../../src/context/view/view.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import type { EventLog } from "../../src/core/ports.ts";
import {
  call,
  fixedClock,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  text,
  thinking,
  user,
} from "./logs.ts";
import { seededRandom } from "./random.ts";

/** `steps` model calls under the named stack; what the API "reports" follows the estimate, with some noise. */
export function plannedLog(steps: number, context = "economist", seed = 1): readonly LogEvent[] {
  const random = seededRandom(seed);
  const card = testCard(seed % 2 === 1 ? "free" : "prefix_bound");
  const clock = fixedClock();
  const start = { ...started(card), context, engine: { window: 24_000 } } as EventBody;
  const log = memoryLog([start, user("A long task. ".repeat(20))], clock);
  const policies = policyStack(context) ?? [];
  const reader = viewReader();
  let sent = 0;
  for (let step = 1; step <= steps; step++) {
    for (const policy of policies) {
      const view = reader.read(log.events());
      const { plan } = policy.plan(policyInputOf(log.events(), view, clock()));
      if (plan?.summarize) {
        const { from, to } = plan.summarize;
        const edits = [{ type: "collapse" as const, from, to, text: `What was done until step ${step}.` }];
        log.append({
          type: "context_edited",
          policy: plan.policy,
          reason: plan.reason,
          edits,
          economics: {},
        });
      } else if (plan) log.append({ type: "context_edited", ...plan });
    }
    const view = reader.read(log.events());
    const edited = log.events().at(-1)?.type === "context_edited";
    const { estimated, request } = composeRequest(log.events(), view);
    log.append({
      type: "model_request",
      bodyHash: "",
      tokensEstimated: estimated,
      cacheAfter: request.cacheAfter,
    });
    sent = answerTo(log, step, estimated, edited ? sent >> 1 : sent, random);
  }
  log.append({ type: "turn_ended", reason: "completed" });
  return log.events();
}

/** A reply with its results; returns the tokens that are in the cache now. */
function answerTo(
  log: EventLog,
  step: number,
  estimated: number,
  cached: number,
  random: () => number,
): number {
  const calls = Array.from({ length: random() < 0.2 ? 2 : 1 }, (_, index) => `c${step}-${index}`);
  const command = random() < 0.3 ? "npm test" : `sed -n ${step},${step + 60}p src/module_${step % 90}.ts`;
  const answer = reply(
    ...(random() < 0.7 ? [thinking(`Step ${step}: the rate comes before the rounding. `.repeat(3))] : []),
    ...(random() < 0.3 ? [text(`One cent less, ${step}.`)] : []),
    ...calls.map((id) => call(id, "bash", { command })),
  );
  const input = Math.round(estimated * (1 + 0.2 * random()));
  const read = Math.min(cached, input);
  const usage = {
    inputTokens: Math.min(40, input - read),
    cacheReadTokens: read,
    cacheWrite5mTokens: Math.max(0, input - read - 40),
    cacheWrite1hTokens: 0,
    outputTokens: 60,
  };
  log.append({ ...answer, usage } as EventBody);
  for (const id of calls)
    log.append(result(id, `line ${step} of the output: ${id}\n`.repeat(10 + Math.floor(random() * 60))));
  if (random() < 0.02) log.append(user(`And look at part ${step}, too.`));
  return input;
}
