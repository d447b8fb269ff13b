/**
 * Landlock, the sandbox where bubblewrap cannot start: the kernel's own wall around files and signals, which a program
 * builds around itself. Node cannot make the calls, so a few lines of Perl or Python do, and then become the command.
 * It hides the content of files but not their names, masks no sockets, and leaves the network as it is.
 */

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import type { SandboxPlan, SandboxStatus } from "../core/sandbox.ts";
import { interpreterIn, systemFolders } from "../disk/interpreter.ts";
import { isInside } from "../permissions/paths.ts";

/**
 * A way into Landlock. `abi`: the version of its interface; `words`: an interpreter (absolute path), and its program.
 */
export type Landlock = { abi: number; words: string[] };

/** The smallest version that guards every write: before 3 a file that is closed to writing can be truncated. */
const leastAbi = 3;
/** Numbers of `prctl`; those of Landlock are the same on all of them. */
const prctlNumbers: Readonly<Record<string, number>> = {
  ...{ x64: 157, ia32: 172, arm: 172, arm64: 167, riscv64: 167, loong64: 167, ppc64: 171, s390x: 172 },
};

/**
 * Rights are bits of landlock(7): 0xd reads and runs, 0x8 lists names, 0x840 makes devices, which nobody may. Of the
 * rights that root has, those are dropped that reach around the wall: other processes, raw disks, kernel modules.
 */
const perl = `
use strict; my ($prctl, $rules, @command) = @ARGV;
my $abi = syscall(444, 0, 0, 1);
if (!@command) { print $abi < 0 ? 0 : $abi; exit 0 }
my $all = (1 << ($abi >= 5 ? 16 : $abi >= 3 ? 15 : 14)) - 1;
my $of = { d => 0x8, r => 0xd, w => $all & ~0x840 }; my $file = 0x7 | $all & 0xc000;
my $attr = pack("QQQ", $all, 0, $abi >= 6 ? 3 : 0);
my $set = syscall(444, $attr, $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8, 0);
$set >= 0 or die "landlock: no rule set: $!\\n";
open(my $in, "<", $rules) or die "landlock: $rules: $!\\n"; local $/ = "\\0";
while (my $entry = <$in>) { chomp $entry; my ($kind, $path) = split / /, $entry, 2;
  sysopen(my $at, $path, 0x200000) or next;
  my $rule = pack("Ql", $of->{$kind} & (-d $at ? $all : $file), fileno $at);
  syscall(445, $set, 1, $rule, 0) == 0 or die "landlock: $path: $!\\n"; }
syscall($prctl, 24, $_, 0, 0, 0) for (2, 16, 17, 19, 21, 27, 38, 39);
syscall($prctl, 38, 1, 0, 0, 0) == 0 && syscall(446, $set, 0) == 0 or die "landlock: not entered: $!\\n";
exec { $command[0] } @command or die "landlock: $command[0]: $!\\n";
`;

/** The same for python3. */
const python = `
import ctypes, os, stat, struct, sys
prctl, rules, command = int(sys.argv[1]), (sys.argv + [""])[2], sys.argv[3:]
call = ctypes.CDLL(None, use_errno=True).syscall
def done(result, what):
    if result < 0: sys.exit("landlock: %s: %s" % (what, os.strerror(ctypes.get_errno())))
    return result
abi = call(444, None, 0, 1)
if not command: sys.stdout.write(str(max(abi, 0))); sys.exit(0)
all = (1 << (16 if abi >= 5 else 15 if abi >= 3 else 14)) - 1
of = {b"d": 0x8, b"r": 0xd, b"w": all & ~0x840}; file = 0x7 | all & 0xc000
attr = struct.pack("QQQ", all, 0, 3 if abi >= 6 else 0)
set = done(call(444, attr, 24 if abi >= 6 else 16 if abi >= 4 else 8, 0), "no rule set")
for entry in open(rules, "rb").read().split(b"\\0")[:-1]:
    kind, path = entry.split(b" ", 1)
    try: at = os.open(path, os.O_PATH)
    except OSError: continue
    rights = of[kind] & (all if stat.S_ISDIR(os.fstat(at).st_mode) else file)
    done(call(445, set, 1, struct.pack("=Qi", rights, at), 0), os.fsdecode(path)); os.close(at)
for right in (2, 16, 17, 19, 21, 27, 38, 39): call(prctl, 24, right, 0, 0, 0)
done(call(prctl, 38, 1, 0, 0, 0), "not entered"); done(call(446, set, 0), "not entered")
os.execvp(command[0], command)
`;

/** Finds out whether commands can be put behind Landlock; otherwise returns why not. Takes about 5 ms. */
export async function probeLandlock(
  { platform, arch }: Pick<NodeJS.Process, "platform" | "arch"> = process,
  folders: readonly string[] = systemFolders,
): Promise<Landlock | { reason: string }> {
  if (platform !== "linux") return { reason: "Landlock is a part of Linux" };
  const prctl = prctlNumbers[arch];
  if (prctl === undefined) return { reason: `Landlock is not known here on ${arch}` };
  const interpreter = interpreterIn({ perl, python }, folders);
  if (!interpreter) return { reason: "Landlock needs perl or python3, and neither is installed" };
  const words = [...interpreter, String(prctl)];
  const abi = await versionFrom(words);
  if (abi >= leastAbi) return { abi, words };
  return {
    reason: abi > 0 ? `Landlock has version ${abi} here, and 3 is needed` : "this kernel has no Landlock",
  };
}

/** Describes the walls. The network is as the machine has it, and so no question is dropped. */
export function landlockStatus({ abi }: Landlock): SandboxStatus {
  return {
    ...{ engine: "landlock", version: String(abi), files: true, hidden: true },
    ...{ processes: abi >= 6, network: "open" },
  };
}

/** Returns the part of a plan that Landlock enforces: it closes nothing in a writable folder, and no connection. */
export function landlockPart(plan: SandboxPlan): SandboxPlan {
  const readOnly = plan.readOnly.filter((path) => plan.hidden.some((one) => isInside(path, one)));
  return { ...plan, readOnly, pinned: [], sockets: { mask: [], pass: [] }, hosts: [], ports: [] };
}

/** Returns true when all that is hidden can be left out: below a writable folder nothing can. */
export function canHide({ hidden, withoutTokens, writable }: SandboxPlan): boolean {
  return ![...hidden, ...withoutTokens].some((path) => writable.some((root) => isInside(path, root)));
}

/**
 * Returns the words that run `command` behind the rules in a file, as `rulesText` gives.
 */
export function landlockWords({ words }: Landlock, rulesFile: string, command: readonly string[]): string[] {
  return [...words, rulesFile, ...command];
}

/** `names`: entries of a folder may be listed, but not read; `read`: also run; `write`: everything. Absolute paths. */
export type LandlockRule = { allow: "names" | "read" | "write"; path: string };

/** Devices that programs write to without harm, and their terminals. */
const devices = "null zero full random urandom tty ptmx pts shm".split(" ").map((name) => `/dev/${name}`);

/**
 * Returns what a plan allows. Landlock can only allow, so what is hidden is left out of a list of all that lies beside
 * it; and in a writable folder nothing is read-only: such paths are looked at after each command instead.
 */
export function landlockRules(plan: SandboxPlan, entries: (folder: string) => string[]): LandlockRule[] {
  const hidden = [...plan.hidden, ...plan.withoutTokens];
  const isShown = (path: string) => hidden.some((one) => isInside(path, one));
  const rule = (allow: LandlockRule["allow"]) => (path: string) => ({ allow, path });
  return [
    rule("names")("/"),
    ...besides(["/"], [...hidden, "/dev"], entries).map(rule("read")),
    ...plan.readOnly.filter(isShown).map(rule("read")),
    ...[...plan.writable, ...devices, ...plan.devices].map(rule("write")),
  ];
}

/** Returns the folders and files below `folders` that hold nothing of `hidden`, each as high up as it goes. */
function besides(
  folders: readonly string[],
  hidden: readonly string[],
  entries: (folder: string) => string[],
): string[] {
  return folders.flatMap((folder) => {
    if (hidden.some((path) => isInside(folder, path))) return [];
    if (!hidden.some((path) => isInside(path, folder))) return [folder];
    const below = entries(folder).map((name) => (folder === "/" ? `/${name}` : `${folder}/${name}`));
    return besides(below, hidden, entries);
  });
}

/**
 * Returns the entries of a folder without links, which lead to what is listed where it lies, or is hidden there; none
 * where it cannot be listed.
 */
export function entriesOf(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isSymbolicLink()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Returns the rules as the program reads them: a letter and a path each, ended by a NUL byte. */
export function rulesText(rules: readonly LandlockRule[]): string {
  const letters = { names: "d", read: "r", write: "w" } as const;
  return rules.map(({ allow, path }) => `${letters[allow]} ${path}\0`).join("");
}

/** Asks the kernel for its version of Landlock; 0 where it has none, or where the program does not run. */
function versionFrom([program = "", ...words]: readonly string[]): Promise<number> {
  return new Promise((answer) => {
    execFile(program, words, { env: {}, timeout: 10_000 }, (error, text) =>
      answer(error ? 0 : Number(text) || 0),
    );
  });
}
