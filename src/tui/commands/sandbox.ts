/** `/sandbox`: shows the walls around commands and why each path is behind them; switches them off. */

import type { SandboxPlan } from "../../core/sandbox.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { cutRow, type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const sandboxCommands: readonly Command[] = [
  {
    name: "sandbox",
    summary: "what commands may touch and why; off: let them run without walls",
    argument: "off",
    run: (argument, context) =>
      argument === "off" ? switchOff(context) : argument === "" ? show(context) : usage(context),
  },
];

function usage({ notice }: CommandContext): void {
  notice("Usage: /sandbox [off]");
}

async function show({ host, columns, print }: CommandContext): Promise<void> {
  const status = await host.sandbox.status();
  const plan = host.sandbox.inForce()?.plan;
  const head = wrap([{ text: `  ${sandboxText(status)}` }], columns, "  ");
  print([...head, ...(plan ? planRows(plan, columns) : [])]);
}

/** More entries than this are counted. */
const mostShown = 12;

function planRows(plan: SandboxPlan, columns: number): Row[] {
  const { writable, readOnly, hidden, withoutTokens, why, sockets, environment, hosts, ports } = plan;
  const listed = (title: string, paths: readonly string[]): Row[] => {
    if (paths.length === 0) return [];
    const more = paths.length - mostShown;
    return [
      [{ text: `  ${title}`, tone: "strong" }],
      ...paths
        .slice(0, mostShown)
        .map((path) =>
          cutRow(
            [{ text: `    ${safe(path)}` }, { text: `  ${safe(why[path] ?? "")}`, tone: "dim" }],
            columns,
          ),
        ),
      ...(more > 0 ? [[{ text: `    and ${more} more`, tone: "dim" as const }]] : []),
    ];
  };
  return [
    ...listed("writable", writable),
    ...listed("read-only in there", readOnly),
    ...listed("hidden", [...hidden, ...withoutTokens]),
    ...listed(
      "hosts by rule",
      hosts.map(({ kind, text }) => `${kind} ${text}`),
    ),
    ...listed("sockets passed in", sockets.pass),
    ...listed("ports", ports.map(String)),
    ...listed("variables passed in", environment.pass),
  ];
}

async function switchOff({ host, busy, notice, confirm }: CommandContext): Promise<void> {
  if (busy) return notice(busyNotice);
  const rows: Row[] = [
    [{ text: "Commands then run with all that you may do, in a new shell. Background jobs are ended." }],
  ];
  if (await confirm("Switch the sandbox off for this session?", rows)) host.sandbox.switchOff();
}
