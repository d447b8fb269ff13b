/** Damaged and large logs, opened again. */

import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SessionError } from "../../src/session/errors.ts";
import { openSession, readSession } from "../../src/session/store.ts";
import { growthOver4 } from "../support/growth.ts";
import { fileOf, hello, makeStoreFixture, type StoreFixture, texts } from "./store-fixture.ts";

let fixture: StoreFixture;

beforeEach(() => {
  fixture = makeStoreFixture();
});

afterEach(() => fixture.clean());

describe("a damaged log", () => {
  test("with a cut last line loses only that line, and the next event is whole", async () => {
    const session = await fixture.create();
    session.log.append(hello);
    session.log.append({ type: "warning", text: "cut me" });
    session.close();
    truncateSync(fileOf(session), statSync(fileOf(session)).size - 10);
    const again = await fixture.open();
    expect(texts(again)).toEqual(["session_started", "user_message"]);
    expect(fixture.warnings).toEqual([expect.stringMatching(/\d+ bytes .* dropped/)]);
    again.log.append({ type: "warning", text: "after" });
    again.close();
    fixture.warnings.length = 0;
    expect(texts(await fixture.open())).toEqual(["session_started", "user_message", "after"]);
    expect(fixture.warnings).toEqual([]);
  });

  test("cut at any byte opens with every whole event before the cut", async () => {
    const session = await fixture.create();
    session.log.append(hello);
    session.log.append({ type: "warning", text: "ünïcödé 🟢" });
    session.close();
    const whole = readFileSync(fileOf(session));
    const firstLine = whole.indexOf(10);
    for (let size = firstLine; size <= whole.length; size++) {
      writeFileSync(fileOf(session), whole.subarray(0, size));
      const kept =
        whole
          .subarray(0, size + 1)
          .toString("latin1")
          .split("\n").length - 1;
      const again = await openSession({ root: fixture.root, newest: true, ...fixture.outside });
      expect(again.log.events()).toHaveLength(Math.max(1, kept));
      again.log.append({ type: "warning", text: "next" });
      again.close();
      fixture.warnings.length = 0;
      expect(readSession({ root: fixture.root, newest: true, ...fixture.outside }).events).toHaveLength(
        Math.max(1, kept) + 1,
      );
      expect(fixture.warnings).toEqual([]);
    }
  });

  test("with garbage in the middle keeps the other events under their own numbers", async () => {
    const session = await fixture.create();
    for (const text of ["one", "two", "three"]) session.log.append({ type: "warning", text });
    session.close();
    const [first, one, , three] = readFileSync(fileOf(session), "utf8").split("\n");
    const garbage = "\u0000\u0000 not json {{{";
    writeFileSync(
      fileOf(session),
      [first, one, garbage, '{"seq":3,"at":1,"type":"user_message"}', three, ""].join("\n"),
    );
    const again = await fixture.open();
    expect(again.log.events().map((event) => event.seq)).toEqual([0, 1, 3]);
    expect(fixture.warnings).toEqual([expect.stringContaining(`${garbage.length + 38} bytes`)]);
    expect(again.log.append(hello).seq).toBe(4);
  });

  test("whose beginning is gone is refused with a sentence", async () => {
    const session = await fixture.create();
    session.close();
    writeFileSync(fileOf(session), "garbage\n");
    await expect(fixture.open({ id: session.id })).rejects.toThrow(SessionError);
    await expect(fixture.open({ id: session.id })).rejects.toThrow(/beginning .* is damaged/);
  });

  test("events of a newer version stay in the file and are ignored with one warning", async () => {
    const session = await fixture.create();
    session.close();
    appendFileSync(fileOf(session), '{"seq":1,"at":1,"type":"dreamt"}\n{"seq":2,"at":1,"type":"dreamt"}\n');
    const again = await fixture.open();
    expect(texts(again)).toEqual(["session_started"]);
    expect(fixture.warnings).toEqual([expect.stringContaining("dreamt")]);
    expect(again.log.append(hello).seq).toBe(3);
    expect(readFileSync(fileOf(again), "utf8")).toContain('"seq":2,"at":1,"type":"dreamt"');
  });

  test("by hand, with a call that has no result, opens", async () => {
    const session = await fixture.create();
    session.close();
    const call = { type: "tool_use", id: "toolu_1", name: "bash", input: {} };
    const event = {
      seq: 1,
      at: 2,
      type: "assistant_message",
      content: [call],
      stopReason: "tool_use",
      usage: {},
    };
    appendFileSync(fileOf(session), `${JSON.stringify(event)}\n`);
    expect(texts(await fixture.open())).toEqual(["session_started", "assistant_message"]);
    expect(fixture.warnings).toEqual([]);
  });
});

test("reading a session costs in proportion to its size, up to 40 MB", async () => {
  const line = (seq: number): string =>
    `${JSON.stringify({ seq, at: seq, type: "tool_result", toolUseId: `t${seq}`, toolName: "bash", content: "väl ".repeat(2000), isError: false })}\n`;
  const written = async (lines: number) => {
    const session = await fixture.create();
    session.close();
    const text = Array.from({ length: lines }, (_, index) => line(index + 1)).join("");
    appendFileSync(fileOf(session), text);
    return { file: fileOf(session), id: session.id };
  };
  const sizes = new Map([
    [1_050, await written(1_050)],
    [4_200, await written(4_200)],
  ]);
  expect(statSync(sizes.get(4_200)?.file ?? "").size).toBeGreaterThan(40e6);
  const read = (lines: number) =>
    readSession({ root: fixture.root, id: sizes.get(lines)?.id ?? "", ...fixture.outside }).events.length;
  expect(read(4_200)).toBe(4_201);
  expect(growthOver4(read, 1_050, 9)).toBeLessThan(9);
});
