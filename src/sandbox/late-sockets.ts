/**
 * Closes sockets of the machine that appear after a sandbox has started. The kernel lets a socket be connected to on every
 * mount where its file can be seen, read-only or not; so each is covered in the sandbox's own mounts, as those that were
 * there before it have been, by a helper that enters them from outside.
 */

import { spawn } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { interpreterIn } from "../disk/interpreter.ts";
import { openSockets, processIds, procLink, procText } from "../disk/process-stat.ts";

/**
 * Numbers of the kernel: 0xb701 is NS_GET_USERNS, 0x10000000 and 0x20000 the user and mount namespace, 0x1000 a bind
 * mount. System calls: setns, mount. A path that is not there inside has nothing to cover.
 */
const perl = `use strict; use Config; my $m = $Config{archname};
my ($setns, $mount) = $m =~ /^x86_64/ ? (308, 165) : $m =~ /^(aarch64|riscv64|loongarch64)/ ? (268, 40)
  : die "unknown processor\\n";
my ($pid, @paths) = @ARGV;
open(my $mounts, "<", "/proc/$pid/ns/mnt") or die "mounts: $!\\n";
my $user = ioctl($mounts, 0xb701, 0) or die "their owner: $!\\n";
syscall($setns, $user + 0, 0x10000000) == 0 or die "user namespace: $!\\n";
syscall($setns, fileno($mounts), 0x20000) == 0 or die "mount namespace: $!\\n";
for (@paths) { my ($null, $path) = ("/dev/null", "$_"); next unless -S $path;
  syscall($mount, $null, $path, 0, 0x1000, 0) == 0 or die "covering it: $!\\n" }`;

/** The same for python3. */
const python = `import ctypes, fcntl, os, stat, sys
c = ctypes.CDLL(None, use_errno=True)
def must(what, result):
    if result != 0: sys.exit(what + ": " + os.strerror(ctypes.get_errno()))
mounts = os.open("/proc/" + sys.argv[1] + "/ns/mnt", os.O_RDONLY)
user = fcntl.ioctl(mounts, 0xB701, 0)
must("user namespace", c.setns(user, 0x10000000))
must("mount namespace", c.setns(mounts, 0x20000))
for path in sys.argv[2:]:
    try: there = stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError: there = False
    if there: must("covering it", c.mount(b"/dev/null", os.fsencode(path), None, 0x1000, None))`;

/**
 * A socket that is bound to a path, as its program wrote it. `id`: the kernel's number of it; another one at the same path
 * has another.
 */
export type BoundSocket = { id: string; path: string };

export type LateSockets = {
  /**
   * Covers what appeared since the last look, and looks often from now on. Never rejects: what cannot be covered is
   * told.
   */
  look(): Promise<void>;
  /** Looks seldom from now on. */
  calm(): void;
};

export type LateOptions = {
  /** First process of the sandbox, as the machine counts. */
  pid: number;
  /** Returns true for a path that commands may reach, or that they see nothing of. */
  isLeft(path: string): boolean;
  /** False once the sandbox has ended, and with it the watch. */
  isAlive(): boolean;
  /** Called with the reason when a socket could not be covered. */
  onFailure(reason: string): void;
  /** Folders in which Perl and Python are looked for. */
  folders?: readonly string[];
};

/** Milliseconds between two looks by itself, while a command runs and else. */
const [busyMs, calmMs] = [25, 250];
/** The least of the time that is left for other work, for each part that looking takes. */
const rest = 100;

/** Watches from now on. `before`: the sockets that the sandbox has closed from its start. */
export function watchSockets(before: readonly BoundSocket[], options: LateOptions): LateSockets {
  const { pid, isLeft, isAlive, onFailure, folders } = options;
  const table = openTable();
  let known = new Set(before.map(keyOf));
  let covering: Promise<void> = Promise.resolve();
  const coverFresh = (): Promise<void> => {
    const text = table.changed();
    if (text === undefined) return covering;
    const now = boundSockets(text);
    const fresh = now.filter((one) => !known.has(keyOf(one)));
    known = new Set(now.map(keyOf));
    const paths = pathsOf(fresh).filter((path) => !isLeft(path));
    if (paths.length === 0) return covering;
    const covered = cover(pid, paths, folders).catch((error: Error) => {
      if (isAlive()) onFailure(error.message);
    });
    // All of them before a command goes on.
    covering = Promise.all([covering, covered]).then(() => {});
    return covering;
  };
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;
  const again = (cost: number): void => {
    clearTimeout(timer);
    timer = setTimeout(turn, isBusy ? Math.max(busyMs, cost * rest) : calmMs).unref();
  };
  const turn = (): void => {
    if (!isAlive()) return void table.close();
    const began = performance.now();
    void coverFresh();
    again(performance.now() - began);
  };
  again(0);
  return {
    look() {
      if (!isAlive()) return covering;
      if (!isBusy) {
        isBusy = true;
        again(0);
      }
      return coverFresh();
    },
    calm() {
      isBusy = false;
    },
  };
}

/** The kernel's table of sockets, through one open file: to open it costs as much as to read it. */
function openTable(): { changed(): string | undefined; close(): void } {
  let file: number | undefined;
  let [last, next] = [Buffer.alloc(0), Buffer.alloc(16 * 1024)];
  return {
    /** Returns its text where that is another than at the call before. */
    changed() {
      try {
        file ??= openSync("/proc/net/unix", "r");
        let length = 0;
        for (let got = -1; got !== 0; length += got) {
          if (length === next.length) next = Buffer.concat([next, Buffer.alloc(length)]);
          got = readSync(file, next, length, next.length - length, length);
        }
        const now = next.subarray(0, length);
        if (now.equals(last)) return undefined;
        next = Buffer.alloc(next.length);
        last = now;
        return now.toString("utf8");
      } catch {
        return undefined;
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function keyOf({ id, path }: BoundSocket): string {
  return `${id} ${path}`;
}

/** Lists the sockets of this machine that can be connected or sent to by their path. */
export function boundSockets(table = procText("net/unix") ?? ""): BoundSocket[] {
  // Columns: address, references, protocol, flags, type, state, number, path. Flag 10000: it listens; type 2: datagrams.
  const rows = table.matchAll(
    /^\S+ \S+ \S+ (?:[0-9A-F]{3}1[0-9A-F]{4} \d{4}|[0-9A-F]{8} 0002) \S+ +(\d+) ([^@].*)$/gm,
  );
  return [...rows].map(([, id = "", path = ""]) => ({ id, path }));
}

/** Returns the absolute paths of sockets. A relative one is looked for in the folder of the program that has it. */
export function pathsOf(sockets: readonly BoundSocket[]): string[] {
  const relative = sockets.filter(({ path }) => !isAbsolute(path));
  const ids = new Set(relative.map(({ id }) => id));
  const holders = relative.length === 0 ? [] : processIds();
  const found = holders.flatMap((pid) => {
    const open = new Set(openSockets(pid).flatMap(({ inode }) => (ids.has(inode) ? [inode] : [])));
    const folder = open.size > 0 ? procLink(`${pid}/cwd`) : undefined;
    return folder === undefined
      ? []
      : relative.filter(({ id }) => open.has(id)).map(({ path }) => join(folder, path));
  });
  return [...new Set([...sockets.map(({ path }) => path).filter(isAbsolute), ...found])];
}

function cover(pid: number, paths: readonly string[], folders: readonly string[] | undefined): Promise<void> {
  const [command, ...args] = interpreterIn({ perl, python }, folders) ?? [];
  const failed = (why: string) =>
    new Error(`sockets of the machine stay reachable in the sandbox (${paths.join(", ")}): ${why}`);
  if (command === undefined) return Promise.reject(failed("neither perl nor python3 is installed"));
  const helper = spawn(command, [...args, String(pid), ...paths], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {},
    cwd: "/",
  });
  let said = "";
  helper.stderr.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("utf8")).slice(-500);
  });
  return new Promise((resolve, reject) => {
    helper.once("error", (error) => reject(failed(error.message)));
    helper.once("close", (code) => (code === 0 ? resolve() : reject(failed(said.trim() || `exit ${code}`))));
  });
}
