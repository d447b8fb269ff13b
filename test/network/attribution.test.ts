/** The process behind a connection, found in tables of its own. */

import { expect, test } from "vitest";
import { createAttribution, type ProcessFiles } from "../../src/network/attribution.ts";

test("S43 attribution: the process is the one that holds the other end, the youngest of several", () => {
  const row = (local: string, remote: string, inode: number) =>
    `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 20`;
  const open: Record<number, string[]> = {
    7: ["500"],
    9: ["500"],
    12: ["600"],
    13: ["700"],
  };
  // A socket of IPv6, as Java has it.
  const mapped = "0000000000000000FFFF0000";
  const files: ProcessFiles = {
    sockets: (kind) =>
      kind === "tcp"
        ? [
            "head",
            row("0100007F:9C40", "0100017F:01BB", 500),
            row("0100007F:9C40", "0200017F:01BB", 600),
            row("0100007F:9C43", "0100017F:01BB", 0),
            row("0100007F:9C45", "0100017F:01BB", 700),
          ].join("\n")
        : kind === "tcp6"
          ? ["head", row(`${mapped}0100007F:9C42`, `${mapped}0100017F:01BB`, 600)].join("\n")
          : ["head", row("0100007F:9C41", "00000000:0000", 600)].join("\n"),
    pids: () => [7, 9, 12],
    allPids: () => [7, 9, 12, 13],
    open: (pid) => open[pid] ?? [],
    commandLine: (pid) => `program ${pid}`,
    now: () => 0,
    used: () => 0,
  };
  const { ownerOf, senderOf, isClosed } = createAttribution(files);
  const peer = { remotePort: 40_000, localAddress: "127.1.0.1", localPort: 443 };
  expect(ownerOf(peer)).toEqual({ pid: 9, line: "program 9" });
  expect(ownerOf({ ...peer, localAddress: "127.1.0.2" })).toEqual({ pid: 12, line: "program 12" });
  expect(ownerOf({ ...peer, remotePort: 1 })).toBeUndefined();
  expect(senderOf(40_001)).toEqual({ pid: 12, line: "program 12" });
  expect(ownerOf({ ...peer, remotePort: 40_002 })).toEqual({ pid: 12, line: "program 12" });
  // The kernel left it out of its list of children.
  expect(ownerOf({ ...peer, remotePort: 40_005 })).toEqual({ pid: 13, line: "program 13" });
  // Held, held by IPv6, closed but still in the table, gone from it.
  const closed = [40_000, 40_002, 40_003, 40_004].map((remotePort) => isClosed({ ...peer, remotePort }));
  expect(closed).toEqual([false, false, true, true]);
});

test("S43 attribution: the one process that has sockets needs no table, and each socket speaks for one connection", () => {
  const open: Record<number, string[]> = { 7: [], 9: ["500"], 12: ["500"] };
  let tables = 0;
  const { ownerOf } = createAttribution({
    sockets() {
      tables += 1;
      return "";
    },
    pids: () => Object.keys(open).map(Number),
    allPids: () => [],
    open: (pid) => open[pid] ?? [],
    commandLine: (pid) => `program ${pid}`,
    now: () => 0,
    used: () => 0,
  });
  const owner = () => ownerOf({ remotePort: 1, localAddress: "127.1.0.1", localPort: 443 })?.pid;
  // The youngest that shares it; the next connection is not one of the socket that is there.
  expect([owner(), tables, owner()]).toEqual([12, 0, undefined]);
  expect(tables).toBeGreaterThan(0);
  tables = 0;
  open[12] = ["500", "501", "502"];
  open[9] = [];
  expect([owner(), owner(), tables]).toEqual([12, 12, 0]);
  // Two processes with sockets of their own: only the table tells.
  open[13] = ["600"];
  expect(owner()).toBeUndefined();
  expect(tables).toBeGreaterThan(0);
});
