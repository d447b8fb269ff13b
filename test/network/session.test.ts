/** The network of a session: connections in the log, notes in results, questions, two of three, settings. */

import { createServer as createHttp } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createSessionNetwork, type SessionNetwork } from "../../src/app/network/session-network.ts";
import type { EgressSettings } from "../../src/config/settings.ts";
import type { PermissionMode } from "../../src/core/decision.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import type { BackgroundJob, EventLog, Tool, ToolContext } from "../../src/core/ports.ts";
import type { Answer, Question } from "../../src/tui/ports/session.ts";
import { patienceMs, until } from "../support/until.ts";
import { type Counted, counting, noBubblewrap, startBubblewrap } from "./inside.ts";

const missing = noBubblewrap();

type World = {
  network: SessionNetwork;
  events: LogEvent[];
  questions: Question[];
  allow: string[];
  jobs: BackgroundJob[];
  egress: EgressSettings;
  answer: ((question: Question, signal: AbortSignal) => Answer | Promise<Answer>) | undefined;
  /** Adds a rule as an answer of the person does. */
  add(rule: string): void;
  /** Runs a command as a call of the model; returns its result. */
  call(command: string): Promise<string>;
  /** Default: accept-edits. */
  mode?: PermissionMode;
  append(body: EventBody): LogEvent;
  close(): void;
};

/** A world without its network, and its log in memory. */
function emptyWorld(egress: EgressSettings): { world: World; log: EventLog } {
  const world = { events: [], questions: [], allow: [], jobs: [], egress } as unknown as World;
  const listeners = new Set<(event: LogEvent) => void>();
  world.append = (body) => {
    const event = { seq: world.events.length, at: 0, ...body };
    world.events.push(event);
    for (const listener of listeners) listener(event);
    return event;
  };
  const subscribe = (listener: (event: LogEvent) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return { world, log: { append: world.append, events: () => world.events, subscribe } };
}

describe.skipIf(missing !== undefined)("the network of a session", () => {
  let web: Counted;
  const worlds: World[] = [];
  /** The hosts outside answer once this has happened. */
  let answered = Promise.resolve();

  beforeAll(async () => {
    const http = createHttp((message, response) => {
      message.resume();
      message.on("end", async () => {
        await answered;
        response.end(`${message.headers.host} ${message.url}\n`);
      });
    });
    web = await counting(http);
  });
  afterAll(() => {
    for (const world of worlds) world.close();
    web.close();
  });

  async function open(person: boolean, egress: EgressSettings = {}): Promise<World> {
    const { world, log } = emptyWorld(egress);
    const changed = new Set<() => void>();
    world.add = (rule) => {
      world.allow.push(rule);
      for (const listener of changed) listener();
    };
    world.network = createSessionNetwork({
      log,
      settings: { egress },
      ...{ env: {}, workspace: ["/w"], jobs: () => world.jobs, warn: () => {} },
      ...{ rules: () => ({ allow: world.allow, deny: [] }), mode: () => world.mode ?? "accept-edits" },
      standing: {
        add: (rule) => world.add(rule),
        subscribe(listener) {
          changed.add(listener);
          return () => void changed.delete(listener);
        },
        locations: { session: "here", project: "there", user: "everywhere" },
      },
      ...(person
        ? {
            person: {
              async ask(question, signal) {
                world.questions.push(question);
                return world.answer?.(question, signal) ?? { decision: "deny", say: "" };
              },
            },
          }
        : {}),
      outside: {
        resolve: () => Promise.resolve(["203.0.113.5"]),
        connect: () => connect({ host: "127.0.0.1", port: web.port, allowHalfOpen: true }),
        ownAddresses: () => [],
        proxyFor: () => undefined,
      },
    });
    const box = await startBubblewrap(world.network.files);
    await world.network.serve(box.pid, Promise.resolve());
    const bash = {
      name: "bash",
      run: async (input: { command: string }) => ({ content: await box.run(input.command) }),
    } as unknown as Tool;
    const watched = world.network.watched(bash);
    let calls = 0;
    world.call = async (command) => {
      const toolUseId = `t${++calls}`;
      const call = { type: "tool_use", id: toolUseId, name: "bash", input: { command } };
      world.append({ type: "assistant_message", content: [call], usage: {} } as unknown as EventBody);
      const { content } = await watched.run({ command }, { toolUseId } as ToolContext);
      world.append({ type: "tool_result", toolUseId, toolName: "bash", content, isError: false });
      return String(content);
    };
    world.close = () => {
      world.network.close();
      box.close();
    };
    worlds.push(world);
    return world;
  }

  const ledger = (world: World) => world.events.filter((event) => event.type === "egress");
  const refused = (world: World) => ledger(world).filter(({ decision }) => decision === "deny");

  test("S39 live-question: headless refuses with a note that names the rule, and the log has each connection", async () => {
    const world = await open(false);
    world.allow.push("host(ok.example)");
    const said = await world.call(
      "curl -sS http://ok.example/a; curl -sS http://new.example/b; curl -sS http://new.example:8080/c",
    );
    expect(said).toContain("ok.example /a");
    expect(said.split("\n").at(-1)).toBe(
      "[sandbox: new.example:80 is not on the list of hosts; nobody is here to be asked. It would be allowed by --allow 'host(new.example)'.]",
    );
    expect(ledger(world)).toMatchObject([
      { host: "ok.example", decision: "allow", rule: "host(ok.example)", command: "t1", connections: 1 },
      { host: "new.example", decision: "deny", reason: "unknown", command: "t1" },
    ]);
    expect(ledger(world)[0]).toMatchObject({ program: "curl -sS http://ok.example/a" });
  });

  test("S39 live-question: a person is asked once for a host, and an answer that is kept is a rule", async () => {
    const world = await open(true);
    world.answer = ({ input, suggestion = "" }) =>
      input.host === "no.example"
        ? { decision: "deny", say: "" }
        : {
            decision: "allow",
            ...(input.host === "kept.example" ? { remember: { rule: suggestion, scope: "session" } } : {}),
          };
    const twice = (host: string) => `curl -sS http://${host}/1; curl -sS http://${host}/2;`;
    const said = await world.call(["kept.example", "once.example", "no.example"].map(twice).join(" "));
    expect(world.questions.map(({ input }) => input.host)).toEqual([
      "kept.example",
      "once.example",
      "no.example",
    ]);
    expect(world.questions[0]).toMatchObject({
      connection: { title: "kept.example:80: connect to it?" },
      reason: expect.stringMatching(/^Process \d+ wants kept.example:80, /),
      suggestion: "host(kept.example)",
    });
    expect(world.allow).toEqual(["host(kept.example)"]);
    expect(said).toContain("once.example /2");
    expect(said).toContain(
      "[sandbox: no.example:80 is not on the list of hosts; the person did not allow it. It would be allowed by --allow 'host(no.example)'.]",
    );
    await world.call(twice("once.example"));
    expect(world.questions).toHaveLength(4);
  });

  test("S39 live-question: in plan mode nobody is asked, and the note says so", async () => {
    const world = await open(true);
    world.mode = "plan";
    const said = await world.call("curl -sS http://new.example/a");
    expect(said).toContain(
      "[sandbox: no connection to new.example:80: plan mode connects only to hosts on the list",
    );
    expect(world.questions).toEqual([]);
    expect(ledger(world)).toMatchObject([{ host: "new.example", decision: "deny", reason: "plan" }]);
  });

  test("S39 live-question: a question closes when its program gives up, and is told once as withdrawn", async () => {
    const world = await open(true);
    world.allow.push("host(go.example)");
    let closed = 0;
    world.answer = (_, signal) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          closed += 1;
          resolve({ decision: "deny", say: "" });
        }),
      );
    answered = until(() => world.questions.length === 5, "five questions");
    // Plain, with a body that nobody reads, TLS, by a proxy, and a port where nothing is read before the answer.
    const said = await world.call(`head -c 3000000 /dev/zero > /tmp/body
      for words in http://a.example/ '-T /tmp/body http://b.example/' https://c.example/ '-x 127.0.0.1:3128 https://d.example/'; do
        curl -sS $words & asking="$asking $!"; done
      bash -c 'exec 3<>/dev/tcp/e.example/22; echo SSH-2.0-x >&3; exec sleep 600' & asking="$asking $!"
      curl -sS http://go.example/when-all-are-asked; kill $asking; wait`);
    expect(world.questions).toHaveLength(5);
    expect(closed).toBe(5);
    expect(
      refused(world)
        .map((entry) => `${entry.host}:${entry.port} ${entry.reason}`)
        .sort(),
    ).toEqual([
      ...["a.example:80 withdrawn", "b.example:80 withdrawn", "c.example:443 withdrawn"],
      ...["d.example:443 withdrawn", "e.example:22 withdrawn"],
    ]);
    expect(said.split("gave up before anybody answered")).toHaveLength(6);
    world.answer = () => ({ decision: "allow" });
    expect(await world.call("curl -sS http://a.example/again")).toContain("a.example /again");
    expect(refused(world)).toHaveLength(5);
  });

  test("S41 two-of-three: after text from outside and private data, sending is asked about once for each command", async () => {
    const world = await open(true);
    world.allow.push("host(ok.example)", "host(git.example full)");
    const push = "curl -sS -d 1 http://git.example/push; curl -sS -d 2 http://git.example/push";
    expect(await world.call(push)).toContain("git.example /push\ngit.example /push");
    // What the host that may be sent to answered is text from outside itself.
    world.events.splice(0);
    await world.call("curl -sS http://ok.example/readme");
    world.answer = () => ({ decision: "allow" });
    expect(await world.call(push)).toContain("git.example /push\ngit.example /push");
    expect(world.questions).toHaveLength(1);
    expect(world.questions[0]?.reason).toMatch(
      /sends to git.example:80. Since you allowed it, this session has read text from outside \(step 1: curl .*\) and private files \(step 1: \/w\)/,
    );
    expect(world.questions[0]?.suggestion).toBeUndefined();
    world.answer = undefined;
    expect(await world.call(push)).toContain(
      "[sandbox: the person did not let this command send to git.example:80]",
    );
    const mine = await open(true);
    mine.allow.push("host(ok.example trusted)", "host(git.example full)", "host(*.example trusted)");
    await mine.call("curl -sS http://ok.example/readme");
    expect(await mine.call(push)).toContain("git.example /push\ngit.example /push");
    expect(await mine.call(push)).toContain("git.example /push\ngit.example /push");
    expect(mine.questions).toEqual([]);
    expect(ledger(mine)).toMatchObject(Array.from({ length: 3 }, () => ({ trusted: true })));
    const off = await open(false, { rule: "off" });
    off.allow.push("host(ok.example)", "host(git.example full)");
    await off.call("curl -sS http://ok.example/readme");
    expect(await off.call(push)).toContain("git.example /push");
    const secrets = await open(false, { private: "secrets" });
    secrets.allow.push("host(ok.example)", "host(git.example full)");
    await secrets.call("curl -sS http://ok.example/readme");
    expect(await secrets.call(push)).toContain("git.example /push");
    await secrets.call("echo '[redacted:API_KEY]'");
    expect(await secrets.call(push)).toContain("nobody is here to be asked");
  });

  test("S40 budget: the setting of the budget counts for each turn, and the note says what was cut", async () => {
    const world = await open(false, { budgetKb: 1, budgetPercent: 0 });
    world.allow.push("host(ok.example)");
    const post = "head -c 600 /dev/zero | curl -sS --data-binary @- http://ok.example/x";
    expect(await world.call(post)).toContain("ok.example /x");
    expect(await world.call(post)).toMatch(
      /\[sandbox: ok.example may only be fetched from; the connection was cut/,
    );
    expect(ledger(world).map((event) => event.type === "egress" && event.decision)).toEqual(["allow", "cut"]);
    world.append({ type: "turn_ended", reason: "completed" });
    expect(await world.call(post)).toContain("ok.example /x");
  });

  test("S42 dev-server: a new listener is told once, and a rule about a port is in force as soon as it is added", async () => {
    const world = await open(true);
    const port = 18_000 + (process.pid % 10_000);
    const server = `import os, socket
s = socket.socket(socket.AF_INET6); s.bind(("::1", ${port})); s.listen()
while os.fork() == 0:
    c, _ = s.accept(); c.recv(9999); c.sendall(b"HTTP/1.0 200 OK\\r\\n\\r\\nfrom inside"); c.close()`;
    const note = `[sandbox: a program listens on port ${port}, inside of the sandbox only.`;
    const twice = [await world.call(`python3 -c '${server}'`), await world.call("true")];
    expect(twice.map((said) => said.split(note).length - 1)).toEqual([1, 0]);
    const get = () => fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
    await expect(get()).rejects.toThrow();
    world.add(`port(${port})`);
    expect(await vi.waitFor(get, patienceMs)).toBe("from inside");

    world.allow.push("host(ok.example)");
    const curl = "curl -sS http://ok.example:8443/x";
    expect(await world.call(curl)).not.toContain("ok.example:8443 /x");
    world.add("host(ok.example:8443)");
    await vi.waitFor(async () => expect(await world.call(curl)).toContain("ok.example:8443 /x"), patienceMs);
  });

  test("S43 attribution: connections of a job are the job's, not those of the call that runs meanwhile", async () => {
    const world = await open(false);
    world.allow.push("host(ok.example)");
    const said = await world.call(
      "(until [ -e /tmp/go ]; do sleep 0.02; done; curl -sS http://ok.example/job >/dev/null; touch /tmp/done) " +
        ">/dev/null 2>&1 & echo pid $!",
    );
    world.jobs.push({ pid: Number(/pid (\d+)/.exec(said)?.[1]) } as BackgroundJob);
    await world.call(
      "curl -sS http://ok.example/call; touch /tmp/go; until [ -e /tmp/done ]; do sleep 0.02; done",
    );
    const commands = ledger(world).map((event) => event.type === "egress" && [event.command, event.program]);
    expect(commands).toEqual([
      ["t2", "curl -sS http://ok.example/call"],
      [`job ${world.jobs[0]?.pid}`, "curl -sS http://ok.example/job"],
    ]);
  });
});
