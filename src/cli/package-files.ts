/** Files that come with Sawtooth: prompts and examples, beside `dist/` when built and beside `src/` when not. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Absolute path of a file of the package. */
export function packagePath(path: string): string {
  const built = new URL(`../${path}`, import.meta.url);
  return fileURLToPath(existsSync(built) ? built : new URL(`../../${path}`, import.meta.url));
}

/** The text of `prompts/<name>.md`, without its final newline. */
export function readPrompt(name: string): string {
  return readFileSync(packagePath(`prompts/${name}.md`), "utf8").trimEnd();
}

/** The system prompt. The same bytes for every folder and every day, so that its cache entry serves all sessions. */
export function systemPrompt(options: {
  focus: "aggressive" | "passive";
  append?: string | undefined;
}): string {
  const own = readPrompt("system").replace("{{focus}}", readPrompt(`focus-${options.focus}`));
  return options.append ? `${own}\n\n${options.append}` : own;
}
