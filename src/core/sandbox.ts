/** A session's sandbox as data: its engine, its walls, and the plan that they enforce. Pure. */

/** `auto` uses the best engine that works, `on` insists on one that holds every wall, `off` uses none. */
export const sandboxChoices = ["auto", "on", "off"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

export type SandboxEngine = "namespaces" | "seatbelt" | "landlock" | "none";

/** How connections leave: by names served inside, by proxy variables, not at all, or unrestricted. */
export type NetworkWall = "names" | "proxy" | "off" | "open";

/** The engine in use and the walls it enforces. `hidden`: files that cannot even be read. */
export type SandboxStatus = {
  engine: SandboxEngine;
  version?: string;
  files: boolean;
  hidden: boolean;
  processes: boolean;
  network: NetworkWall;
  /** Why no better engine was used. */
  reason?: string;
  /** The person wants none. */
  isOff?: true;
};

/** Returns true when files, secrets, processes and network are all walled off: what runs inside needs no question. */
export function isFullSandbox({ files, hidden, processes, network }: SandboxStatus): boolean {
  return files && hidden && processes && network !== "open";
}

export type HostGrant = "fetch" | "full";

/** A rule on a host. `name`: canonical; "*" and "*.x" are patterns. Without a port: 22, 80 and 443. */
export type HostRule = {
  kind: "allow" | "deny";
  name: string;
  port?: number;
  grant: HostGrant;
  /** All text on the host is the person's own: reading it counts as no text from outside. */
  trusted?: true;
  text: string;
};

/**
 * The files, sockets, hosts and variables that commands may use. All paths are absolute and real. The deepest entry
 * that covers a path decides; among entries of the same path hidden beats read-only, and read-only beats writable. What
 * no entry covers can be read only.
 */
export type SandboxPlan = {
  writable: string[];
  readOnly: string[];
  /** Folders between a writable root and a read-only path, which must not be renamed. */
  pinned: string[];
  hidden: string[];
  /** Hidden settings files of package managers that commands see without their tokens. */
  withoutTokens: string[];
  /** Names below a writable root that other programs would run and that do not exist yet. */
  watched: string[];
  /** Sockets of the machine, by path. */
  sockets: { mask: string[]; pass: string[] };
  hosts: HostRule[];
  /** Ports of the sandbox that the machine can reach. */
  ports: number[];
  /** Devices that are passed in, by path. */
  devices: string[];
  environment: { pass: string[]; drop: string[] };
  /** The rule or the built-in list that put an entry there, by path, for people. */
  why: Record<string, string>;
};

/** Listens to a sandbox that runs. */
export type BoxListener = {
  /** Receives what the shell writes to its standard output. */
  bytes(bytes: Uint8Array): void;
  /** The shell has ended, with the status as bash counts it. */
  shellEnded(status: number): void;
  /** The sandbox itself has ended, with everything in it. */
  ended(): void;
};

/** A running sandbox. A keeper in it starts shells, one after the other; what they leave behind lives on. */
export type Box = {
  /** Pid, on the machine, of the keeper: every process inside descends from it. */
  pid: number;
  /** Path inside of the terminal, if it has one. */
  terminal: string | undefined;
  /** Starts a shell that reads `init` first; the one before has ended. */
  startShell(init: string): void;
  /** Writes to the standard input of the shell. */
  send(lines: string): void;
  /** Replaces the listener. */
  listen(listener: BoxListener): void;
  isAlive(): boolean;
  /** Ends everything inside at once. */
  kill(): void;
};

/** Opens sandboxes for the shell of a session. */
export type Sandbox = {
  /** True when everything in a sandbox ends with it, at the latest with our process. */
  endsAll: boolean;
  /** Starts a sandbox by the plan of now. `terminal`: path of a terminal device. Throws when it cannot start. */
  open(start: { terminal: string | undefined; env: Readonly<Record<string, string>> }): Promise<Box>;
  /** Returns true while the plan that `box` was opened with is still the plan. */
  isCurrent(box: Box): boolean;
  /**
   * Closes sockets of the machine that appeared since `box` was opened, and looks for new ones often from now on. Never
   * rejects.
   */
  closeLate(box: Box): Promise<void>;
  /** Looks for such sockets seldom from now on: no command runs. */
  calm(box: Box): void;
  /** Returns the plan of now. */
  plan(): SandboxPlan;
  /** Returns the path on the machine of a path inside, which differs for temporary files. */
  hostPath(path: string): string;
};
