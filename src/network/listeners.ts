/** Finds the ports that programs in a sandbox listen on. */

import { procText } from "../disk/process-stat.ts";

/** The texts of /proc/<pid>/net that are read here, by name. */
export type NetworkTables = (name: "sockstat" | "sockstat6" | "tcp" | "tcp6") => string;

/** Where programs get ports that they did not choose: nobody is meant to find those. */
const firstRandomPort = 32_768;

/**
 * Returns a look that lists the ports, each once; create it before a program listens. The kernel takes milliseconds for its tables, so they are read only
 * when the number of sockets is another than at the look before. `isOurs`: true for an `address:port` of this side.
 */
export function listenerLook(tables: NetworkTables, isOurs: (place: string) => boolean): () => number[] {
  const told = new Set<number>();
  // Nothing else listens yet.
  const counts = { tcp: inUse(tables("sockstat")), tcp6: inUse(tables("sockstat6")) };
  return () => {
    const found = (["tcp", "tcp6"] as const).flatMap((name) => {
      const count = inUse(tables(name === "tcp" ? "sockstat" : "sockstat6"));
      if (count === counts[name]) return [];
      counts[name] = count;
      return count === 0 ? [] : placesIn(tables(name));
    });
    const fresh = found.flatMap(({ place, port }) =>
      isOurs(place) || port >= firstRandomPort || told.has(port) ? [] : [port],
    );
    for (const port of fresh) told.add(port);
    return [...new Set(fresh)].sort((a, b) => a - b);
  };
}

/** Reads the tables of the network of a process. */
export function networkTables(pid: number): NetworkTables {
  return (name) => procText(`${pid}/net/${name}`) ?? "";
}

/** Reads the number of sockets that listen or are connected. */
function inUse(text: string): number {
  return Number(/^TCP6?: inuse (\d+)/m.exec(text)?.[1] ?? 0);
}

/** Lists the rows of sockets that listen: state 0A of proc(5). */
function placesIn(table: string): { place: string; port: number }[] {
  const rows = table.matchAll(/^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]+:0000 0A /gm);
  return [...rows].map(([, address = "", digits = ""]) => {
    const port = Number.parseInt(digits, 16);
    return { place: `${address4(address)}:${port}`, port };
  });
}

/** An IPv4 address of the table, the lowest byte first; one of IPv6 as it stands. */
function address4(hex: string): string {
  if (hex.length !== 8) return hex;
  return [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(".");
}
