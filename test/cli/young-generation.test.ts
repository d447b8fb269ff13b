import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../../src/cli/young-generation.ts");

/** Bytes of the young generation after much was made in many turns, and kept for a while. */
function grownTo(before: string): number {
  const program = `${before}
const { getHeapSpaceStatistics } = await import("node:v8");
const kept = [];
for (let turn = 0; turn < 60; turn++) {
  await new Promise(setImmediate);
  kept.push(Array.from({ length: 15000 }, (_, index) => ({ index, text: "x" + index })));
  if (kept.length > 10) kept.shift();
}
console.log(getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size);`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
}

test("the young generation stays at a fraction of what V8 lets it grow to", () => {
  const limited = grownTo(`(await import(${JSON.stringify(source)})).limitYoungGeneration();`);
  expect(limited).toBeLessThan(grownTo("") / 1.5);
});
