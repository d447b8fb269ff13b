/**
 * Starts the door inside the network of a sandbox. Only a process of one thread may enter the namespaces, which Node is
 * not: a few lines of Perl, or else Python, enter them, keep the one capability that listening on port 53 needs, lead
 * every address to the loopback device, and become the door. Nothing of it can be reached from inside.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * Numbers of the kernel: 0xb701 is NS_GET_USERNS, 0x10000000 and 0x40000000 the user and network namespace, capability
 * 10 CAP_NET_BIND_SERVICE; prctl 47 with 2 raises an ambient capability. The message over netlink adds the route `local
 * 0.0.0.0/0 dev lo table local`; 17 says that it exists. System calls: setns, capset, prctl.
 */
const perl = `use strict; use Config; my $m = $Config{archname};
my ($setns, $capset, $prctl) = $m =~ /^x86_64/ ? (308, 126, 157) : $m =~ /^(aarch64|riscv64|loongarch64)/ ? (268, 91, 167)
  : die "unknown processor\\n";
my $pid = shift;
open(my $net, "<", "/proc/$pid/ns/net") or die "network: $!\\n";
my $user = ioctl($net, 0xb701, 0) or die "its owner: $!\\n";
syscall($setns, $user + 0, 0x10000000) == 0 or die "user namespace: $!\\n";
syscall($setns, fileno($net), 0x40000000) == 0 or die "network namespace: $!\\n";
socket(my $s, 16, 3, 0) or die "netlink: $!\\n";
send($s, pack("LSSLL C8L SSL SSL", 44, 24, 0x505, 1, 0, 2, 0, 0, 0, 255, 2, 254, 2, 0, 8, 4, 1, 8, 15, 255), 0,
  pack("SSLL", 16, 0, 0, 0));
recv($s, my $r, 4096, 0); my $e = -unpack("x16 l", $r);
$e == 0 || $e == 17 or die "route: error $e\\n";
my $h = pack("LL", 0x20080522, 0); my $d = pack("L6", 1024, 1024, 1024, 0, 0, 0);
syscall($capset, $h, $d) == 0 or die "capabilities: $!\\n";
syscall($prctl, 47, 2, 10, 0, 0) == 0 or die "ambient capability: $!\\n";
$^F = 2; close($s); exec { $ARGV[0] } @ARGV or die "door: $!\\n";`;

const python = `import ctypes, fcntl, os, platform, socket, struct, sys
m = platform.machine()
if m == "x86_64": capset, prctl = 126, 157
elif m in ("aarch64", "riscv64", "loongarch64"): capset, prctl = 91, 167
else: sys.exit("unknown processor")
c = ctypes.CDLL(None, use_errno=True)
def must(what, result):
    if result != 0: sys.exit(what + ": " + os.strerror(ctypes.get_errno()))
net = os.open("/proc/" + sys.argv[1] + "/ns/net", os.O_RDONLY | os.O_CLOEXEC)
user = fcntl.ioctl(net, 0xB701, 0)
must("user namespace", c.setns(user, 0x10000000))
must("network namespace", c.setns(net, 0x40000000))
s = socket.socket(16, 3, 0)
s.send(struct.pack("=LHHLL8BL HHL HHL".replace(" ", ""), 44, 24, 0x505, 1, 0, 2, 0, 0, 0, 255, 2, 254, 2, 0, 8, 4, 1, 8, 15, 255))
e = -struct.unpack("=i", s.recv(4096)[16:20])[0]
if e not in (0, 17): sys.exit("route: " + os.strerror(e))
must("capabilities", c.syscall(capset, struct.pack("=LL", 0x20080522, 0), struct.pack("=6L", 1024, 1024, 1024, 0, 0, 0)))
must("ambient capability", c.syscall(prctl, 47, 2, 10, 0, 0))
os.close(user)
os.execv(sys.argv[2], sys.argv[2:])`;

/** System folders in which the interpreters are looked for: never PATH, which a workspace may have a part in. */
const folders = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** Returns the program and its first arguments; undefined when this machine has neither Perl nor Python. */
function interpreter(): { command: string; args: string[] } | undefined {
  const known = [
    { name: "perl", args: ["-e", perl] },
    { name: "python3", args: ["-I", "-c", python] },
  ];
  for (const { name, args } of known)
    for (const folder of folders) {
      const command = `${folder}/${name}`;
      if (isProgram(command)) return { command, args };
    }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Starts a door in the network of the process `pid` (as this side counts). Throws when neither Perl nor Python is here.
 * What it cannot do it says on standard error.
 */
export function startDoor(pid: number, args: readonly string[]): ChildProcess {
  const found = interpreter();
  if (!found) throw new Error("neither perl nor python3 is in the system folders: install one of them");
  // Nothing of our environment: it holds secrets, and may name programs and options for Node and Perl.
  // In the bundle the door is a file beside this one.
  const file = import.meta.url.endsWith(".ts") ? "./door.ts" : "./door.js";
  const door = fileURLToPath(new URL(file, import.meta.url));
  return spawn(found.command, [...found.args, String(pid), process.execPath, door, ...args], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {},
    cwd: "/",
  });
}
