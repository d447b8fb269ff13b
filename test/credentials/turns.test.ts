/** Changes of a sign-in, one process at a time, also among machines that share a home. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inTurn } from "../../src/credentials/turns.ts";
import { foreignClaim } from "../support/foreign-claim.ts";

test("a change waits until another machine and this process are done with theirs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-turns-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const other = foreignClaim(folder);
  const order: string[] = [];
  const change = (name: string) =>
    inTurn(folder, async () => {
      order.push(`${name} begins`);
      await new Promise(setImmediate);
      order.push(`${name} ends`);
    });
  const changes = [change("a"), change("b")];
  await new Promise(setImmediate);
  order.push("far ends");
  rmSync(join(folder, other.name));
  await Promise.all(changes);
  expect(order).toEqual(["far ends", "a begins", "a ends", "b begins", "b ends"]);
});
