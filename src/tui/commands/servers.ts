/** `/mcp`: the servers of tools of the session, and those of the project that wait for the person. */

import { plural } from "../../context/report/amounts.ts";
import type { ServerActions } from "../ports/session.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import { busyNotice, type Command, type CommandContext } from "./command.ts";

export const serverCommands: readonly Command[] = [
  {
    name: "mcp",
    summary: "servers of tools (MCP): list them, restart one, or review those of the project",
    argument: "restart <name>|review",
    run: manageServers,
  },
];

async function manageServers(argument: string, context: CommandContext): Promise<void> {
  const { host, columns, notice, print, work, changed } = context;
  const [, name] = /^restart\s+(\S+)$/.exec(argument) ?? [];
  if (argument === "") return print(serverRows(host.mcp.list(), await host.mcp.waiting(), columns));
  if (argument === "review") return reviewServers(context);
  if (name === undefined) return notice("Usage: /mcp [restart <name>|review]");
  if (context.busy) return notice(busyNotice);
  await work(`Starting ${name}`, async () => {
    await host.mcp.restart(name);
    changed();
    print([[{ text: `  ${safe(name)} was started again`, tone: "dim" }]]);
  });
}

type Listed = ReturnType<ServerActions["list"]>;

function serverRows(servers: Listed, waits: readonly { name: string }[], columns: number): Row[] {
  if (servers.length + waits.length === 0)
    return [[{ text: "  No MCP servers: sawtooth mcp add <name> -- <command> adds one", tone: "dim" }]];
  return [
    ...servers.flatMap((server) =>
      wrap(
        [{ text: `  ${safe(server.name)}`, tone: "strong" }, { text: `  ${stateText(server)}` }],
        columns,
        "    ",
      ),
    ),
    ...waits.flatMap(({ name }) =>
      wrap(
        [
          { text: `  ${safe(name)}`, tone: "strong" },
          { text: "  of this project's .mcp.json, not used: /mcp review shows what it does", tone: "warn" },
        ],
        columns,
        "    ",
      ),
    ),
  ];
}

const states = { not_started: "not started", starting: "starting", running: "running" };

function stateText({ state, tools, why, changed }: Listed[number]): string {
  return [
    states[state],
    tools === undefined ? "" : plural(tools, "tool"),
    changed ? "changed since you saw them: the next call asks" : "",
    why ? `its last start failed: ${safe(why)}` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** Shows each server that waits in full, and asks. What is allowed counts from the next session on. */
export async function reviewServers({
  host,
  columns,
  confirm,
  notice,
  print,
}: CommandContext): Promise<void> {
  const waits = await host.mcp.waiting();
  if (waits.length === 0) return notice("No server of the project is waiting for you");
  const allowed: string[] = [];
  for (const { name, text } of waits) {
    const lines = text.split("\n").map((line): Row => [{ text: `  ${safe(line)}`, tone: "code" }]);
    print(lines.flatMap((line) => wrap(line, columns, "    ")));
    const meaning = "As shown above, until its entry changes. Each call of its tools needs permission.";
    if (!(await confirm(`Use the server ${safe(name)} of this project?`, [[{ text: meaning, tone: "dim" }]])))
      continue;
    host.mcp.allow(name);
    allowed.push(name);
  }
  notice(
    allowed.length > 0
      ? `allowed: ${allowed.join(", ")}; the next session uses them, and /clear begins one`
      : "Not allowed. /mcp review asks again",
  );
}
