import { describe, expect, test } from "vitest";
import { elongation } from "../../../src/context/report/elongation.ts";
import type { EventBody, EventOf } from "../../../src/core/events.ts";
import { allOf } from "../../../src/core/questions.ts";
import { call, reply, result, started, user } from "../../support/logs.ts";
import { logOf, masked } from "../../support/report-log.ts";

describe("elongation", () => {
  const step = (id: string, command: string) => [reply(call(id, "bash", { command })), result(id)];
  const view = (id: string, path: string, stats: object = {}) => [
    reply(call(id, "str_replace_editor", { command: "view", path })),
    { ...result(id, "text", "str_replace_editor"), stats: { read: [path], ...stats } } as EventBody,
  ];
  const around = (before: EventBody[], after: EventBody[]) => {
    const events = logOf(started(), user("go"), ...before, masked(3), ...after);
    return elongation(events, allOf(events, "context_edited")[0] as EventOf<"context_edited">);
  };

  test("counts files read again and commands run again, on both sides of the edit", () => {
    const found = around(
      [...view("a", "/w/x"), ...step("b", "npm test"), ...step("c", "npm test")],
      [...view("d", "/w/x"), ...step("e", "npm test"), ...step("f", "ls")],
    );
    expect(found).toEqual({
      before: { steps: 3, rereads: 0, repeats: 1 },
      after: { steps: 3, rereads: 1, repeats: 1 },
      excess: 1,
    });
  });

  test("reading a file that was written since its last read is no repetition", () => {
    const found = around(
      [...view("a", "/w/x"), ...view("b", "/w/y", { wrote: ["/w/x"] })],
      view("c", "/w/x"),
    );
    expect(found.after.rereads).toBe(0);
  });

  test("files that commands read and write count as those of the editor do", () => {
    const purpose = (kind: string, read: string[], wrote: string[]) => ({ purpose: { kind, read, wrote } });
    const ran = (id: string, command: string, stats: object) => [
      reply(call(id, "bash", { command })),
      { ...result(id), stats } as EventBody,
    ];
    const edit = ran("b", "sed -i s/a/b/ x", purpose("edit", [], ["/w/x"]));
    const cat = ran("c", "cat x", purpose("read", ["/w/x"], []));
    expect(around(view("a", "/w/x"), cat).after.rereads).toBe(1);
    expect(around([...view("a", "/w/x"), ...edit], cat).after.rereads).toBe(0);
  });

  test("a call that was refused read nothing: reading after it is no repetition", () => {
    const [asked, read] = view("a", "/w/x");
    const refused = { ...read, isError: true, rejected: "denied" } as EventBody;
    const found = around([asked as EventBody, refused], view("b", "/w/x"));
    expect(found.after).toMatchObject({ rereads: 0, repeats: 0 });
  });

  test("looks 15 steps far, and at the pace of each side", () => {
    const many = Array.from({ length: 40 }, (_, index) => step(`n${index}`, "ls")).flat();
    expect(around(many.slice(0, 10), many)).toMatchObject({ after: { steps: 15, repeats: 15 }, excess: 3 });
    expect(around(many, many)).toMatchObject({ before: { repeats: 15 }, excess: 0 });
  });
});
