/** `sawtooth completion`: scripts that let shells complete the command line, and the words that they ask back for. */

import { listedServers } from "../../app/mcp/listing.ts";
import { listPlugins } from "../../app/plugins/accepted.ts";
import { packageVersion } from "../../app/prompts.ts";
import { knownWords } from "../../app/providers/known-words.ts";
import { storedList } from "../../app/stored-sessions.ts";
import { UsageError } from "../../core/errors.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { type Grammar, grammarOf, type StoredSource, storedSources } from "./grammar.ts";
import { zshScript } from "./zsh.ts";

/** `root`: of the stored sessions. */
type Place = { env: Record<string, string | undefined>; cwd: string; root: string };
/** A word that can be typed, and what it means. */
type Row = { word: string; about: string };

const scripts: Record<string, (grammar: Grammar) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
/** Words that no shell reads as anything but themselves: names of a repository are data. */
const plain = /^[\w.@][\w.@/:-]*$/;

/** Returns the script of a shell, or the words of a source, one a line with a tab before its meaning. Throws `UsageError`. */
export async function completionOutput(operands: readonly string[], place: Place): Promise<string> {
  const [asked, stray] = operands;
  const shells = Object.keys(scripts);
  if (asked === undefined)
    throw new UsageError(`completion needs a shell, ${shells.join(", ")}: sawtooth completion bash`);
  if (stray !== undefined) throw new UsageError(`completion takes one shell; unexpected: ${stray}`);
  const source = storedSources.find((name) => name === asked);
  if (source) return wordsText(await storedRows(source, place));
  const script = Object.hasOwn(scripts, asked) ? scripts[asked] : undefined;
  if (!script) throw new UsageError(`completion is for ${shells.join(", ")}, not for ${asked}`);
  return script(grammarOf(packageVersion(), knownWords()));
}

async function storedRows(source: StoredSource, { env, cwd, root }: Place): Promise<Row[]> {
  switch (source) {
    case "sessions": {
      const stored = storedList(root, cwd);
      return stored.map(({ id, name, title }) => ({ word: name ?? id, about: title }));
    }
    case "servers": {
      const { servers } = await listedServers({ env, cwd });
      return servers.map(({ name, from }) => ({ word: name, about: from }));
    }
    case "plugins":
      return listPlugins(env).map(({ name }) => ({ word: name, about: "" }));
  }
}

function wordsText(rows: readonly Row[]): string {
  return rows
    .filter(({ word }) => plain.test(word))
    .map(({ word, about }) => `${word}\t${cleanLine(about)}\n`)
    .join("");
}
