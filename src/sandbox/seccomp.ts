/**
 * The filter of system calls: no new namespaces, mounts, keys or kernel interfaces, and four families of sockets. Pure.
 */

type Calls = Readonly<Record<string, number>>;
type Machine = { audit: number; calls: Calls; hasX32: boolean };

/** System calls that fail with EPERM, by number. */
const x64: Calls = {
  mount: 165,
  umount2: 166,
  pivot_root: 155,
  unshare: 272,
  setns: 308,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  bpf: 321,
  perf_event_open: 298,
  userfaultfd: 323,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  keyctl: 250,
  add_key: 248,
  request_key: 249,
  kexec_load: 246,
  kexec_file_load: 320,
  open_by_handle_at: 304,
  init_module: 175,
  finit_module: 313,
  delete_module: 176,
  swapon: 167,
  swapoff: 168,
  reboot: 169,
  sethostname: 170,
  setdomainname: 171,
  quotactl: 179,
  acct: 163,
  settimeofday: 164,
  clock_settime: 227,
  syslog: 103,
  iopl: 172,
  ioperm: 173,
};
const arm64: Calls = {
  mount: 40,
  umount2: 39,
  pivot_root: 41,
  unshare: 97,
  setns: 268,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  mount_setattr: 442,
  bpf: 280,
  perf_event_open: 241,
  userfaultfd: 282,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  keyctl: 219,
  add_key: 217,
  request_key: 218,
  kexec_load: 104,
  kexec_file_load: 294,
  open_by_handle_at: 265,
  init_module: 105,
  finit_module: 273,
  delete_module: 106,
  swapon: 224,
  swapoff: 225,
  reboot: 142,
  sethostname: 161,
  setdomainname: 162,
  quotactl: 60,
  acct: 89,
  settimeofday: 170,
  clock_settime: 112,
  syslog: 116,
};

const machines: Readonly<Record<string, Machine & { socket: number; clone: number; ioctl: number }>> = {
  x64: { audit: 0xc000003e, calls: x64, hasX32: true, socket: 41, clone: 56, ioctl: 16 },
  arm64: { audit: 0xc00000b7, calls: arm64, hasX32: false, socket: 198, clone: 220, ioctl: 29 },
};

const clone3 = 435;
/** Flags of clone(2) that make a namespace. */
const newNamespaces = 0x7e02_0000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const families = [1, 2, 10, 16];
/** Requests of ioctl(2) that put bytes into a terminal's input, or reach into the console. */
const [tiocsti, tioclinux] = [0x5412, 0x541c];
const [eperm, enosys, eafnosupport] = [1, 38, 97];

type Instruction = [code: number, jumpTrue: number, jumpFalse: number, operand: number];

/** Offsets in `struct seccomp_data`: the number, the architecture, the lower half of each argument. */
const offsets = { number: 0, audit: 4, first: 16, second: 24 };
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const equal = (value: number, jumpTrue: number, jumpFalse: number): Instruction => [
  0x15,
  jumpTrue,
  jumpFalse,
  value,
];
const atLeast = (value: number, jumpTrue: number, jumpFalse: number): Instruction => [
  0x35,
  jumpTrue,
  jumpFalse,
  value,
];
const hasBits = (bits: number, jumpTrue: number, jumpFalse: number): Instruction => [
  0x45,
  jumpTrue,
  jumpFalse,
  bits,
];
const allow: Instruction = [0x06, 0, 0, 0x7fff_0000];
const killProcess: Instruction = [0x06, 0, 0, 0x8000_0000];
const fail = (error: number): Instruction => [0x06, 0, 0, 0x0005_0000 | error];

/** Returns the filter as bytes for `bwrap --seccomp`; undefined for an architecture that it does not know. */
export function seccompFilter(architecture: string): Buffer | undefined {
  const machine = Object.hasOwn(machines, architecture) ? machines[architecture] : undefined;
  if (!machine) return undefined;
  const { audit, calls, hasX32, socket, clone, ioctl } = machine;
  const program: Instruction[] = [
    load(offsets.audit),
    equal(audit, 1, 0),
    // Programs of another architecture have other numbers.
    killProcess,
    load(offsets.number),
    ...(hasX32 ? [atLeast(0x4000_0000, 0, 1), fail(enosys)] : []),
    // Its flags lie in memory, where a filter cannot look; libraries fall back to clone.
    equal(clone3, 0, 1),
    fail(enosys),
    ...Object.values(calls).flatMap((number) => [equal(number, 0, 1), fail(eperm)]),
    ...when(clone, [load(offsets.first), hasBits(newNamespaces, 0, 1), fail(eperm), allow]),
    ...when(ioctl, [load(offsets.second), equal(tiocsti, 1, 0), equal(tioclinux, 0, 1), fail(eperm), allow]),
    ...when(socket, [
      load(offsets.first),
      ...families.map((family, index) => equal(family, families.length - index, 0)),
      fail(eafnosupport),
      allow,
    ]),
    allow,
  ];
  return assembled(program);
}

function when(number: number, then: Instruction[]): Instruction[] {
  return [equal(number, 0, then.length), ...then];
}

function assembled(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, jumpTrue, jumpFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
