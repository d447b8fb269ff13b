/** `/sandbox`: shows the walls around commands and why each path is behind them; switches them off. */

import type { SandboxPlan } from "../../core/sandbox.ts";
import { sandboxText } from "../../core/text/sandbox-text.ts";
import { cutRow, ending, type Row, safe, width, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const sandboxCommands: readonly Command[] = [
  {
    name: "sandbox",
    summary:
      "what commands may touch and why; accept: put files in quarantine back; open: reach a port; off: run without walls",
    argument: "accept|open <port>|off",
    run(argument, context) {
      if (argument === "accept") return accept(context);
      if (argument === "off") return switchOff(context);
      return argument === "" ? show(context) : open(argument, context);
    },
  },
];

async function open(argument: string, { host, notice }: CommandContext): Promise<void> {
  const port = Number(/^open\s+(\d{1,5})$/.exec(argument)?.[1]);
  if (!(port >= 1 && port <= 65_535)) return notice("Usage: /sandbox [accept|open <port>|off]");
  await host.sandbox.open(port).then(
    () => notice(`http://127.0.0.1:${port} leads to port ${port} of the sandbox`),
    (error: Error) => notice(error.message),
  );
}

async function show({ host, columns, print }: CommandContext): Promise<void> {
  const status = await host.sandbox.status();
  const plan = host.sandbox.inForce()?.plan;
  const head = wrap([{ text: `  ${sandboxText(status)}` }], columns, "  ");
  print([...head, ...(plan ? planRows(plan, host.sandbox.denials(), columns) : [])]);
}

/** More entries than this are counted. */
const mostShown = 12;

/** Columns that a path gets however long its reason is. */
const leastPath = 20;

/** Below this width a reason stands under its path. */
const wide = 60;

function entryRows(path: string, why: string, columns: number): Row[] {
  const besides = why && columns >= wide ? width(why) + 2 : 0;
  const named = { text: `    ${ending(path, Math.max(leastPath, columns - 4 - besides))}` };
  if (columns >= wide) return [cutRow([named, { text: why && `  ${why}`, tone: "dim" }], columns)];
  const reason = why ? wrap([{ text: `      ${why}`, tone: "dim" }], columns, "      ") : [];
  return [cutRow([named], columns), ...reason];
}

function planRows(plan: SandboxPlan, denials: readonly string[], columns: number): Row[] {
  const { writable, readOnly, hidden, withoutTokens, why, sockets, environment, hosts, ports } = plan;
  const listed = (title: string, paths: readonly string[]): Row[] => {
    if (paths.length === 0) return [];
    const more = paths.length - mostShown;
    return [
      [{ text: `  ${title}`, tone: "strong" }],
      ...paths.slice(0, mostShown).flatMap((path) => entryRows(safe(path), safe(why[path] ?? ""), columns)),
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
    ...listed("variables left out", environment.drop),
    ...(denials.length > 0 ? [[{ text: "  denied lately", tone: "strong" as const }]] : []),
    ...denials.flatMap((text) => wrap([{ text: `    ${safe(text)}` }], columns, "    ")),
  ];
}

function accept({ host, notice }: CommandContext): void {
  const { accepted, problems } = host.sandbox.acceptQuarantined();
  const put = accepted.length > 0 ? [`Put back: ${accepted.join(", ")}. Other programs may run it.`] : [];
  notice([...problems, ...put].join(" ") || "Nothing is in quarantine.");
}

async function switchOff({ host, busy, notice, confirm }: CommandContext): Promise<void> {
  if (busy) return notice(busyNotice);
  const status = await host.sandbox.status();
  if (status.engine === "none") return notice(`There is nothing to switch off: ${sandboxText(status)}.`);
  const rows: Row[] = [
    [{ text: "Commands then run in a new shell with all your permissions. Background jobs are ended." }],
  ];
  if (await confirm("Switch the sandbox off for this session?", rows)) host.sandbox.switchOff();
}
