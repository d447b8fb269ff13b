/** The way of messages to a server and back. Types only. */

import type { Transport } from "@modelcontextprotocol/client";

export type Channel = {
  transport: Transport;
  /** Returns what went wrong on the way, as the end of a sentence; empty when nothing did. */
  trouble(): string;
  /** Returns true when the server ended of itself: its program exited, or was stopped for what it sent. */
  hasEnded(): boolean;
  /** Takes notice of an error of a call. */
  heard?(error: unknown): void;
  /** Closes the way, and ends the server where it is a program. Never rejects. */
  end(): Promise<void>;
};
