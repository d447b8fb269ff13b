/** Describes a sandbox in one line: its engine and its walls. Pure. */

import type { SandboxEngine, SandboxStatus } from "../sandbox.ts";

/** Names of engines, as people know them. */
export const engineNames: Record<SandboxEngine, string> = {
  namespaces: "bubblewrap",
  seatbelt: "sandbox-exec",
  landlock: "Landlock",
  none: "none",
};

const networks = {
  names: "network by name",
  proxy: "network by proxy",
  off: "no network",
  open: "network open",
} as const;

/** Describes the sandbox: `sandbox: bubblewrap 0.8.0 (files, secrets, processes; no network)`. */
export function sandboxText(status: SandboxStatus): string {
  const { engine, version, files, hidden, processes, network, reason } = status;
  if (engine === "none") return `no sandbox${reason ? `: ${reason}` : ""}`;
  const walls = [
    ...(files ? ["files"] : []),
    ...(hidden ? ["secrets"] : []),
    ...(processes ? ["processes"] : []),
  ];
  const because = reason ? `; ${reason}` : "";
  return `sandbox: ${engineNames[engine]}${version ? ` ${version}` : ""} (${walls.join(", ")}; ${networks[network]}${because})`;
}
