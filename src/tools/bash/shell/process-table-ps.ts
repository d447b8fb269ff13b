/** The process table of machines without /proc (macOS, the BSDs), read by one call of `ps`. */

import { execFileSync } from "node:child_process";
import { clipWords, type Process, type ProcessTable } from "./process-table.ts";

/** Maximum age of a table, in milliseconds, before it is read again. */
const cacheMs = 50;

/** Wait channels of a terminal read, of which `ps` shows six characters. */
const readsTerminal = /^(ttyin|n_tty_|tty_re|wait_w)/;

type Row = Process & { terminal: string; channel: string; words: string };

/** Options that make `ps` print every process, and its environment behind its command line. */
const selections = { bsd: ["-A", "-E"], procps: ["axe"] };

/**
 * Creates a process table that uses `ps` of the BSDs, or that of Linux (`procps`). It does not show the kernel session,
 * so the process group stands for it: without job control the shell and its children share one. Where the system hides
 * the environment of its own programs, those are found by descent alone.
 */
export function psTable(syntax: keyof typeof selections = "bsd"): ProcessTable {
  let rows = new Map<number, Row>();
  let readAt = Number.NEGATIVE_INFINITY;
  const current = (): Map<number, Row> => {
    if (performance.now() - readAt >= cacheMs) {
      rows = readRows(selections[syntax]);
      readAt = performance.now();
    }
    return rows;
  };
  const all = (): Process[] => [...current().values()].filter(({ state }) => state !== "Z");
  return {
    all,
    find: (pid) => current().get(pid),
    lastPid: () => Number.NaN,
    startedSince: all,
    variableOf: (pid, name) => variableIn(current().get(pid)?.words ?? "", name),
    commandLine: (pid) => clipWords(commandIn(current().get(pid)?.words ?? "")) || "?",
    workingFolder: () => undefined,
    ignores: () => false,
    terminalUse(pid, terminalPath) {
      const row = current().get(pid);
      const isOn = row !== undefined && `/dev/${row.terminal}` === terminalPath;
      return isOn && readsTerminal.test(row.channel) ? "reads" : "none";
    },
    innerPid: (pid) => pid,
    outerPid: (inner) => inner,
    refresh() {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

function readRows(selection: readonly string[]): Map<number, Row> {
  const columns = "pid=,ppid=,pgid=,state=,tty=,wchan=,lstart=,command=";
  try {
    const output = execFileSync("ps", [...selection, "-ww", "-o", columns], {
      env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return new Map(output.split("\n").flatMap(rowOf));
  } catch {
    return new Map();
  }
}

/** Matches `Thu Jan  1 00:00:00 1970`, in local time, to the second. */
const start = "\\w{3} +\\w{3} +\\d+ +[\\d:]+ +\\d{4}";
const pattern = new RegExp(`^ *(\\d+) +(\\d+) +(\\d+) +(\\S+) +(\\S+) +(\\S+) +(${start}) ?(.*)$`);

function rowOf(line: string): [number, Row][] {
  const [, pid, parent, group, state = "", terminal = "", channel = "", began = "", words = ""] =
    pattern.exec(line) ?? [];
  if (pid === undefined) return [];
  const process = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) };
  const row = { ...process, state: state.charAt(0), startTime: Date.parse(began) };
  return [[row.pid, { ...row, terminal, channel, words }]];
}

/**
 * Returns a variable's value, up to the next variable: `ps` separates them by blanks, which a value may contain too.
 */
function variableIn(words: string, name: string): string | undefined {
  const begin = ` ${name}=`;
  const at = words.indexOf(begin);
  if (at < 0) return undefined;
  const rest = words.slice(at + begin.length);
  const next = /\s\w+=/.exec(rest);
  return (next ? rest.slice(0, next.index) : rest).trimEnd();
}

/** Returns the words before the first variable: no part of an environment may be shown. */
function commandIn(words: string): string {
  const variable = /\s[A-Za-z_]\w*=/.exec(words);
  return variable ? words.slice(0, variable.index) : words;
}
