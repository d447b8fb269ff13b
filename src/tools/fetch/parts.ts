/** The parts of a session that fetching uses: its log, its rules and its network, as the tool sees them. */

import type { Duplex } from "node:stream";
import type { EgressReason } from "../../core/network/egress.ts";

/** A connection that a fetch wants. `call`: id of the call. */
export type WantedConnection = {
  host: string;
  port: number;
  url: string;
  call: string;
  /** Only the model has written the address. */
  invented: boolean;
  /** A person allowed this call when asked. */
  confirmed: boolean;
};

/** A connection whose bytes are counted, or why there is none. */
export type PageConnection = { upstream: Duplex; meter: { isCut(): boolean } } | { refused: EgressReason };

/** Decides and connects; the attempt and the connection end with the signal. */
export type ConnectForPage = (wanted: WantedConnection, signal: AbortSignal) => Promise<PageConnection>;

/** Questions to the session, and its way to the network. */
export type FetchParts = {
  /** Returns true for an address that only the model has written. */
  isInvented(url: string): boolean;
  /** Returns true when a person, or a program in their place, allowed this call when asked. */
  isConfirmed(toolUseId: string): boolean;
  /** Returns true when the text has a known secret in it. */
  holdsSecret(text: string): boolean;
  connect: ConnectForPage;
  /** Writes the connections so far into the log. */
  flush(): void;
};

/** Bounds of a fetch; the usual ones by default. */
export type FetchLimits = { ms: number; bytes: number };
