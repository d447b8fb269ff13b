/**
 * The profile of macOS's sandbox for a plan, as text. It was written from the system's own profiles and those that
 * other agents publish, and has not been run on a Mac: docs/security.md says so. Pure.
 */

import type { SandboxPlan, SandboxStatus } from "../core/sandbox.ts";
import { parentOf } from "../permissions/paths.ts";

export type SeatbeltOptions = {
  /** The terminal of the shell, by path; the only one that it may open. */
  terminal?: string | undefined;
  /** The port of our proxy on this machine: the only one that can be connected to. */
  proxyPort?: number | undefined;
};

/** Absolute path of the program: one that is first in `PATH` is not taken. */
const seatbeltProgram = "/usr/bin/sandbox-exec";

/** Returns the words that run `command` under the profile in a file. */
export function seatbeltWords(profileFile: string, command: readonly string[]): string[] {
  return [seatbeltProgram, "-f", profileFile, ...command];
}

/** Describes the walls, as the profile has them. */
export function seatbeltStatus(proxyPort: number | undefined): SandboxStatus {
  const network = proxyPort === undefined ? "off" : "proxy";
  return { engine: "seatbelt", files: true, hidden: true, processes: true, network };
}

/** Named settings of the kernel that language runtimes read at their start. */
const sysctls =
  "hw.activecpu hw.byteorder hw.cacheconfig hw.cachelinesize hw.cpufamily hw.cputype hw.l1dcachesize hw.l1icachesize hw.l2cachesize " +
  "hw.l3cachesize hw.logicalcpu hw.logicalcpu_max hw.machine hw.memsize hw.model hw.ncpu hw.nperflevels hw.packages hw.pagesize " +
  "hw.physicalcpu hw.physicalcpu_max hw.tbfrequency hw.vectorunit kern.argmax kern.bootargs kern.hostname kern.maxfilesperproc " +
  "kern.maxproc kern.ngroups kern.osproductversion kern.osrelease kern.ostype kern.osversion kern.secure_kernel kern.usrstack64 " +
  "kern.version machdep.cpu.brand_string sysctl.proc_cputype vm.loadavg";

/**
 * Services that look up users and groups, the time zone and preferences; none that starts programs or shows windows.
 */
const services =
  "com.apple.system.opendirectoryd.libinfo com.apple.system.opendirectoryd.membership com.apple.bsd.dirhelper " +
  "com.apple.system.notification_center com.apple.system.logger com.apple.logd com.apple.cfprefsd.daemon com.apple.cfprefsd.agent " +
  "com.apple.diagnosticd com.apple.analyticsd com.apple.PowerManagement.control";

const devices = "null zero random urandom dtracehelper tty ptmx fd stdin stdout stderr".split(" ");

/**
 * Returns the profile. What stands later in it decides, so walls come after what they are built into. Paths are
 * compared without regard to case where they protect, as the file systems of macOS compare them.
 */
export function seatbeltProfile(plan: SandboxPlan, { terminal, proxyPort }: SeatbeltOptions = {}): string {
  const hidden = [...plan.hidden, ...plan.withoutTokens];
  const shown = plan.readOnly.filter((path) => hidden.some((one) => path.startsWith(`${one}/`)));
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec)",
    "(allow process-fork)",
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow pseudo-tty)",
    "(allow ipc-posix-sem)",
    "(allow ipc-posix-shm*)",
    "(allow user-preference-read)",
    ...list(
      "allow sysctl-read",
      sysctls.split(" ").map((name) => `(sysctl-name ${quoted(name)})`),
    ),
    ...list(
      "allow mach-lookup",
      services.split(" ").map((name) => `(global-name ${quoted(name)})`),
    ),
    "(allow file-read*)",
    ...list("deny file-read*", hidden.map(folded)),
    ...list("allow file-read*", shown.map(subpath)),
    ...list("allow file-read-metadata", [...new Set(shown.map(parentOf))].map(literal)),
    ...list("allow file-write*", plan.writable.map(subpath)),
    ...list(
      "allow file-write*",
      devices.map((name) => literal(`/dev/${name}`)),
    ),
    ...list("deny file-write*", [...plan.readOnly, ...plan.watched, ...hidden].map(folded)),
    ...list("deny file-write-unlink", plan.pinned.map(literal)),
    ...list("allow file-read* file-write* file-ioctl", terminal === undefined ? [] : [literal(terminal)]),
    ...list(
      "allow network-outbound",
      plan.sockets.pass.map((path) => `(remote unix-socket ${literal(path)})`),
    ),
    ...list(
      "allow network-outbound",
      proxyPort === undefined ? [] : [`(remote ip ${quoted(`localhost:${proxyPort}`)})`],
    ),
    ...list("allow network-bind network-inbound", ['(local ip "localhost:*")']),
    "",
  ].join("\n");
}

/** Returns a rule over several targets; nothing where there are none, since a rule without one would be about all. */
function list(rule: string, targets: readonly string[]): string[] {
  return targets.length === 0 ? [] : [`(${rule}\n  ${targets.join("\n  ")})`];
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

/** Covers a path and all below it in any letter case. */
function folded(path: string): string {
  const letters = [...path].map((letter) => {
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
    if (lower !== upper && lower.length === upper.length) return `[${lower}${upper}]`;
    return /[\\^$.|?*+()[\]{}]/.test(letter) ? `\\${letter}` : letter;
  });
  return `(regex #${quoted(`^${letters.join("")}(/|$)`, false)})`;
}

/** Quotes a text. `escaped`: backslashes stand for themselves, which in a raw pattern they do anyway. */
function quoted(text: string, escaped = true): string {
  const plain = escaped ? text.replaceAll("\\", "\\\\") : text;
  return `"${plain.replaceAll('"', '\\"')}"`;
}
