/** The combinations in which an option would have no effect: each is refused, and never ignored. Pure. */

import { UsageError } from "../../core/errors.ts";
import type { CommandName } from "./option.ts";

/** A line as written: the values of each option by its name, and the words after the command. */
type Line = { written: ReadonlyMap<string, readonly string[]>; operands: readonly string[] };

/** A way to call a command in which some of its options have no effect. */
type Form = {
  commands: readonly CommandName[];
  /** As the message names it: `with --reuse`. */
  named: string;
  is(line: Line): boolean;
  /** Names the options that have an effect. */
  takes?: readonly string[];
  /** Names those that have none, where the others do. */
  ignores?: readonly string[];
};

const having =
  (name: string) =>
  ({ written }: Line): boolean =>
    written.has(name);
/** `usual`: the verb of a line without one. */
const onVerb =
  (verbs: readonly string[], usual = "list") =>
  ({ operands: [verb = usual] }: Line): boolean =>
    verbs.includes(verb);
const hasOperand = ({ operands }: Line): boolean => operands.length > 0;
const isCompare = ({ written, operands }: Line): boolean => operands[0] === "compare" && !written.has("out");

/** Ways to replay. Two of them at once have a message of their own. */
const ways = ["reuse", "permissions", "tune"];
const judged = ["permission-mode", "allow", "deny"];
const ofBatch = ["out", "jobs", "shard", "task-budget-usd", "task-time", "retry", "trees", "mirrors"];

const forms: readonly Form[] = [
  ...[
    { named: "beside --resume, which names the session", is: having("resume"), ignores: ["continue"] },
    { named: "with a model that is no recorded/<file>", is: isPlayedByRequest, ignores: ["loose"] },
  ].map((form): Form => ({ ...form, commands: ["run", "fix", "demo", "acp"] })),
  {
    commands: ["run"],
    named: "with --quarantine, which has no tools and its own instructions",
    is: having("quarantine"),
    ignores: ["context", "add-dir", ...judged, "sandbox", "append-system-prompt", "worktree"],
  },
  // Those of a batch alone have a message of their own.
  {
    commands: ["batch"],
    named: "with --summary",
    is: having("summary"),
    takes: ["output-format", "summary", "keep-trees", ...ofBatch],
  },
  {
    commands: ["batch"],
    named: "on batch compare",
    is: isCompare,
    takes: ["output-format", "summary", "keep-trees", ...ofBatch],
  },
  { commands: ["replay"], named: "with --reuse", is: having("reuse"), takes: [...ways, "format", "html"] },
  {
    commands: ["replay"],
    named: "with --permissions",
    is: having("permissions"),
    takes: [...ways, "format", ...judged],
  },
  {
    commands: ["replay"],
    named: "with --tune",
    is: having("tune"),
    takes: [...ways, "prices", "gaps", "window", "jobs"],
  },
  {
    commands: ["replay"],
    named: "on replay without --permissions",
    is: ({ written }) => !ways.some((name) => written.has(name)),
    ignores: judged,
  },
  {
    commands: ["report", "egress"],
    named: "beside the session that is named",
    is: hasOperand,
    ignores: ["resume"],
  },
  {
    commands: ["report"],
    named: "with --serve, which shows all of the report",
    is: having("serve"),
    ignores: ["step", "html", "verbose"],
  },
  { commands: ["report"], named: "with --html", is: having("html"), ignores: ["step", "verbose"] },
  { commands: ["report"], named: "with --step", is: having("step"), ignores: ["verbose"] },
  {
    commands: ["sessions"],
    named: "on sessions list",
    is: onVerb(["list"]),
    takes: ["session-dir", "verbose"],
  },
  { commands: ["sessions"], named: "on sessions show", is: onVerb(["show"]), takes: ["session-dir"] },
  {
    commands: ["sessions"],
    named: "on sessions export",
    is: onVerb(["export"]),
    takes: ["session-dir", "format", "redact"],
  },
  { commands: ["undo"], named: "with --list", is: having("list"), ignores: ["to", "redo"] },
  {
    commands: ["mcp"],
    named: "here: mcp list and mcp get take it",
    is: onVerb(["add", "remove", "review", "login", "logout"]),
    ignores: ["output-format"],
  },
  { commands: ["acp"], named: "on acp login", is: onVerb(["login"]), takes: [] },
];

/** Returns true when the model that is named plays no cassette. */
function isPlayedByRequest({ written }: Line): boolean {
  const name = written.get("model")?.at(-1);
  return name !== undefined && !name.startsWith("recorded/");
}

/** Throws `UsageError` for an option without an effect beside the others. */
export function refuseIneffective(command: CommandName, line: Line): void {
  for (const { named, is, takes, ignores, commands } of forms) {
    if (!commands.includes(command) || !is(line)) continue;
    const stray = [...line.written.keys()].find((name) =>
      takes ? !takes.includes(name) : ignores?.includes(name),
    );
    if (stray !== undefined) throw new UsageError(`--${stray} has no effect ${named}${listed(takes, line)}`);
  }
}

function listed(takes: readonly string[] | undefined, { written }: Line): string {
  const others = takes?.filter((name) => !written.has(name) && !ways.includes(name)) ?? [];
  return others.length === 0 ? "" : `, which takes ${others.map((name) => `--${name}`).join(", ")}`;
}

/** Throws `UsageError` for an option of headless runs in a session on a screen. */
export function refuseHeadless(flags: {
  outputFormat: string;
  inputFormat: string;
  jsonSchema?: string;
  quarantine: boolean;
  debug?: string;
}): void {
  const stray = [
    ["quarantine", flags.quarantine],
    ["output-format", flags.outputFormat !== "text"],
    ["input-format", flags.inputFormat !== "text"],
    ["json-schema", flags.jsonSchema !== undefined],
    ["debug", flags.debug !== undefined],
  ].find(([, isGiven]) => isGiven);
  if (stray) throw new UsageError(`--${stray[0]} has no effect on the screen: add -p`);
}
