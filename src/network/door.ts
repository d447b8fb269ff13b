/**
 * The door into the network of a sandbox: a helper that enters it, listens or connects there, and hands its sockets over
 * to us. Only a process of one thread may enter the namespaces, which Node is not, and a second Node would take most of
 * the time of a first command: so it is a few lines of Perl, or else Python, that speak the protocol of Node's own
 * channel, a line of JSON with the socket beside it. Nothing of it can be reached from inside.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { interpreterIn } from "../disk/interpreter.ts";

/** The messages of the door; each but `failed` comes with its socket. */
export type DoorMessage =
  | { type: "names" }
  | { type: "port"; port: number }
  | { type: "connected"; id: number }
  | { type: "failed"; what: string; id?: number };

/**
 * Numbers of the kernel: 0xb701 is NS_GET_USERNS, 0x10000000 and 0x40000000 the user and network namespace. The message
 * over netlink adds the route `local 0.0.0.0/0 dev lo table local`, which leads every address to the loopback device; 17
 * says that it exists, 100 that the device is not up yet. Command 4 of fcntl makes the channel wait; option 2 allows an
 * address to be used again, 21 bounds the time of a connect. System calls: setns, sendmsg.
 */
const perl = `use strict; use Config; my $m = $Config{archname};
my ($setns, $sendmsg) = $m =~ /^x86_64/ ? (308, 46) : $m =~ /^(aarch64|riscv64|loongarch64)/ ? (268, 211)
  : die "unknown processor\\n";
my ($pid, $job, @places) = @ARGV; my ($text, $handed) = ("", 0);
open(my $channel, "+<&=", $ENV{NODE_CHANNEL_FD}) or die "channel: $!\\n"; fcntl($channel, 4, 0);
open(my $net, "<", "/proc/$pid/ns/net") or die "network: $!\\n";
my $user = ioctl($net, 0xb701, 0) or die "its owner: $!\\n";
syscall($setns, $user + 0, 0x10000000) == 0 or die "user namespace: $!\\n";
syscall($setns, fileno($net), 0x40000000) == 0 or die "network namespace: $!\\n";
sub at { my ($port, $host) = @_; pack("S n C4 x8", 2, $port, split(/\\./, $host)) }
sub line { my $end; while (($end = index($text, "\\n")) < 0) { sysread($channel, $text, 4096, length $text) or exit 0 }
  substr($text, 0, $end + 1, "") }
sub failed { my ($more) = @_; my $line = qq({"type":"failed","what":"$!"$more}\\n); syswrite($channel, $line) }
sub hand { my ($socket, $kind, $message) = @_; my $line = qq({"cmd":"NODE_HANDLE",$kind,"msg":{$message}}\\n);
  my $bytes = pack("PQ", $line, length $line); my $passed = pack("Qlllx4", 20, 1, 1, fileno $socket);
  my $head = pack("x16PQPQx8", $bytes, 1, $passed, 24); $handed++;
  syscall($sendmsg, fileno $channel, $head, 0) > 0 or die "handing over: $!\\n" }
if ($job eq "connect") { while (my $asked = line()) {
  my ($id, $port) = map { $asked =~ /"$_":(\\d+)/ } qw(id port); next unless $port;
  socket(my $s, 2, 1, 0) or die "socket: $!\\n";
  my $is4 = setsockopt($s, 1, 21, pack("qq", 5, 0)) && connect($s, at($port, "127.0.0.1"));
  $is4 || socket($s, 10, 1, 0) && connect($s, pack("S n x4 x15 C x4", 10, $port, 1))
    ? hand($s, '"type":"net.Socket"', qq("type":"connected","id":$id)) : failed(qq(,"id":$id)) } exit 0 }
socket(my $s, 16, 3, 0) or die "netlink: $!\\n";
my $e; for (1 .. 1000) {
  send($s, pack("LSSLL C8L SSL SSL", 44, 24, 0x505, 1, 0, 2, 0, 0, 0, 255, 2, 254, 2, 0, 8, 4, 1, 8, 15, 255), 0,
    pack("SSLL", 16, 0, 0, 0));
  recv($s, my $r, 4096, 0); $e = -unpack("x16 l", $r); last if $e != 100; select(undef, undef, undef, 0.005) }
$e == 0 || $e == 17 or die "route: error $e\\n";
if ($job eq "listen") { socket(my $names, 2, 2, 0); bind($names, at(53, "0.0.0.0")) or die "names: $!\\n";
  hand($names, '"type":"dgram.Socket","dgramType":"udp4"', '"type":"names"') }
for (@places) { my ($host, $port) = split /:/;
  socket(my $s, 2, 1, 0) or die "socket: $!\\n";
  setsockopt($s, 1, 2, 1) && bind($s, at($port, $host)) && listen($s, 1024)
    ? hand($s, '"type":"net.Server"', qq("type":"port","port":$port)) : failed("") }
line() for 1 .. $handed;`;

/** The same for python3. */
const python = `import ctypes, fcntl, json, os, socket, struct, sys, time
c = ctypes.CDLL(None, use_errno=True)
def must(what, result):
    if result != 0: sys.exit(what + ": " + os.strerror(ctypes.get_errno()))
pid, job, places = sys.argv[1], sys.argv[2], sys.argv[3:]
channel = socket.socket(fileno=int(os.environ["NODE_CHANNEL_FD"]))
channel.setblocking(True)
net = os.open("/proc/" + pid + "/ns/net", os.O_RDONLY)
user = fcntl.ioctl(net, 0xB701, 0)
must("user namespace", c.setns(user, 0x10000000))
must("network namespace", c.setns(net, 0x40000000))
lines = channel.makefile("rb")
handed = 0
def line(message): return (json.dumps(message) + "\\n").encode()
def failed(error, **more): channel.sendall(line({"type": "failed", "what": error.strerror or str(error), **more}))
def hand(s, kind, message):
    global handed
    handed += 1
    channel.sendmsg([line({"cmd": "NODE_HANDLE", **kind, "msg": message})], [(1, 1, struct.pack("=i", s.fileno()))])
if job == "connect":
    for asked in map(json.loads, lines):
        if "port" not in asked: continue
        try:
            try: s = socket.create_connection(("127.0.0.1", asked["port"]), 5)
            except OSError: s = socket.create_connection(("::1", asked["port"]), 5)
            hand(s, {"type": "net.Socket"}, {"type": "connected", "id": asked["id"]})
        except OSError as error: failed(error, id=asked["id"])
    sys.exit(0)
s = socket.socket(16, 3, 0)
for n in range(1000):
    s.send(struct.pack("=LHHLL8BL HHL HHL".replace(" ", ""), 44, 24, 0x505, 1, 0, 2, 0, 0, 0, 255, 2, 254, 2, 0, 8, 4, 1, 8, 15, 255))
    e = -struct.unpack("=i", s.recv(4096)[16:20])[0]
    if e != 100: break
    time.sleep(0.005)
if e not in (0, 17): sys.exit("route: " + os.strerror(e))
if job == "listen":
    names = socket.socket(2, 2)
    try: names.bind(("0.0.0.0", 53))
    except OSError as error: sys.exit("names: " + error.strerror)
    hand(names, {"type": "dgram.Socket", "dgramType": "udp4"}, {"type": "names"})
for place in places:
    host, port = place.split(":")
    try:
        s = socket.socket()
        s.setsockopt(1, 2, 1)
        s.bind((host, int(port)))
        s.listen(1024)
        hand(s, {"type": "net.Server"}, {"type": "port", "port": int(port)})
    except OSError as error: failed(error)
for n in range(handed): lines.readline()`;

/** Returns true when this machine has what a door is made of. */
export function canOpenDoors(): boolean {
  return interpreterIn({ perl, python }) !== undefined;
}

/**
 * Job of a door: listens at places (`address:port`) and for names, listens at more places, or connects to a port for each
 * message.
 */
export type DoorJob = ["listen" | "more", ...places: string[]] | ["connect"];

/**
 * Starts a door in the network of the process `pid` (as this side counts). With "listen" and "more" it hands everything over, and
 * ends; a place that is taken is left out. With "connect" it stays, and hands over a connection to a port inside for each
 * message. Throws when neither Perl nor Python is here. What it cannot do it says on standard error.
 */
export function startDoor(pid: number, job: DoorJob, folders?: readonly string[]): ChildProcess {
  const [command, ...args] = interpreterIn({ perl, python }, folders) ?? [];
  if (command === undefined)
    throw new Error("neither perl nor python3 is in the system folders: install one of them");
  // Nothing of our environment: it holds secrets, and may name programs and options for Perl.
  return spawn(command, [...args, String(pid), ...job], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {},
    cwd: "/",
  });
}
