/** Rules about hosts: how they are read, the one spelling of a host, address classes, and which rule decides. */

import { describe, expect, test } from "vitest";
import { parseRule } from "../../../src/permissions/parse-rule.ts";
import { addressClass } from "../../../src/permissions/sandbox/addresses.ts";
import { canonicalHost, decideHost, parseHostRule } from "../../../src/permissions/sandbox/hosts.ts";

describe("the one spelling of a host", () => {
  const spelled: [string, string | undefined][] = [
    ["EVIL.example.", "evil.example"],
    ["evil.example..", undefined],
    ["evil.example\0.ok.example", undefined],
    ["ok.example@evil", undefined],
    ["0x7f.1", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["127.0.0.1.", "127.0.0.1"],
    ["[::ffff:169.254.169.254]", "169.254.169.254"],
    ["::FFFF:a9fe:a9fe", "169.254.169.254"],
    ["[0:0:0:0:0:0:0:1]", "::1"],
    ["[::1%eth0]", undefined],
    ["xn--", undefined],
    ["xn--mnchen-3ya.example", "xn--mnchen-3ya.example"],
    ["münchen.example", "xn--mnchen-3ya.example"],
    ["ｏｋ.example", "ok.example"],
    ["１２７.0.0.1", "127.0.0.1"],
    ["ok。example", "ok.example"],
    [`${"a".repeat(64)}.example`, undefined],
    [`${"a.".repeat(150)}example`, undefined],
    ["ok\t.example", undefined],
    ["ok.example\n", undefined],
    [" ok.example", undefined],
    ["ok%2eexample", undefined],
    ["ok.example/path", undefined],
    ["ok.example?q", undefined],
    ["ok.example#x", undefined],
    ["ok\\.example", undefined],
    ["-ok.example", undefined],
    ["ok..example", undefined],
    ["1.2.3.4.5", undefined],
    ["256.1.1.1", undefined],
    ["example.123", undefined],
    ["_srv.example", "_srv.example"],
    ["", undefined],
    [".", undefined],
  ];
  test("S33 host-forms: each spelling has one canonical form or none", () => {
    for (const [text, host] of spelled) expect([text, canonicalHost(text)]).toEqual([text, host]);
  });

  test("S33 host-forms: a rule decides about the canonical form, whatever the spelling", () => {
    const rules = parseHostRule("ok.example");
    for (const [text] of spelled) {
      const host = canonicalHost(text);
      const decision = host === undefined ? "deny" : decideHost(rules, host, 443).decision;
      expect([text, decision === "allow"]).toEqual([text, host === "ok.example"]);
    }
  });
});

test("S34 rebinding: every address that is not public has a class of its own, also inside another address", () => {
  const classes: Record<string, string[]> = {
    public: ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
    loopback: ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
    private: [
      "10.0.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "fd12::1",
      "fec0::1",
      "::ffff:10.0.0.1",
      "::10.0.0.1",
    ],
    shared: ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.1.1", "fe80::1", "febf::1"],
    metadata: [
      "169.254.169.254",
      "100.100.100.200",
      "192.0.0.192",
      "168.63.129.16",
      "fd00:ec2::254",
      "2002:a9fe:a9fe::",
    ],
    multicast: ["224.0.0.1", "239.1.2.3", "ff02::1"],
    reserved: [
      "0.0.0.0",
      "0.1.2.3",
      "255.255.255.255",
      "240.0.0.1",
      "198.18.0.1",
      "::",
      "2001::1",
      "4000::1",
      "x",
    ],
  };
  for (const [name, addresses] of Object.entries(classes))
    expect(addresses.map((address) => [address, addressClass(address)])).toEqual(
      addresses.map((address) => [address, name]),
    );
  expect(["172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "11.0.0.1"].map(addressClass)).toEqual(
    Array.from({ length: 5 }, () => "public"),
  );
});

describe("rules", () => {
  test("are read with their port and grant; a preset is several rules", () => {
    expect(parseHostRule("API.example.com:443 full")).toEqual([
      {
        kind: "allow",
        name: "api.example.com",
        port: 443,
        grant: "full",
        text: "host(API.example.com:443 full)",
      },
    ]);
    expect(parseHostRule("*.example.com", "deny")).toEqual([
      { kind: "deny", name: "*.example.com", grant: "fetch", text: "host(*.example.com)" },
    ]);
    expect(parseHostRule("[::1]:8080")).toMatchObject([{ name: "::1", port: 8080 }]);
    expect(parseHostRule("@github full").every(({ grant }) => grant === "full")).toBe(true);
    expect(parseHostRule("@npm").length).toBeGreaterThan(0);
    expect(parseHostRule("a.example full trusted")).toMatchObject([{ grant: "full", trusted: true }]);
    expect(parseHostRule("a.example trusted")).toMatchObject([{ grant: "fetch", trusted: true }]);
  });

  test("that are odd are refused with how to write them", () => {
    const odd = [
      ["https://api.example.com/v1", "is a URL"],
      ["api.example.com:0", "has a port that is not a number from 1 to 65535"],
      ["api.example.com:https", "has a port that is not a number"],
      ["api.example.com read", 'has "read" behind the host'],
      ["api.example.com full fetch", 'has "full fetch" behind the host'],
      ["api.example.com trusted full", 'has "trusted full" behind the host'],
      ["@maven", "names a preset that is unknown"],
      ["*example.com", "does not name a host"],
      ["api.*.com", "does not name a host"],
      ["*.127.0.0.1", "has an address behind the star"],
      ["a@b.example", "does not name a host"],
      ["host.sawtooth", "needs the port of the service"],
    ];
    for (const [pattern = "", what = ""] of odd) {
      expect(() => parseRule(`host(${pattern})`)).toThrow(what);
      expect(() => parseRule(`host(${pattern})`)).toThrow("api.example.com");
    }
    expect(() => parseHostRule("a.example full", "deny")).toThrow("leave it out");
    expect(() => parseRule("host")).toThrow("does not name a host");
  });

  test("S32 empty-list-denies: without a rule nothing is allowed", () => {
    expect(decideHost([], "ok.example", 443)).toEqual({ decision: "ask", reason: "unknown" });
    expect(decideHost([], "8.8.8.8", 443)).toEqual({ decision: "deny", reason: "address" });
    expect(decideHost([], "host.sawtooth", 5432)).toEqual({ decision: "deny", reason: "machine" });
    expect(decideHost(parseHostRule("evil.example", "deny"), "ok.example", 443).decision).toBe("ask");
  });

  test("decide: deny beats allow, full beats fetch, sub-domains and ports only where they are named", () => {
    const rules = [
      ...parseHostRule("bad.example.com", "deny"),
      ...parseHostRule("*.example.com"),
      ...parseHostRule("api.example.com full"),
      ...parseHostRule("db.example.com:5432 full"),
      ...parseHostRule("203.0.113.9:443"),
      ...parseHostRule("host.sawtooth:5432"),
    ];
    const decide = (host: string, port = 443) => {
      const found = decideHost(rules, host, port);
      return "rule" in found ? `${found.decision} ${found.rule.grant}` : `${found.decision} ${found.reason}`;
    };
    expect(decide("www.example.com")).toBe("allow fetch");
    expect(decide("api.example.com")).toBe("allow full");
    expect(decide("bad.example.com", 8080)).toBe("deny fetch");
    expect(decide("example.com")).toBe("ask unknown");
    expect(decide("evilexample.com")).toBe("ask unknown");
    expect(decide("www.example.com", 8080)).toBe("ask port");
    expect(decide("db.example.com", 5432)).toBe("allow full");
    expect(decide("203.0.113.9")).toBe("allow fetch");
    expect(decide("203.0.113.9", 80)).toBe("deny address");
    expect(decide("host.sawtooth", 5432)).toBe("allow fetch");
    expect(decide("host.sawtooth", 22)).toBe("deny machine");
    const all = parseHostRule("*");
    expect(decideHost(all, "any.example", 443).decision).toBe("allow");
    expect(decideHost(all, "10.0.0.1", 443).decision).toBe("deny");
    expect(decideHost(all, "host.sawtooth", 443).decision).toBe("deny");
  });
});
