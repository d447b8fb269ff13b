/** Files that come with Sawtooth: prompts and examples, beside `dist/` when built and beside `src/` when not. */

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the absolute path of a file of the package. */
export function packagePath(path: string): string {
  const built = new URL(`../${path}`, import.meta.url);
  return fileURLToPath(existsSync(built) ? built : new URL(`../../${path}`, import.meta.url));
}

/** Returns the version of the package, as in its package.json. */
export function packageVersion(): string {
  return String(
    (JSON.parse(readFileSync(packagePath("package.json"), "utf8")) as { version: string }).version,
  );
}

/** Returns the text of `prompts/<name>.md`, without its final newline. */
export function readPrompt(name: string): string {
  return readFileSync(packagePath(`prompts/${name}.md`), "utf8").trimEnd();
}

/** The directive for the model about focuses; "none" where no policy folds them. */
export type FocusDirective = "aggressive" | "passive" | "none";

/**
 * Returns the system prompt. The same bytes for every folder and every day, so that its cache entry serves all
 * sessions.
 */
export function systemPrompt(options: { focus: FocusDirective; append?: string | undefined }): string {
  const focus = options.focus === "none" ? "" : `${readPrompt(`focus-${options.focus}`)}\n\n`;
  const own = readPrompt("system").replace("{{focus}}\n\n", focus);
  return options.append ? `${own}\n\n${options.append}` : own;
}
