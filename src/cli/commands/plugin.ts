/** `sawtooth plugin`: plug-ins by the Agent Plugins standard, each accepted by a person before it is used. */

import { listPlugins } from "../../app/plugins/accepted.ts";
import {
  addPlugin,
  type Outcome,
  type PluginDesk,
  pluginNames,
  removePlugin,
  updatePlugin,
} from "../../app/plugins/install.ts";
import { sourceText } from "../../app/plugins/review-text.ts";
import { StartError, UsageError } from "../../core/errors.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { typedLine } from "../typed-line.ts";

type Place = { env: Record<string, string | undefined>; cwd: string; say(text: string): void };
type Call = Place & { operands: readonly string[]; flags: FlagsOf<"plugin"> };

/** Exit code of a run that permissions stop. */
const blocked = 5;

const verbs: Record<string, (call: Call) => Promise<number>> = {
  async list({ operands, env, say }) {
    refuseMore(operands, 0, "list takes no name");
    say(listText(env));
    return 0;
  },
  async add(call) {
    const [words] = call.operands;
    if (words === undefined)
      throw new UsageError("add needs a folder (./…), the URL of a git repository, or a package of npm");
    refuseMore(call.operands, 1, "add takes one plug-in");
    return told(await addPlugin(words, deskOf(call)), call);
  },
  async update(call) {
    refuseMore(call.operands, 1, "update takes one name, or none for all");
    const names = call.operands.length > 0 ? call.operands : pluginNames(call.env);
    const codes: number[] = [];
    for (const name of names) codes.push(await told(await updatePlugin(name, deskOf(call)), call));
    if (names.length === 0) call.say("There are no plug-ins.\n");
    return Math.max(0, ...codes);
  },
  async remove({ operands, env, say }) {
    const [name] = operands;
    if (name === undefined) throw new UsageError("remove needs a name: sawtooth plugin list has them");
    refuseMore(operands, 1, "remove takes one name");
    say(`${removePlugin(name, env)}\n`);
    return 0;
  },
};

/** Runs the sub-command; without one, the list. Returns the exit code. Throws `UsageError` and `StartError`. */
export async function runPlugin(
  [verb = "list", ...operands]: readonly string[],
  flags: FlagsOf<"plugin">,
  place: Place,
): Promise<number> {
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run)
    throw new UsageError(`unknown command: plugin ${verb} (use plugin ${Object.keys(verbs).join(", ")})`);
  if (flags.yes !== undefined && !["add", "update"].includes(verb))
    throw new UsageError("--yes belongs to sawtooth plugin add and update");
  return run({ ...place, operands, flags });
}

function refuseMore(operands: readonly string[], most: number, why: string): void {
  if (operands.length > most) throw new UsageError(`${why}; unexpected: ${operands[most]}`);
}

function told({ done, text }: Outcome, { say }: Call): number {
  say(`${text}\n`);
  return done ? 0 : blocked;
}

/** A yes is typed by a person at a terminal, or is the hash of what they saw. */
function deskOf({ env, cwd, say, flags }: Call): PluginDesk {
  return {
    ...{ env, cwd, show: say },
    async accept(question, hash) {
      if (flags.yes !== undefined && !env.SAWTOOTH_SESSION) {
        if (flags.yes === hash) return true;
        throw new StartError(`--yes names another hash: what is shown has ${hash}`, blocked);
      }
      const isHere = process.stdin.isTTY && process.stdout.isTTY && !env.SAWTOOTH_SESSION;
      if (!isHere)
        throw new StartError(
          `nothing is taken: a person answers at a terminal, or says --yes ${hash}`,
          blocked,
        );
      const answer = await typedLine(`${question} y: yes; anything else: no: `, { shown: true });
      return /^y(es)?$/i.test(answer?.trim() ?? "");
    },
  };
}

function listText(env: Place["env"]): string {
  const lines = listPlugins(env).flatMap(({ name, source, now }) => {
    if (typeof now === "string") return [`${name}  not used: ${now}`, `  from ${sourceText(source)}`];
    const { version, skills, servers } = now.plugin;
    const parts = [
      ...skills.map((skill) => `skill ${skill.name}`),
      ...[...servers.keys()].map((server) => `server ${name}.${server}`),
    ];
    return [
      `${name}${version ? `  ${version}` : ""}`,
      `  from ${sourceText(source)}`,
      `  ${parts.join(", ") || "nothing that can be used"}`,
    ];
  });
  return lines.length === 0
    ? "There are no plug-ins: sawtooth plugin add <source> takes one.\n"
    : `${lines.join("\n")}\n`;
}
