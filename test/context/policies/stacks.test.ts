/** The names that `--context` takes. */

import { describe, expect, test } from "vitest";
import { contextNames, policyStack, readStack } from "../../../src/context/policies/stacks.ts";
import { stackOf } from "../../../src/lab/replay/stack.ts";

describe("a masking preset", () => {
  test.each([
    ["masking:short", "masking", 5],
    ["masking:medium", "masking", 10],
    ["hybrid:long", "hybrid", 18],
    ["economist:short", "economist", 5],
  ])("%s is %s with %i turns unmasked", (words, context, maskKeep) => {
    expect(readStack(words)).toEqual({ context, engine: { maskKeep } });
  });

  test.each([
    ["masking:tall", "after a policy stands one of :short, :medium, :long, or a setting such as :caution=8"],
    ["masking:", "after a policy stands one of"],
    ["focus:short", ":short has no effect on focus, which masks nothing"],
    ["raw:long", ":long has no effect on raw"],
    ["masking:short:long", "sets maskKeep twice"],
    ["mask:short", "must be one of economist, raw"],
    ["", "must be one of economist, raw"],
  ])("there is none named %s", (words, problem) => {
    expect(readStack(words)).toEqual({ problem: expect.stringContaining(problem) });
  });

  test("a replay knows them too", () => {
    expect(stackOf("masking:long")).toMatchObject({ base: "masking", engine: { maskKeep: 18 } });
    expect(() => stackOf("masking:tall")).toThrow("after a policy stands one of :short");
  });
});

test("every plain name is a stack, and sets no number", () => {
  for (const name of contextNames) {
    expect(readStack(name)).toEqual({ context: name, engine: {} });
    expect(policyStack(name)).toBeDefined();
  }
});

describe("a number of the engine after a name", () => {
  test("is set for the session", () => {
    const engine = { caution: 8, pressure: 0.5 };
    expect(readStack("economist:caution=8:pressure=.5")).toEqual({ context: "economist", engine });
    expect(readStack("turns:long:minFlush=0")).toMatchObject({ engine: { maskKeep: 18, minFlush: 0 } });
  });

  test.each([
    ["economist:caution=x", 'caution must be a number of at least 0, not "x"'],
    ["economist:caution=-1", 'caution must be a number of at least 0, not "-1"'],
    ["economist:caution", 'caution must be a number of at least 0, not ""'],
    ["economist:pressure=5", "pressure must be a share from 0 to 1, not 5"],
    ["economist:cautoin=5", "cautoin is not known: did you mean caution?"],
    ["economist:zzz=5", "zzz is not known: use maskKeep, maskBatch"],
  ])("%s says what the setting may be", (words, problem) => {
    expect(readStack(words)).toEqual({ problem: expect.stringContaining(problem) });
    expect(() => stackOf(words)).toThrow(problem);
  });
});
