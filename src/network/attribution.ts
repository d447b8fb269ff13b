/** Finds the process at the inner end of a connection by /proc: no token that another process could borrow. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process as the machine counts it. `line`: its command line in one line, at most 80 characters. */
export type Owner = { pid: number; line: string };

/** The inner end of a connection as the accepting side sees it. */
export type Peer = { remotePort: number; localAddress: string; localPort: number };

/** Everything about processes that attribution reads, so that it can be tried on tables of its own. */
export type ProcessFiles = {
  /** The text of /proc/<pid>/net/tcp or udp of any process inside. */
  sockets(kind: "tcp" | "udp"): string;
  /** Processes inside, as the machine counts them. */
  pids(): number[];
  /** The targets of the open files of a process; none for one that is gone. */
  openFiles(pid: number): string[];
  commandLine(pid: number): string;
};

/** Returns the process that holds the other end; undefined when it is gone. */
export function ownerOf(files: ProcessFiles, peer: Peer): Owner | undefined {
  const inode = inodeOf(files.sockets("tcp"), peer);
  return inode === undefined ? undefined : holderOf(files, inode);
}

/** Returns the process that sent a datagram from this port; undefined when it is gone. */
export function senderOf(files: ProcessFiles, port: number): Owner | undefined {
  const end = `:${hexPort(port)}`;
  const row = rowsOf(files.sockets("udp")).find(([, local = ""]) => local.endsWith(end));
  return row?.[9] === undefined ? undefined : holderOf(files, row[9]);
}

/** Several processes may hold a socket they inherited: the youngest has it for use, the others wait for it. */
function holderOf(files: ProcessFiles, inode: string): Owner | undefined {
  const target = `socket:[${inode}]`;
  const holders = files.pids().filter((pid) => files.openFiles(pid).includes(target));
  const pid = holders.length > 0 ? Math.max(...holders) : undefined;
  return pid === undefined ? undefined : { pid, line: files.commandLine(pid) };
}

function rowsOf(table: string): string[][] {
  return table
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/));
}

/** The row whose own end is the peer's port and whose far end is ours. Columns as in proc(5): 1 local, 2 remote, 9 inode. */
function inodeOf(table: string, { remotePort, localAddress, localPort }: Peer): string | undefined {
  const local = `:${hexPort(remotePort)}`;
  const remote = `${hexAddress(localAddress)}:${hexPort(localPort)}`;
  const row = rowsOf(table).find((cells) => cells[1]?.endsWith(local) && cells[2] === remote);
  return row?.[9];
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** An IPv4 address as /proc/net/tcp writes it: the lowest byte first. */
function hexAddress(address: string): string {
  const bytes = address.split(".").map((part) => Number(part).toString(16).toUpperCase().padStart(2, "0"));
  return bytes.reverse().join("");
}

/** Reads the real /proc. `inside`: any process of the sandbox that lives as long as it. */
export function realProcessFiles(inside: number): ProcessFiles {
  const network = linkOf(`/proc/${inside}/ns/net`);
  return {
    sockets: (kind) => textOf(`/proc/${inside}/net/${kind}`),
    pids: () =>
      namesIn("/proc")
        .map(Number)
        .filter((pid) => pid > 0 && linkOf(`/proc/${pid}/ns/net`) === network),
    openFiles: (pid) => namesIn(`/proc/${pid}/fd`).map((name) => linkOf(`/proc/${pid}/fd/${name}`)),
    commandLine: (pid) => clipped(textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ")),
  };
}

function clipped(words: string): string {
  const text = words.replace(/[\s\x00-\x1f\x7f]+/g, " ").trim();
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
