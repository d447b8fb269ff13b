/** Mounts in a sandbox that runs: a helper enters its mounts from outside, where alone they can be changed. */

import { spawn } from "node:child_process";
import { interpreterIn } from "../disk/interpreter.ts";

/**
 * A path to close. `source`: what is shown there instead, as the sandbox sees it; absent for the path itself. A path that
 * is not there inside is left out, and with `socket` one that is none. `hidden`: a folder is emptied, a file bound.
 */
export type Closing = {
  path: string;
  how: "socket" | "bound" | "readOnly" | "empty" | "hidden";
  source?: string;
};

/**
 * Numbers of the kernel: 0xb701 is NS_GET_USERNS, 0x10000000 and 0x20000 the user and mount namespace. Of mounts: 0x5000 is
 * a bind with all below, 0x201027 makes it read-only where Linux is older than 5.12 and has no mount_setattr, 7 is
 * read-only without programs that gain rights and devices. System calls: setns, mount, mount_setattr (442).
 */
const perl = `use strict; use Config; my $m = $Config{archname};
my ($setns, $mount) = $m =~ /^x86_64/ ? (308, 165) : $m =~ /^(aarch64|riscv64|loongarch64)/ ? (268, 40)
  : die "unknown processor\\n";
my ($pid, @jobs) = @ARGV;
open(my $mounts, "<", "/proc/$pid/ns/mnt") or die "mounts: $!\\n";
my $user = ioctl($mounts, 0xb701, 0) or die "their owner: $!\\n";
syscall($setns, $user + 0, 0x10000000) == 0 or die "user namespace: $!\\n";
syscall($setns, fileno($mounts), 0x20000) == 0 or die "mount namespace: $!\\n";
while (my ($how, $from, $to) = splice(@jobs, 0, 3)) { my ($source, $path, $tmpfs, $mode) = ("$from", "$to", "tmpfs", "mode=0755");
  next if -l $path || !($how eq "socket" ? -S $path : -e $path);
  $how = "empty" if $how eq "hidden" && -d $path;
  if ($how eq "empty") { syscall($mount, $tmpfs, $path, $tmpfs, 7, $mode) == 0 or die "emptying it: $!\\n"; next }
  syscall($mount, $source, $path, 0, 0x5000, 0) == 0 or die "covering it: $!\\n"; next if $how ne "readOnly";
  my $set = pack("Q4", 1, 0, 0, 0); next if syscall(442, -100, $path, 0, $set, 32) == 0;
  syscall($mount, 0, $path, 0, 0x201027, 0) == 0 or die "making it read-only: $!\\n" }`;

/** The same for python3. */
const python = `import ctypes, fcntl, os, stat, struct, sys
c = ctypes.CDLL(None, use_errno=True)
def must(what, result):
    if result != 0: sys.exit(what + ": " + os.strerror(ctypes.get_errno()))
mounts = os.open("/proc/" + sys.argv[1] + "/ns/mnt", os.O_RDONLY)
user = fcntl.ioctl(mounts, 0xB701, 0)
must("user namespace", c.setns(user, 0x10000000))
must("mount namespace", c.setns(mounts, 0x20000))
for how, source, path in zip(*[iter(sys.argv[2:])] * 3):
    try: mode = os.lstat(path).st_mode
    except OSError: continue
    if stat.S_ISLNK(mode) or how == "socket" and not stat.S_ISSOCK(mode): continue
    at = os.fsencode(path)
    if how == "empty" or how == "hidden" and stat.S_ISDIR(mode):
        must("emptying it", c.mount(b"tmpfs", at, b"tmpfs", 7, b"mode=0755"))
        continue
    must("covering it", c.mount(os.fsencode(source), at, None, 0x5000, None))
    if how != "readOnly" or c.syscall(442, -100, at, 0, struct.pack("QQQQ", 1, 0, 0, 0), 32) == 0: continue
    must("making it read-only", c.mount(None, at, None, 0x201027, None))`;

/**
 * Closes paths in the sandbox whose first process is `pid`, as the machine counts; the first of them first. `folders`: where
 * Perl and Python are looked for. Rejects with the reason.
 */
export function mountInside(
  pid: number,
  closings: readonly Closing[],
  folders?: readonly string[],
): Promise<void> {
  const [command, ...args] = interpreterIn({ perl, python }, folders) ?? [];
  if (command === undefined) return Promise.reject(new Error("neither perl nor python3 is installed"));
  const jobs = closings.flatMap(({ how, path, source = path }) => [how, source, path]);
  const helper = spawn(command, [...args, String(pid), ...jobs], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {},
    cwd: "/",
  });
  let said = "";
  helper.stderr.on("data", (bytes: Buffer) => {
    said = (said + bytes.toString("utf8")).slice(-500);
  });
  return new Promise((resolve, reject) => {
    helper.once("error", reject);
    helper.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(said.trim() || `exit ${code}`)),
    );
  });
}
