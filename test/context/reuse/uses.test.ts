/** Uses of observations: what later replies quote of them. */

import { expect, test } from "vitest";
import { reuseReader } from "../../../src/context/reuse/uses.ts";
import type { EventBody } from "../../../src/core/events.ts";
import {
  call,
  memoryLog,
  reply,
  result,
  started,
  text,
  thinking,
  user,
  withPurposes,
} from "../../support/logs.ts";

const first = "const answer = computeTheAnswer(42);";
const second = "export function somethingElse(): void {";

function usesOf(...bodies: EventBody[]) {
  const reader = reuseReader();
  for (const event of memoryLog(withPurposes([started(), user("go"), ...bodies])).events())
    reader.take(event);
  return reader.observations.map(({ kind, step, uses }) => ({ kind, step, uses }));
}

const read = (id: string, content: string): EventBody[] => [
  reply(call(id, "bash", { command: `cat ${id}.ts` })),
  result(id, content),
];

test("a quote in words, in a thought and in a call is a use at its age in replies", () => {
  const lines = [first, second, "the third line that may be quoted"];
  const later = [reply(text(`It says:\n  ${first}`)), reply(thinking(second)), reply(text("nothing"))];
  const edit = reply(
    call("e", "str_replace_editor", { command: "str_replace", path: "a.ts", old_str: lines[2] }),
  );
  expect(usesOf(...read("a", lines.join("\n")), ...later, edit)).toEqual([
    { kind: "read", step: 1, uses: [1, 2, 4] },
  ]);
});

test("line numbers and indentation do not matter, short lines and rules do not count", () => {
  const numbered = `     7\t  ${first}\nsrc/a.ts:12:${second}\n----------------------------\nreturn null;`;
  expect(
    usesOf(
      ...read("a", numbered),
      reply(text(first)),
      reply(text(`----------------------------\nreturn null;`)),
      reply(text(`9→${second}`)),
    ),
  ).toEqual([{ kind: "read", step: 1, uses: [1, 3] }]);
});

test("the newest holder is used, and nothing that the model or the person wrote since", () => {
  const twice = [...read("a", first), ...read("b", first), reply(text(first)), reply(text(first))];
  expect(usesOf(...twice).map(({ uses }) => uses)).toEqual([[], [1]]);
  expect(usesOf(...read("a", first), user(first), reply(text(first)))[0]?.uses).toEqual([]);
});

test("a call that never ran observes nothing", () => {
  const refused: EventBody = {
    ...(result("a", first) as EventBody & object),
    rejected: "denied",
  } as EventBody;
  expect(usesOf(reply(call("a")), refused, reply(text(first)))).toEqual([]);
});
