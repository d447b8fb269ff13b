/** The network of a session: serves its sandbox, asks about hosts, and keeps the ledger in the log. */

import { hostname } from "node:os";
import type { Settings } from "../../config/settings.ts";
import type { PermissionMode } from "../../core/decision.ts";
import { type Egress, egressNote, formatBytes, hostText } from "../../core/network/egress.ts";
import type { BackgroundJob, EventLog, Tool } from "../../core/ports.ts";
import { lineage, startedAt, upTime } from "../../network/attribution.ts";
import { type Outside, realOutside } from "../../network/dial.ts";
import { type SandboxFile, sandboxFiles } from "../../network/files.ts";
import { type GateOptions, type HostQuestion, usualAskMs } from "../../network/gate.ts";
import { createNetwork, type Network } from "../../network/network.ts";
import { parseRule } from "../../permissions/parse-rule.ts";
import type { StandingRules } from "../../permissions/rules.ts";
import { type EgressBudget, usualBudget } from "../../permissions/sandbox/budget.ts";
import { type Exposure, exposureBy, isExposed } from "../../permissions/sandbox/exposure.ts";
import { hostRulesOf } from "../../permissions/sandbox/hosts.ts";
import type { ConnectForPage } from "../../tools/fetch/parts.ts";
import type { Question } from "../../tui/ports/session.ts";
import type { Driver, Person } from "../session.ts";
import { connectForPages } from "./pages.ts";
import { type Ports, sandboxPorts } from "./ports.ts";

export type NetworkParts = {
  log: EventLog;
  settings: Settings;
  /** Sawtooth's own environment, which may name a proxy. */
  env: Readonly<Record<string, string | undefined>>;
  /** Real paths. */
  workspace: readonly string[];
  rules(): { allow: readonly string[]; deny: readonly string[] };
  mode(): PermissionMode;
  /** `subscribe`: calls the listener after each change of the rules, until the function that it returns is called. */
  standing: Pick<StandingRules, "add" | "locations"> & { subscribe(listener: () => void): () => void };
  person?: Pick<Person, "ask"> | undefined;
  driver?: Pick<Driver, "settle"> | undefined;
  jobs(): readonly BackgroundJob[];
  warn(text: string): void;
  /** The world outside; the real one by default. */
  outside?: Outside;
};

export type SessionNetwork = {
  /** Files that the sandbox shows in place of the machine's. */
  files: readonly SandboxFile[];
  /**
   * Serves the network of a sandbox by its first process, and publishes the ports of rules. `starting`: rejects when the
   * sandbox cannot start. Never rejects: what cannot be served is told, and the sandbox then has no network.
   */
  serve(pid: number, starting: Promise<unknown>): Promise<void>;
  /** True when the network of the sandbox that runs is served. */
  isServed(): boolean;
  /** Returns the tool with each call's connections in the log, and notes in its result. */
  watched(tool: Tool): Tool;
  /** Publishes a port of the sandbox on this machine. Rejects with why it cannot. */
  publish(port: number): Promise<void>;
  /** Connects to a host for the tool `fetch`: see `ConnectForPage`. */
  connect: ConnectForPage;
  /** Writes what happened since the last call into the log. */
  flush(): void;
  close(): void;
};

type State = {
  parts: NetworkParts;
  network: Network;
  ports: Ports;
  served: boolean;
  /** First process of the newest sandbox. */
  servedPid: number | undefined;
  /** The call that runs, and when it began, in seconds since the start of the machine. */
  running: { id: string; since: number } | undefined;
  closed: boolean;
};

const mostNotes = 5;

export function createSessionNetwork(parts: NetworkParts): SessionNetwork {
  const { log, settings, workspace, env } = parts;
  const { egress = {} } = settings;
  const seen = exposureBy({ private: egress.private ?? "workspace", workspace });
  const exposed = () => egress.rule !== "off" && isExposed(seen(log.events()));
  const state = { parts, served: false, closed: false, running: undefined } as State;
  state.network = createNetwork({
    rules: () => hostRules(parts),
    exposed,
    ask: asker(state, () => seen(log.events())),
    budget: budgetOf(settings),
    outside: parts.outside ?? realOutside(env),
    commandOf: (pid) => commandOf(state, pid),
    now: Date.now,
  });
  const { network, rules, warn } = { network: state.network, ...parts };
  state.ports = sandboxPorts({ network, rules, warn });
  const unfollow = [
    parts.standing.subscribe(() => void state.ports.follow()),
    log.subscribe((event) => {
      if (event.type !== "turn_ended") return;
      network.newTurn();
      for (const note of state.ports.look()) warn(note);
      // Behind the event that is being told.
      setImmediate(() => flush(state));
    }),
  ];
  return {
    files: sandboxFiles(hostname()),
    isServed: () => state.served,
    async serve(pid, starting) {
      state.servedPid = pid;
      const isServed = await network.serve(pid).then(
        () => true,
        async (error: Error) => {
          const tell = (): void => {
            if (!state.closed) warn(`${error.message}; commands have no network`);
          };
          await starting.then(tell, () => {});
          return false;
        },
      );
      // Another sandbox may have started since this one could not.
      if (state.servedPid !== pid) return;
      state.served = isServed;
      await state.ports.served(pid);
    },
    watched: (tool) => watched(state, tool),
    publish: state.ports.publish,
    connect: connectForPages({ network, exposed, rules: () => hostRules(parts) }),
    flush: () => void flush(state),
    close() {
      state.closed = true;
      for (const stop of unfollow) stop();
      network.close();
      state.ports.close();
      flush(state);
    },
  };
}

function budgetOf({ egress = {} }: Settings): EgressBudget {
  const { budgetKb = usualBudget.bytes / 1000, budgetPercent = usualBudget.percent } = egress;
  return { bytes: budgetKb * 1000, percent: budgetPercent };
}

function hostRules({ rules }: NetworkParts) {
  const { allow, deny } = rules();
  return hostRulesOf(allow.map(parseRule), deny.map(parseRule));
}

/** Writes what happened since the last time into the log. */
function flush({ network, parts }: State): Egress[] {
  const entries = network.take();
  for (const entry of entries) parts.log.append({ type: "egress", ...entry });
  return entries;
}

function watched(state: State, tool: Tool): Tool {
  return {
    ...tool,
    async run(input, context) {
      // What happened between calls belongs to jobs, and stands before this call.
      flush(state);
      state.running = { id: context.toolUseId, since: upTime() };
      try {
        const output = await tool.run(input, context);
        await state.network.refuseGone();
        const notes = [...notesOf(state, flush(state)), ...state.ports.look().map((note) => `[${note}]`)];
        if (notes.length === 0 || typeof output.content !== "string") return output;
        return { ...output, content: [output.content, ...notes].join("\n") };
      } finally {
        state.running = undefined;
      }
    },
  };
}

/** Returns a line for each cause, at most five. */
function notesOf({ parts }: State, entries: readonly Egress[]): string[] {
  const asked = parts.person !== undefined || parts.driver?.settle !== undefined;
  const notes = entries.flatMap((entry) => egressNote(entry, asked) ?? []);
  return [...new Set(notes)].slice(0, mostNotes).map((note) => `[${note}]`);
}

/** A process belongs to the job that it descends from, else to the call that ran when it was started. */
function commandOf({ parts, running }: State, pid: number): string | undefined {
  const jobs = parts.jobs();
  const line = lineage(pid);
  const job = jobs.find((one) =>
    line.some((process) => process.inner === one.pid || process.pid === one.pid),
  );
  if (job) return `job ${job.pid}`;
  const began = startedAt(pid);
  // Hundredths of a second are all that the kernel tells.
  return running && began !== undefined && began >= running.since - 0.02 ? running.id : undefined;
}

type Ask = GateOptions["ask"];

/** Returns the way to somebody who can be asked; undefined where nobody is there. */
function asker(state: State, seen: () => Exposure): Ask {
  const { person, driver, standing, mode } = state.parts;
  if (person)
    return async (wanted, signal, onShown) => {
      if (mode() === "plan") return { decision: "plan" };
      const answer = await person.ask(questionOf(state, wanted, seen()), signal, onShown);
      if (answer.decision === "deny") return { decision: "no" };
      const { remember } = answer;
      if (!remember) return { decision: "once" };
      standing.add(remember.rule, remember.scope);
      return { decision: "kept" };
    };
  if (driver?.settle) {
    const { settle } = driver;
    return async (wanted, signal, onShown) => {
      if (mode() === "plan") return { decision: "plan" };
      onShown();
      const { toolName, input, reason, suggestion = "" } = questionOf(state, wanted, seen());
      const denied = { decision: "deny" as const, rule: suggestion, by: "headless" as const, reason };
      const settled = await settle({ toolName, input, signal }, denied);
      return { decision: settled.decision === "allow" ? "once" : "no" };
    };
  }
  return undefined;
}

function questionOf(state: State, wanted: HostQuestion, seen: Exposure): Question {
  const { kind, host, port, owner, pattern } = wanted;
  const program = owner?.line ?? "A process that has ended";
  const target = hostText({ host, port });
  // The tool `fetch` runs in this process.
  const inner = owner && owner.pid !== process.pid ? lineage(owner.pid)[0]?.inner : undefined;
  const who = inner === undefined ? program : `Process ${inner}`;
  const most = formatBytes(budgetOf(state.parts.settings).bytes);
  const sends = kind === "send";
  return {
    toolName: "network",
    input: { host, port, program },
    connection: { title: sends ? `${target}: send to it?` : `${target}: connect to it?` },
    reason: sends
      ? `${who} sends to ${target}. Since you allowed it, this session has read ${sourcesText(seen)}.`
      : `${who} wants ${target}, which is not on the list of hosts. Yes lets commands fetch from it, and send it ${most} in a turn: a key fits into that. It is a no after ${usualAskMs / 1000} s.`,
    ...(sends ? {} : { suggestion: `host(${pattern})`, locations: state.parts.standing.locations }),
  };
}

function sourcesText({ outside, private: own }: Exposure): string {
  const parts = [
    outside && `text from outside (step ${outside.step}: ${outside.call ?? outside.from})`,
    own && `private files (step ${own.step}: ${own.from})`,
  ];
  return parts.filter((part) => part !== undefined).join(" and ");
}
