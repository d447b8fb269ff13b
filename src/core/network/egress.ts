/**
 * Connections that a session's commands made or wanted to make, as the log keeps them, and the words for them. Pure.
 */

/** Why a connection was not made, or was cut. */
export type EgressReason =
  /** A deny rule names the host. */
  | "rule"
  /** No rule names the host, and nobody allowed it. */
  | "unknown"
  /** A rule names the host, on other ports. */
  | "port"
  /** An address, or a service of this machine, that no rule names. */
  | "address"
  | "machine"
  /** The host's spelling is odd. */
  | "malformed"
  /** It has no address, or cannot be reached. */
  | "unresolved"
  | "unreachable"
  /** All its addresses belong to this machine or to a private network. */
  | "inner_address"
  /** The connection names another host inside: in its TLS greeting or in the Host header. */
  | "other_name"
  /** It does not speak the protocol of its port. */
  | "protocol"
  /** More was sent than a host may get that is only fetched from. */
  | "budget"
  /** The session has read private data and text from outside, and nobody confirmed. */
  | "exposure"
  /** In plan mode nobody is asked. */
  | "plan"
  /** The question about it was shown, and not answered in time. */
  | "unanswered"
  /** Its program gave it up, or the session ended, before there was an answer. */
  | "withdrawn"
  /** Too many connections at once. */
  | "crowded";

/** Connections of one command to one host and port. */
export type Egress = {
  /** Canonical: a name, or an address without brackets. */
  host: string;
  /** 0: only its name was asked for. */
  port: number;
  /** `cut`: it was allowed, and ended by us. */
  decision: "allow" | "deny" | "cut";
  reason?: EgressReason;
  /** The rule's text, or the answer that allowed it; absent where no rule applies. */
  rule?: string;
  /** A person marked the host's text as their own. */
  trusted?: true;
  /** `tool_use` id of the call, or `job <pid>`; absent where the process was gone before it could be looked up. */
  command?: string;
  /** Command line, at most 80 characters. */
  program?: string;
  /** Bytes of the streams, as the other end counts them. */
  bytesUp: number;
  bytesDown: number;
  connections: number;
  /** From the first connection to the end of the last, in milliseconds. */
  ms: number;
};

const reasons: Record<EgressReason, string> = {
  rule: "a rule denies it",
  unknown: "it is not on the list of hosts",
  port: "the list of hosts has it on other ports only",
  address: "an address needs a rule of its own",
  machine: "a service of this machine needs a rule with its port",
  malformed: "its name is written oddly",
  unresolved: "it has no address",
  unreachable: "it did not answer",
  inner_address: "its name leads to this machine or to a private network",
  other_name: "the connection asked for another host",
  protocol: "the connection did not speak the protocol of its port",
  budget: "more was sent than a host may get that is only fetched from",
  exposure: "the session has read private data and text from outside",
  plan: "plan mode connects only to hosts on the list",
  unanswered: "nobody answered the question about it in time",
  withdrawn: "the program gave up before anybody answered the question about it",
  crowded: "there were too many connections at once",
};

/** Returns `host:port`; the host alone where only its name was asked for. */
export function hostText({ host, port }: Pick<Egress, "host" | "port">): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return port === 0 ? shown : `${shown}:${port}`;
}

/** Returns a number of bytes for people: `1.9 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [size, unit] =
    bytes < 1e6 ? [bytes / 1e3, "kB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

/** Returns why a connection was refused or cut, for people; undefined for one that was not. */
export function egressReason({ reason }: Pick<Egress, "reason">): string | undefined {
  return reason && reasons[reason];
}

/** Returns one entry in a line: `api.example.com:443 got 1.2 kB and sent 40 kB`. */
export function egressText(entry: Egress): string {
  const { decision, reason, bytesUp, bytesDown } = entry;
  const moved = `sent ${formatBytes(bytesUp)}, received ${formatBytes(bytesDown)}`;
  const why = reason ? `: ${reasons[reason]}` : "";
  if (decision === "allow") return `${hostText(entry)} ${moved}`;
  return decision === "deny"
    ? `no connection to ${hostText(entry)}${why}`
    : `the connection to ${hostText(entry)} was cut${why} (${moved})`;
}

/**
 * Returns what the model reads about an entry that was not simply allowed, with the rule that would have allowed it;
 * undefined for one that was. `asked`: somebody is there to be asked.
 */
export function egressNote(entry: Egress, asked: boolean): string | undefined {
  const { decision, reason, bytesUp, bytesDown } = entry;
  if (decision === "allow") return undefined;
  const needed = hostRule(entry);
  const way = needed === undefined ? "" : `. It would be allowed by --allow '${needed}'.`;
  return `sandbox: ${refusal()}${way}`;

  function refusal(): string {
    const host = hostText(entry);
    switch (reason) {
      case "unknown":
      case "port":
        return `${host} is not on the list of hosts; ${asked ? "the person did not allow it" : "nobody is here to be asked"}`;
      case "budget":
        return (
          `${entry.host} may only be fetched from; the connection was cut when it wanted to send more than that ` +
          `(it had sent ${formatBytes(bytesUp)} and received ${formatBytes(bytesDown)})`
        );
      case "address":
        return `${host} cannot be reached: only names on the list of hosts, on ports 22, 80, 443 and those of rules`;
      case "exposure":
        return asked
          ? `the person did not let this command send to ${host}`
          : `${host} may be sent to, but this session has read private data and text from outside, and nobody is here to be asked`;
      case "rule":
        return `${egressText(entry)} (${entry.rule ?? "unknown"})`;
      default:
        return egressText(entry);
    }
  }
}

/** Returns the rule that would have allowed the connection; undefined where no single rule would. */
export function hostRule(entry: Egress): string | undefined {
  switch (entry.reason) {
    case "unknown":
    case "port":
    case "address":
    case "unanswered":
    case "withdrawn":
      return `host(${patternOf(entry)})`;
    case "machine":
    case "budget":
      return `host(${patternOf(entry)} full)`;
    default:
      return undefined;
  }
}

/** The pattern of the rule that would allow the host: the port is named unless it is a usual one. */
function patternOf({ host, port }: Egress): string {
  return port === 0 || [22, 80, 443].includes(port) ? hostText({ host, port: 0 }) : hostText({ host, port });
}

/** Returns the ledger: the connections of each command to each host, folded, in the order in which they began. */
export function foldEgress(entries: readonly Egress[]): Egress[] {
  const folded = new Map<string, Egress>();
  for (const entry of entries) {
    const key = egressKey(entry);
    const known = folded.get(key);
    folded.set(key, known ? addEgress(known, entry) : entry);
  }
  return [...folded.values()];
}

/** Entries with the same key are one line of the ledger: a command may start a program a thousand times. */
export function egressKey(entry: Egress): string {
  const { host, port, decision, reason, rule, trusted, command, program } = entry;
  return JSON.stringify([host, port, decision, reason, rule, trusted, command ?? program]);
}

/** Adds up two entries of the same line. */
export function addEgress(one: Egress, other: Egress): Egress {
  return {
    ...one,
    bytesUp: one.bytesUp + other.bytesUp,
    bytesDown: one.bytesDown + other.bytesDown,
    connections: one.connections + other.connections,
    ms: one.ms + other.ms,
  };
}
