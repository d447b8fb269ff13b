/** T29: a model that goes in circles is told, and then stopped; through the whole program and the strict server. */

import { describe, expect, test } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";

const most = 30;

describe.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])("on %s", (model) => {
  async function run(turns: Turns<WireBody>): Promise<{
    server: MockServer;
    code: number | null;
    result: Record<string, unknown>;
  }> {
    const { server, workspace } = await serve((body, step) =>
      step >= most ? { text: "done" } : typeof turns === "function" ? turns(body, step) : (turns[step] ?? {}),
    );
    const words = ["-p", "go", "--output-format", "json", "--permission-mode", "auto"];
    const ended = await sawtooth(workspace, [...words, "--model", `anthropic/${model}`]);
    expect(server.exchanges.filter(({ status }) => status !== 200)).toEqual([]);
    return { server, code: ended.code, result: jsonLines(ended.stdout).at(-1) ?? {} };
  }
  const told = ({ messages }: WireBody, what: string) => {
    const reply = messages.findLastIndex(({ role }) => role === "assistant");
    return JSON.stringify(messages.slice(reply + 1)).includes(`bash: ${what}`);
  };

  test("the same call with the same result is told after the third, and stops the run after the fifth", async () => {
    const { server, code, result } = await run(() => ({ thinking: "again", calls: [bash("echo same")] }));
    expect(code).toBe(3);
    expect(result).toMatchObject({ is_error: true, terminal_reason: "loop" });
    expect(server.requests).toHaveLength(5);
    expect(server.requests.map((body) => told(body, "echo same"))).toEqual([
      false,
      false,
      false,
      true,
      false,
    ]);
  });

  test("two calls in turn are caught by the tenth", async () => {
    const { server, code } = await run((_, step) => ({ calls: [bash(step % 2 ? "echo b" : "echo a")] }));
    expect(code).toBe(3);
    expect(server.requests.length).toBeLessThanOrEqual(10);
    expect(server.requests.some((body) => told(body, "echo a"))).toBe(true);
  });

  test("a poll whose output changes is let be", async () => {
    const { server, code } = await run(() => ({ calls: [bash("date +%s%N")] }));
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(most + 1);
  });

  test("thoughts that repeat without end are cut, and nothing of them is sent again", async () => {
    const { server, code } = await run((body, step) =>
      step === 0
        ? { thinking: "so what now ".repeat(5000), text: "never" }
        : { text: `done ${body.messages.length}` },
    );
    expect(code).toBe(0);
    expect(JSON.stringify(server.requests.at(-1))).not.toContain(
      "so what now so what now so what now so what now",
    );
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.messages.at(-1))).toContain("without end and was thrown away");
  });
});
