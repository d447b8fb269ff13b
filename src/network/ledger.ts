/** Counts what connections move, and hands it over as entries of the ledger, folded per command and host. */

import { type Egress, type EgressReason, egressKey } from "../core/network/egress.ts";
import { type EgressBudget, withinBudget } from "../permissions/sandbox/budget.ts";

/** The facts of a connection when it is decided. */
export type Line = Pick<
  Egress,
  "host" | "port" | "decision" | "reason" | "rule" | "trusted" | "command" | "program"
>;

/** One connection that is counted. */
export type Meter = {
  /** Counts bytes on their way out; false when the host may not get them. */
  up(bytes: number): boolean;
  down(bytes: number): void;
  /** True once the connection was cut because of its budget. */
  isCut(): boolean;
  /** The connection is over; `reason`: why it was cut, if it was. Further calls change nothing. */
  end(reason?: EgressReason): void;
};

export type Ledger = {
  /** Opens the line of an allowed connection. `limited`: its host is only fetched from. */
  open(line: Line, limited: boolean): Meter;
  /** Notes a connection that was not made. */
  refuse(line: Line): void;
  /** Takes what happened since the last call. Lines of connections that are still open say what they moved so far. */
  take(): Egress[];
  /** Begins the budgets anew. */
  newTurn(): void;
};

/** Counted bytes and connections of one line since they were last taken. */
type Count = {
  line: Line;
  up: number;
  down: number;
  connections: number;
  since: number;
  until: number;
  open: number;
};

type State = {
  budget: EgressBudget;
  now: () => number;
  counts: Map<string, Count>;
  /** Bytes of this turn, by host. */
  moved: Map<string, { up: number; down: number }>;
};

export function createLedger(budget: EgressBudget, now: () => number): Ledger {
  const state: State = { budget, now, counts: new Map(), moved: new Map() };
  return {
    open: (line, limited) => openMeter(state, line, limited),
    refuse(line) {
      const count = countOf(state, line);
      count.connections += 1;
      count.until = now();
    },
    take() {
      const time = now();
      const counts = [...state.counts.values()];
      state.counts = new Map();
      return counts
        .filter(({ up, down, connections }) => up + down + connections > 0)
        .map(({ line, up, down, connections, since, until, open }) => ({
          ...line,
          ...{
            bytesUp: up,
            bytesDown: down,
            connections,
            ms: Math.max(0, (open > 0 ? time : until) - since),
          },
        }));
    },
    newTurn: () => state.moved.clear(),
  };
}

function countOf({ counts, now }: State, line: Line): Count {
  const key = egressKey({ ...line, bytesUp: 0, bytesDown: 0, connections: 0, ms: 0 });
  const time = now();
  const none = { line, up: 0, down: 0, connections: 0, since: time, until: time, open: 0 };
  const count = counts.get(key) ?? none;
  counts.set(key, count);
  return count;
}

function movedOf({ moved }: State, host: string): { up: number; down: number } {
  const known = moved.get(host) ?? { up: 0, down: 0 };
  moved.set(host, known);
  return known;
}

function openMeter(state: State, line: Line, limited: boolean): Meter {
  const first = countOf(state, line);
  first.connections += 1;
  first.open += 1;
  let [over, cut] = [false, false];
  // Bytes of this connection since the ledger was last taken.
  let mine = { count: first, up: 0, down: 0 };
  const counted = () => {
    const count = countOf(state, line);
    if (mine.count !== count) mine = { count, up: 0, down: 0 };
    return mine;
  };
  const add = (direction: "up" | "down", bytes: number): void => {
    movedOf(state, line.host)[direction] += bytes;
    const own = counted();
    own[direction] += bytes;
    own.count[direction] += bytes;
  };
  return {
    up(bytes) {
      const { up, down } = movedOf(state, line.host);
      if (limited && !withinBudget(state.budget, { up: up + bytes, down })) return false;
      add("up", bytes);
      return true;
    },
    down: (bytes) => add("down", bytes),
    isCut: () => cut,
    end(reason) {
      if (over) return;
      over = true;
      cut = reason !== undefined;
      first.open -= 1;
      const { count, up, down } = counted();
      count.until = state.now();
      if (reason !== undefined) moveToCut(state, { count, up, down, first }, reason);
    },
  };
}

/** Moves what a connection has moved from the line of the allowed ones to that of those that were cut. */
function moveToCut(
  state: State,
  { count, up, down, first }: { count: Count; up: number; down: number; first: Count },
  reason: EgressReason,
): void {
  const cut = countOf(state, { ...count.line, decision: "cut", reason });
  cut.connections += 1;
  cut.since = Math.min(cut.since, first.since);
  count.up -= up;
  count.down -= down;
  cut.up += up;
  cut.down += down;
  if (count === first) first.connections -= 1;
}
