/** The names that `--context` takes. */

import { describe, expect, test } from "vitest";
import { contextNames, namedStack, policyStack } from "../../../src/context/policies/stacks.ts";
import { stackOf } from "../../../src/lab/replay/stack.ts";

describe("a masking preset", () => {
  test.each([
    ["masking:short", "masking", 5],
    ["masking:medium", "masking", 10],
    ["hybrid:long", "hybrid", 18],
    ["economist:short", "economist", 5],
  ])("%s is %s with %i turns unmasked", (words, context, maskKeep) => {
    expect(namedStack(words)).toEqual({ context, engine: { maskKeep } });
  });

  test.each(["masking:tall", "masking:", "focus:short", "raw:long", "masking:short:long", "mask:short", ""])(
    "there is none named %s",
    (words) => {
      expect(namedStack(words)).toBeUndefined();
    },
  );

  test("a replay knows them too", () => {
    expect(stackOf("masking:long")).toMatchObject({ base: "masking", engine: { maskKeep: 18 } });
    expect(() => stackOf("masking:tall")).toThrow("tall must be one of");
  });
});

test("every plain name is a stack, and sets no number", () => {
  for (const name of contextNames) {
    expect(namedStack(name)).toEqual({ context: name, engine: {} });
    expect(policyStack(name)).toBeDefined();
  }
});
