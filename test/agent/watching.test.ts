import { describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { verdict } from "../../src/cli/headless/result.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { fakeTool, type TestAgent, testAgent } from "../support/agents.ts";
import { testCard, user } from "../support/logs.ts";
import { withOwnTools } from "../support/own-tools.ts";

const never = new AbortController().signal;
const bash = (command: string) => ({ bash: { command } });
const about = (events: readonly LogEvent[]) =>
  allOf(events, "reminder").flatMap((event) => event.about ?? []);
const says = (request: ModelRequest | undefined) => JSON.stringify(request?.messages);

describe.each(["free", "prefix_bound"] as const)(
  "a model that goes in circles, on a %s history,",
  (history) => {
    const endless = (
      calls: (step: number) => ScriptedReply["calls"],
      output: (command: string, call: number) => string,
    ) => {
      let count = 0;
      const run = (input: Record<string, unknown>) => {
        const content = output(String(input.command), ++count);
        return { content, isError: content.startsWith("no match") };
      };
      const tools = [fakeTool("bash", run), fakeTool("str_replace_editor", run)];
      return testAgent({
        turns: (_, step) =>
          step < 30 ? { text: `try ${step}`, calls: calls(step) ?? [] } : { text: "done" },
        tools,
        context: "raw",
        card: [history],
      });
    };
    const edit = {
      str_replace_editor: { command: "str_replace", path: "/w/a.ts", old_str: "a", new_str: "b" },
    };

    test("by the same call is told after the third, and stopped after the fifth", async () => {
      const { agent, log, requests } = endless(
        () => [bash("npm test")],
        () => "1 failed",
      );
      expect(await runTurn(agent, never)).toBe("loop");
      expect(allOf(log.events(), "tool_result")).toHaveLength(5);
      expect(requests.map((request) => says(request).includes("bash: npm test"))).toEqual([
        false,
        false,
        false,
        true,
        // Said for one request, or left in place where it may not be taken back.
        history === "prefix_bound",
      ]);
      expect(lastOf(log.events(), "turn_ended")?.detail).toContain("bash: npm test");
      expect(verdict(log.events())).toEqual({ subtype: "error_during_execution", exitCode: 3 });
    });

    test("by two calls in turn is stopped by the tenth step", async () => {
      const { agent, log } = endless(
        (step) => [bash(step % 2 ? "B" : "A")],
        (command) => `output of ${command}`,
      );
      expect(await runTurn(agent, never)).toBe("loop");
      expect(allOf(log.events(), "tool_result")).toHaveLength(10);
      expect(about(log.events())).toEqual(["loop"]);
    });

    test("by the same failing edit is stopped, whatever it looks at in between", async () => {
      const { agent, log } = endless(
        (step) => [step % 2 ? bash(`sed -n ${step}p a.ts`) : edit],
        (command) => (command === "str_replace" ? "no match" : command),
      );
      expect(await runTurn(agent, never)).toBe("loop");
      expect(allOf(log.events(), "tool_result").filter((event) => event.isError)).toHaveLength(5);
    });

    test("is not one that polls something that changes", async () => {
      const { agent, log } = endless(
        () => [bash("curl status")],
        (_, call) => `${call} %`,
      );
      expect(await runTurn(agent, never)).toBe("completed");
      expect(allOf(log.events(), "reminder")).toEqual([]);
    });

    test("can be put on its way by the person, and by a new turn", async () => {
      const { agent, log } = endless(
        () => [bash("npm test")],
        () => "1 failed",
      );
      let asked = 0;
      agent.takeSteering = () =>
        ++asked === 4 ? [{ content: [{ type: "text", text: "go on like this" }] }] : [];
      expect(await runTurn(agent, never)).toBe("loop");
      expect(allOf(log.events(), "tool_result")).toHaveLength(3 + 5);
      log.append(user("continue"));
      expect(await runTurn(agent, never)).toBe("loop");
      expect(allOf(log.events(), "tool_result")).toHaveLength(3 + 5 + 5);
    });
  },
);

describe("a reply that repeats itself", () => {
  const stuck: ScriptedReply = { thinking: "so ".repeat(5_000), calls: [bash("a")] };

  test.each(["free", "prefix_bound"] as const)("is thrown away, and the model told (%s)", async (history) => {
    let heard = 0;
    const turns: ScriptedReply[] = [{ calls: [bash("a")] }, stuck, stuck, { text: "done" }];
    const { agent, log, requests } = testAgent({ turns, card: [history] });
    agent.onPart = (part) => {
      if (part.type === "thinking_delta") heard += part.text.length;
    };
    expect(await runTurn(agent, never)).toBe("completed");
    expect(heard).toBeLessThan(2 * 2.5 * 3_000);
    expect(says(requests.at(-1))).not.toContain("so so so");
    expect(says(requests[2])).toContain('\\"so\\"');
    expect(about(log.events())).toEqual(["repetition", "repetition"]);
    requests.forEach((request, index) => {
      expect(brokenRules(request)).toEqual([]);
      expect(requestOfStep(log.events(), index + 1)?.request).toEqual(request);
    });
  });

  test("shares one system message with what else was said to that step", async () => {
    const { agent, requests } = testAgent({ turns: [stuck, { text: "done" }], card: ["prefix_bound"] });
    await runTurn({ ...agent, limits: { maxTurns: 1 } }, never);
    expect(requests.map(({ messages }) => messages.map((message) => message.role))).toEqual([
      ["user", "system"],
      ["user", "system"],
    ]);
    expect(requests[1]?.messages[1]?.content).toHaveLength(2);
  });

  test("ends the turn the third time", async () => {
    const { agent, log } = testAgent({ turns: () => ({ text: "all work and no play\n".repeat(1_000) }) });
    expect(await runTurn(agent, never)).toBe("loop");
    expect(allOf(log.events(), "model_request")).toHaveLength(3);
    expect(allOf(log.events(), "assistant_message")).toEqual([]);
    expect(lastOf(log.events(), "turn_ended")?.detail).toContain("all work and no play");
    log.append(user("try again"));
    expect(await runTurn(agent, never)).toBe("loop");
    expect(allOf(log.events(), "model_request")).toHaveLength(6);
  });

  test("is no reason to end an interrupted turn otherwise than as interrupted", async () => {
    const controller = new AbortController();
    const { agent } = testAgent({ turns: [stuck] });
    agent.onPart = () => controller.abort("user");
    expect(await runTurn(agent, controller.signal)).toBe("interrupted");
  });
});

describe("limits", () => {
  test.each([
    ["free", "tail"],
    ["free", "logged"],
    ["prefix_bound", "turn_scoped"],
  ] as const)("that run out are told in time, whichever they are: %s, %s", async (history, reminders) => {
    const contract = { ...testCard(history).contract, reminders };
    const turns = Array.from({ length: 30 }, (_, index) => ({ calls: [bash(`look ${index}`)] }));
    const told = async (
      limits: (start: number) => TestAgent["agent"]["limits"],
      usage?: ScriptedReply["usage"],
    ) => {
      const { agent, log } = testAgent({
        turns: turns.map((turn) => ({ ...turn, ...(usage ? { usage } : {}) })),
        card: [history, { contract }],
      });
      await runTurn({ ...agent, limits: limits(log.events()[0]?.at ?? 0) }, never);
      const reminded = allOf(log.events(), "reminder").filter((event) => event.about?.includes("limits"));
      expect(new Set(reminded.map((event) => event.channel))).toEqual(new Set([reminders]));
      return reminded;
    };
    const byTurns = await told(() => ({ maxTurns: 20 }));
    expect(byTurns.map((event) => /2 of 20|last model call/.exec(event.text)?.[0])).toEqual([
      "2 of 20",
      "last model call",
    ]);
    const byMoney = await told(() => ({ maxBudgetUsd: 0.5 }), { output: 2_000 });
    expect(byMoney[0]?.text).toMatch(/\$0\.0[0-9]+ of \$0\.5 is left/);
    const byTime = await told((start) => ({ deadline: start + 100_000 }));
    expect(byTime[0]?.text).toMatch(/about \d seconds are left|about 10 seconds are left/);
  });
});

test("a fold that makes the model redo its work is answered with the originals, once", async () => {
  const note = { attempted: "grep", learned: "nothing much", outcome: "go on" };
  const turns: ScriptedReply[] = [
    { calls: [{ start_focus: { objective: "find it" } }] },
    { calls: [bash("grep -rn cause")] },
    { calls: [bash("cat long.log")] },
    { calls: [{ complete_focus: note }] },
    { calls: [bash("grep -rn cause")] },
    { calls: [bash("cat long.log")] },
    { calls: [bash("cat long.log | tail")] },
    { text: "done" },
  ];
  const made = withOwnTools({ turns, card: ["prefix_bound"] });
  expect(await runTurn(made.agent, never)).toBe("completed");
  const reminders = allOf(made.log.events(), "reminder");
  expect(reminders).toMatchObject([{ channel: "logged", about: ["unfold"] }]);
  expect(reminders[0]?.text).toContain("- bash: grep -rn cause: line");
  expect(says(made.requests[6])).toContain("- bash: cat long.log: line");
  for (const request of made.requests) expect(brokenRules(request)).toEqual([]);
});
