/** The process behind a connection, found in tables of its own. */

import { expect, test } from "vitest";
import { createAttribution, type ProcessFiles } from "../../src/network/attribution.ts";

test("S43 attribution: the process is the one that holds the other end, the youngest of several", () => {
  const row = (local: string, remote: string, inode: number) =>
    `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 20`;
  const open: Record<number, string[]> = {
    7: ["socket:[500]"],
    9: ["pipe:[1]", "socket:[500]"],
    12: ["socket:[600]"],
    13: ["socket:[700]"],
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
    holds: (pid, inode) => open[pid]?.includes(`socket:[${inode}]`) ?? false,
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
