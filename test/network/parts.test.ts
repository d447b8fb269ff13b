/** The parts of the network that need no sandbox: names, greetings, the gate, the ledger, the way out. */

import { connect, createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createDial, realOutside } from "../../src/network/dial.ts";
import { createGate, type HostAnswer, type HostQuestion } from "../../src/network/gate.ts";
import { readClientHello } from "../../src/network/greeting.ts";
import { createLedger } from "../../src/network/ledger.ts";
import { answerDns, createNames } from "../../src/network/names.ts";
import { usualBudget } from "../../src/permissions/sandbox/budget.ts";
import { parseHostRule } from "../../src/permissions/sandbox/hosts.ts";

test("S36 names: of 70,000 names each has an address of its own while it is among the newest 65,000", () => {
  const names = createNames();
  let found = 0;
  for (let index = 0; index < 70_000; index++) {
    const labels = [`n${index}`, "many", "example"].flatMap((label) => [
      Buffer.from([label.length]),
      Buffer.from(label),
    ]);
    const head = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    const answer = answerDns(Buffer.concat([head, ...labels, Buffer.from([0, 0, 1, 0, 1])]), names);
    const address = [...(answer?.reply.subarray(-4) ?? [])].join(".");
    if (names.nameOf(address) === `n${index}.many.example`) found += 1;
  }
  expect(found).toBe(70_000);
  expect(names.nameOf(names.addressOf("n69999.many.example"))).toBe("n69999.many.example");
});

test("S36 names: no message of any length is answered wrongly or not at all", () => {
  const names = createNames();
  const whole = Buffer.from("000701000001000000000000026f6b076578616d706c650000010001", "hex");
  expect(answerDns(whole, names)?.name).toBe("ok.example");
  for (let length = 0; length < whole.length; length++) {
    const answer = answerDns(whole.subarray(0, length), names);
    expect(answer === undefined ? length < 12 : (answer.reply[3] ?? 0) % 16 === 1).toBe(true);
  }
  // An answer is not answered.
  expect(answerDns(Buffer.concat([Buffer.from([0, 7, 0x81]), whole.subarray(3)]), names)).toBeUndefined();
});

describe("S35 sni-and-host: a TLS greeting", () => {
  const extension = (type: number, data: Buffer) =>
    Buffer.concat([Buffer.from([type >> 8, type & 255, data.length >> 8, data.length & 255]), data]);
  const serverName = (name: string) => {
    const bytes = Buffer.from(name, "latin1");
    const length = bytes.length;
    return extension(0, Buffer.concat([Buffer.from([0, length + 3, 0, 0, length]), bytes]));
  };
  const hello = (extensions: Buffer[], recordSize = 65_535) => {
    const all = Buffer.concat(extensions);
    const body = Buffer.concat([
      ...[Buffer.from([3, 3]), Buffer.alloc(32), Buffer.from([0, 0, 2, 0x13, 1, 1, 0])],
      ...(extensions.length > 0 ? [Buffer.from([all.length >> 8, all.length & 255]), all] : []),
    ]);
    const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]);
    const records: Buffer[] = [];
    for (let at = 0; at < message.length; at += recordSize) {
      const part = message.subarray(at, at + recordSize);
      records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
    }
    return Buffer.concat(records);
  };

  test("names its host, however it is split into records, and waits for the rest of it", () => {
    for (const size of [1, 7, 40, 65_535]) {
      const bytes = hello([extension(43, Buffer.from([2, 3, 4])), serverName("OK.example")], size);
      expect(readClientHello(bytes)).toEqual({ type: "greeting", name: "ok.example" });
      for (let cut = 0; cut < bytes.length; cut++)
        expect(readClientHello(bytes.subarray(0, cut))).toEqual({ type: "more" });
    }
    expect(readClientHello(hello([]))).toEqual({ type: "greeting" });
  });

  test("with two names, with lengths that do not fit, or of another protocol is none", () => {
    const odd = [
      hello([serverName("ok.example"), serverName("evil.example")]),
      hello([extension(0, Buffer.from([0, 5, 0, 0, 9, 65, 66]))]),
      hello([extension(0, Buffer.from([0, 3, 1, 0, 0]))]),
      Buffer.from("GET / HTTP/1.1\r\n\r\n"),
      Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]),
      Buffer.from([22, 3, 1, 0, 0, 1]),
      Buffer.from([22, 3, 1, 255, 255, 1]),
    ];
    for (const bytes of odd) expect(readClientHello(bytes)).toEqual({ type: "other" });
    const endless = Buffer.concat(
      Array.from({ length: 40 }, () =>
        Buffer.concat([Buffer.from([22, 3, 1, 4, 0, 1, 255]), Buffer.alloc(1022)]),
      ),
    );
    expect(readClientHello(endless)).toEqual({ type: "other" });
  });
});

describe("S39 live-question", () => {
  const wanted = { host: "new.example", port: 443, command: "c1" };
  const gateWith = (answer: (question: HostQuestion) => HostAnswer | undefined, askMs = 20_000) => {
    const questions: HostQuestion[] = [];
    const rules = parseHostRule("send.example full");
    const state = { exposed: false };
    const gate = createGate({
      rules: () => rules,
      exposed: () => state.exposed,
      askMs,
      ask(question, signal, onShown) {
        questions.push(question);
        onShown();
        const given = answer(question);
        return given
          ? Promise.resolve(given)
          : new Promise((_, reject) =>
              signal.addEventListener("abort", () => reject(new Error("withdrawn"))),
            );
      },
    });
    return { gate, questions, rules, state };
  };

  test("five connections at once are one question, and once counts for the command that was asked about", async () => {
    const { gate, questions } = gateWith(() => ({ decision: "once" }));
    const five = await Promise.all(Array.from({ length: 5 }, () => gate.admit(wanted)));
    expect(five).toEqual(
      Array.from({ length: 5 }, () => ({ allowed: true, rule: "asked: once", full: false })),
    );
    expect(questions).toMatchObject([{ kind: "unknown", pattern: "new.example" }]);
    expect((await gate.admit(wanted)).allowed).toBe(true);
    expect(questions).toHaveLength(1);
    await gate.admit({ ...wanted, command: "c2" });
    expect(questions).toHaveLength(2);
  });

  test("an answer that is kept becomes a rule, which then decides; no is remembered for the command", async () => {
    const kept = gateWith(() => {
      kept.rules.push(...parseHostRule("new.example"));
      return { decision: "kept" };
    });
    expect(await kept.gate.admit(wanted)).toEqual({ allowed: true, rule: "host(new.example)", full: false });
    await kept.gate.admit({ ...wanted, command: "c2" });
    expect(kept.questions).toHaveLength(1);
    const no = gateWith(() => ({ decision: "no" }));
    expect(await no.gate.admit(wanted)).toEqual({ allowed: false, reason: "unknown" });
    expect(await no.gate.admit(wanted)).toEqual({ allowed: false, reason: "unknown" });
    expect(no.questions).toHaveLength(1);
  });

  /** A gate whose questions stay open, with a clock that is moved by hand. */
  const unanswered = () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const asked: { host: string; signal: AbortSignal; show: () => void }[] = [];
    const gate = createGate({
      ...{ rules: () => [], exposed: () => false },
      ask(question, signal, onShown) {
        asked.push({ host: question.host, signal, show: onShown });
        return new Promise(() => {});
      },
    });
    return { gate, asked };
  };

  test("a question closes with the last connection that waits for it, and is asked again by the next one", async () => {
    const { gate, asked } = unanswered();
    const gone = [false, false];
    const waiting = gone.map((_, index) => gate.admit(wanted, () => gone[index] === true));
    asked[0]?.show();
    gone[0] = true;
    await vi.advanceTimersByTimeAsync(8_000);
    expect(asked[0]?.signal.aborted).toBe(false);
    expect(gate.isAsking("new.example")).toBe(true);
    gone[1] = true;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked[0]?.signal.aborted).toBe(true);
    const withdrawn = { allowed: false, reason: "withdrawn" };
    expect(await Promise.all(waiting)).toEqual([withdrawn, withdrawn]);
    expect(gate.isAsking("new.example")).toBe(false);
    void gate.admit(wanted);
    expect(asked).toHaveLength(2);
  });

  test("the 20 s begin when the question is shown; before that its connections wait", async () => {
    const { gate, asked } = unanswered();
    const ends: string[] = [];
    for (const host of ["first.example", "second.example"])
      void gate
        .admit({ ...wanted, host })
        .then((end) => ends.push(`${host} ${"reason" in end ? end.reason : "allowed"}`));
    asked[0]?.show();
    await vi.advanceTimersByTimeAsync(19_900);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(ends).toEqual(["first.example unanswered"]);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(ends).toHaveLength(1);
    asked[1]?.show();
    await vi.advanceTimersByTimeAsync(20_100);
    expect(ends[1]).toBe("second.example unanswered");
    // It was seen, so it is not asked again for the same command.
    expect(await gate.admit({ ...wanted, host: "first.example" })).toMatchObject({ reason: "unanswered" });
    expect(asked).toHaveLength(2);
  });

  test("a rule that is added meanwhile answers a question that waits, and a yes to nobody opens nothing", async () => {
    const { gate, rules, questions } = gateWith(() => undefined);
    const waiting = gate.admit(wanted);
    rules.push(...parseHostRule("*.example"));
    gate.look();
    expect(await waiting).toMatchObject({ allowed: true, rule: "host(*.example)" });
    expect(questions).toHaveLength(1);
    const late = gateWith(() => ({ decision: "once" }));
    expect(await late.gate.admit(wanted, () => true)).toEqual({ allowed: false, reason: "withdrawn" });
  });

  test("no answer in time, a closed gate, and nobody to ask are a no", async () => {
    expect(await gateWith(() => undefined, 10).gate.admit(wanted)).toEqual({
      allowed: false,
      reason: "unanswered",
    });
    const open = gateWith(() => undefined);
    const waiting = open.gate.admit(wanted);
    open.gate.close();
    expect(await waiting).toEqual({ allowed: false, reason: "withdrawn" });
    const headless = createGate({ rules: () => [], exposed: () => false });
    expect(await headless.admit(wanted)).toEqual({ allowed: false, reason: "unknown" });
  });

  test("S41 two-of-three: a host that may be sent to is asked about once per command when both were seen", async () => {
    const send = { ...wanted, host: "send.example" };
    const { gate, questions, state } = gateWith(() => ({ decision: "once" }));
    expect(await gate.admit(send)).toEqual({ allowed: true, rule: "host(send.example full)", full: true });
    state.exposed = true;
    await gate.admit(send);
    await gate.admit(send);
    expect(questions).toMatchObject([{ kind: "send", host: "send.example" }]);
    await gate.admit({ ...send, command: "c2" });
    expect(questions).toHaveLength(2);
    const no = gateWith(() => ({ decision: "no" }));
    no.state.exposed = true;
    expect(await no.gate.admit(send)).toEqual({
      allowed: false,
      reason: "exposure",
      rule: "host(send.example full)",
    });
  });
});

describe("S40 budget: the ledger", () => {
  const line = {
    host: "ok.example",
    port: 443,
    decision: "allow",
    rule: "host(ok.example)",
    command: "c1",
  } as const;

  test("lets 64 kB and a twentieth of what came in go out, for each host and turn, over all connections", () => {
    let time = 0;
    const ledger = createLedger(usualBudget, () => time);
    const [first, second] = [ledger.open(line, true), ledger.open(line, true)];
    expect([first.up(40_000), second.up(24_000), first.up(1)]).toEqual([true, true, false]);
    second.down(10_000_000);
    expect([first.up(400_000), second.up(100_000), second.up(1)]).toEqual([true, true, false]);
    time = 30;
    second.end("budget");
    first.end();
    expect(second.isCut()).toBe(true);
    const allowed = { ...line, bytesUp: 440_000, bytesDown: 0, connections: 1, ms: 30 };
    const cut = {
      ...line,
      decision: "cut",
      reason: "budget",
      bytesUp: 124_000,
      bytesDown: 10_000_000,
      connections: 1,
      ms: 30,
    };
    expect(ledger.take()).toEqual([allowed, cut]);
    expect(ledger.take()).toEqual([]);
    ledger.newTurn();
    const third = ledger.open(line, true);
    expect([third.up(64_000), third.up(1)]).toEqual([true, false]);
    expect(ledger.open({ ...line, rule: "host(ok.example full)" }, false).up(1e9)).toBe(true);
  });

  test("says what an open connection moved so far, and later only the rest", () => {
    const ledger = createLedger(usualBudget, () => 0);
    const meter = ledger.open(line, false);
    meter.up(10);
    expect(ledger.take()).toMatchObject([{ bytesUp: 10, connections: 1 }]);
    expect(ledger.take()).toEqual([]);
    meter.up(5);
    meter.down(7);
    meter.end();
    expect(ledger.take()).toMatchObject([{ bytesUp: 5, bytesDown: 7, connections: 0 }]);
  });
});

describe("the way out", () => {
  test("the proxy of Sawtooth's own environment is used, with its password and its exemptions", async () => {
    const { proxyFor } = realOutside({
      https_proxy: "http://user:p%40ss@proxy.example:3128",
      HTTP_PROXY: "plain.example:8080",
      no_proxy: "corp.example, .inner.example,10.0.0.1:443",
    });
    const authorization = `Basic ${Buffer.from("user:p@ss").toString("base64")}`;
    expect(proxyFor("ok.example", 443)).toEqual({ host: "proxy.example", port: 3128, authorization });
    expect(proxyFor("ok.example", 80)).toEqual({ host: "plain.example", port: 8080 });
    expect(["corp.example", "a.corp.example", "x.inner.example"].map((host) => proxyFor(host, 443))).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(proxyFor("notcorp.example", 443)).toBeDefined();
    expect(realOutside({}).proxyFor("ok.example", 443)).toBeUndefined();
  });

  test("a proxy is asked for the name, and what it says after its answer belongs to the host", async () => {
    let asked = "";
    const proxy = createServer((socket) => {
      socket.once("data", (bytes) => {
        asked = bytes.toString("latin1");
        socket.write(/evil/.test(asked) ? "HTTP/1.1 403 No\r\n\r\n" : "HTTP/1.1 200 OK\r\n\r\nhello");
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as { port: number };
    const dial = createDial({
      ...realOutside({}),
      resolve: () => Promise.reject(new Error("names are looked up by the proxy")),
      proxyFor: () => ({ host: "127.0.0.1", port, authorization: "Basic x" }),
    });
    const dialled = await dial("ok.example", 22, () => false);
    const { socket } = dialled as { socket: Socket };
    socket.resume();
    expect(await new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))))).toBe(
      "hello",
    );
    expect(asked).toBe(
      "CONNECT ok.example:22 HTTP/1.1\r\nHost: ok.example:22\r\nProxy-Authorization: Basic x\r\n\r\n",
    );
    expect(await dial("evil.example", 443, () => false)).toMatchObject({ reason: "unreachable" });
    socket.destroy();
    proxy.close();
  });

  test("S34 rebinding: addresses of this machine are refused, and the next public one is taken", async () => {
    const dialled: string[] = [];
    const dial = createDial({
      resolve: (name) =>
        Promise.resolve(name === "own.example" ? ["192.0.2.7"] : ["10.0.0.1", "203.0.113.1", "203.0.113.2"]),
      connect(address) {
        dialled.push(address);
        return connect({ host: "127.0.0.1", port: 1 });
      },
      ownAddresses: () => ["192.0.2.7"],
      proxyFor: () => undefined,
    });
    expect(await dial("own.example", 443, () => false)).toMatchObject({ reason: "inner_address" });
    expect(await dial("ok.example", 443, () => false)).toMatchObject({ reason: "unreachable" });
    expect(dialled).toEqual(["203.0.113.1", "203.0.113.2"]);
  });
});
