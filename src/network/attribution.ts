/** Finds the process at the inner end of a connection by /proc: no token that another process could borrow. */

import {
  childrenOf,
  commandWords,
  isUnixSocket,
  namespacePids,
  openSockets,
  processIds,
  processStat,
  procText,
} from "../disk/process-stat.ts";

/** A process as the machine counts it. `line`: its command line in one line, at most 80 characters. */
export type Owner = { pid: number; line: string };

/** The inner end of a connection as the accepting side sees it. */
export type Peer = { remotePort: number; localAddress: string; localPort: number };

/** Everything about processes that attribution reads, so that it can be tried on tables of its own. */
export type ProcessFiles = {
  /** The text of /proc/<pid>/net/tcp, tcp6 or udp of any process inside. */
  sockets(kind: "tcp" | "tcp6" | "udp"): string;
  /** Processes inside, as the machine counts them: those that descend from the first one. */
  pids(): number[];
  /** Every process of the machine: the lists of children leave some out while others end. */
  allPids(): number[];
  /** Sockets that a process has open. Those that cannot be of the network may be left out where `closely` is set. */
  open(pid: number, closely: boolean): string[];
  commandLine(pid: number): string;
  /**
   * Milliseconds of a clock, and of processor time that we have used: on a busy machine a look takes long, but costs
   * little.
   */
  now(): number;
  used(): number;
};

export type Attribution = {
  /** Returns the process that holds the other end; undefined when it is gone. */
  ownerOf(peer: Peer): Owner | undefined;
  /** True once no process holds the other end. */
  isClosed(peer: Peer): boolean;
  /** Returns the process that sent a datagram from this port; undefined when it is gone. */
  senderOf(port: number): Owner | undefined;
};

/**
 * Milliseconds of processor time of a look that is worth it every time. After a longer one there is none for five times
 * as long.
 */
const cheapMs = 20;

export function createAttribution(files: ProcessFiles): Attribution {
  let restUntil = 0;
  const obvious = obviousOwner(files);
  /** Thousands of connections take long to look through: none is then worth holding up the others. */
  const unlessBusy = (look: () => number | undefined): Owner | undefined => {
    if (files.now() < restUntil) return undefined;
    const before = files.used();
    const pid = look();
    const owner = pid === undefined ? undefined : { pid, line: files.commandLine(pid) };
    const used = files.used() - before;
    if (used > cheapMs) restUntil = files.now() + 5 * used;
    return owner;
  };
  return {
    ownerOf: (peer) => unlessBusy(() => obvious() ?? holderOf(files, inodeOf(files, peer))),
    isClosed: (peer) => (inodeOf(files, peer) ?? noInode) === noInode,
    senderOf: (port) =>
      unlessBusy(() => obvious() ?? holderOf(files, inodeAt(files.sockets("udp"), `:${hexPort(port)} `))),
  };
}

/**
 * Returns a look for the one process inside that has sockets, or the youngest that shares the only one: no table has to
 * be read then, which takes the kernel milliseconds. Each socket speaks for one connection only, so that the process of
 * a connection that is gone by now is not taken for the one that is left.
 */
function obviousOwner(files: ProcessFiles): () => number | undefined {
  let [seen, unspoken] = [new Set<string>(), 0];
  return () => {
    const holders = holdersOf(files, false);
    const close = holders.length > 1 ? holdersOf(files, true) : holders;
    const open = new Set(close.flatMap(({ sockets }) => sockets));
    const fresh = [...open].filter((inode) => !seen.has(inode));
    unspoken = Math.min(open.size, unspoken + fresh.length);
    seen = open;
    if (unspoken === 0 || (close.length > 1 && open.size > 1)) return undefined;
    unspoken -= 1;
    return close[0]?.pid;
  };
}

/** Lists the processes that have sockets open, the youngest first. */
function holdersOf(files: ProcessFiles, closely: boolean): { pid: number; sockets: string[] }[] {
  return files
    .pids()
    .toSorted((a, b) => b - a)
    .map((pid) => ({ pid, sockets: files.open(pid, closely) }))
    .filter(({ sockets }) => sockets.length > 0);
}

/** The kernel's inode of a socket that no process holds. */
const noInode = "0";

/** Returns the inode of the other end, which a program may have opened as a socket of IPv6. */
function inodeOf(files: ProcessFiles, { remotePort, localAddress, localPort }: Peer): string | undefined {
  const [port, end] = [hexPort(remotePort), `${hexAddress(localAddress)}:${hexPort(localPort)} `];
  return (
    inodeAt(files.sockets("tcp"), `:${port} ${end}`) ??
    inodeAt(files.sockets("tcp6"), `:${port} 0000000000000000FFFF0000${end}`)
  );
}

/** Returns the inode in the row whose ends read like `ends`: column 9 of proc(5). */
function inodeAt(table: string, ends: string): string | undefined {
  const at = table.indexOf(ends);
  if (at < 0) return undefined;
  const start = table.lastIndexOf("\n", at) + 1;
  return table.slice(start, table.indexOf("\n", at)).trim().split(/\s+/)[9];
}

/** Several processes may hold a socket they inherited: the youngest has it for use, the others wait for it. */
function holderOf(files: ProcessFiles, inode: string | undefined): number | undefined {
  if (inode === undefined || inode === noInode) return undefined;
  const among = (pids: readonly number[]) =>
    pids.toSorted((a, b) => b - a).find((pid) => files.open(pid, false).includes(inode));
  return among(files.pids()) ?? among(files.allPids());
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** An IPv4 address as /proc/net/tcp writes it: the lowest byte first. */
function hexAddress(address: string): string {
  const bytes = address.split(".").map((part) => Number(part).toString(16).toUpperCase().padStart(2, "0"));
  return bytes.reverse().join("");
}

/** Sockets of a process that are looked at one by one. */
const mostLooked = 16;

/** Reads the real /proc. `first`: the first process of the sandbox, from which all in it descend. */
export function realProcessFiles(first: number): ProcessFiles {
  return {
    sockets: (kind) => procText(`${first}/net/${kind}`) ?? "",
    pids() {
      const found = [first];
      for (const pid of found) found.push(...childrenOf(pid));
      return found;
    },
    allPids: processIds,
    open(pid, closely) {
      const sockets = openSockets(pid);
      const looked = closely && sockets.length <= mostLooked;
      return sockets
        .filter(({ descriptor }) => !looked || !isUnixSocket(pid, descriptor))
        .map(({ inode }) => inode);
    },
    commandLine: (pid) => clipped(commandWords(pid)),
    now: () => performance.now(),
    used() {
      // Of this thread alone where Node can tell: others may be busy with something else.
      const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
      return (user + system) / 1000;
    },
  };
}

/**
 * A process and those that it descends from, the nearest first, each as the machine and as its own namespace count it.
 */
export function lineage(pid: number): { pid: number; inner: number }[] {
  const found: { pid: number; inner: number }[] = [];
  for (let at = pid; at > 1 && found.length < 100; ) {
    const stat = processStat(at);
    if (!stat) break;
    found.push({ pid: at, inner: namespacePids(at).at(-1) ?? at });
    at = stat.parent;
  }
  return found;
}

/** Seconds from the start of the machine to that of a process; undefined for one that is gone. */
export function startedAt(pid: number): number | undefined {
  const ticks = processStat(pid)?.startTime;
  // Hundredths on every processor that we know.
  return ticks === undefined ? undefined : ticks / 100;
}

/** Seconds since the start of the machine. */
export function upTime(): number {
  return Number(procText("uptime")?.split(" ")[0] ?? 0);
}

function clipped(words: string): string {
  const text = words.replace(/[\s\x00-\x1f\x7f]+/g, " ").trim();
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text;
}
