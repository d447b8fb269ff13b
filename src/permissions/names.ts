/**
 * Names of files that are protected, hold secrets, or are run by other programs, compared as the most lenient file
 * system compares them. Pure.
 */

import { canBe, globExpression, hasGlob, nameOf, plain } from "./paths.ts";

/** Folds a path as a case-insensitive disk does, which ignores some characters too: on a Mac `~/.Bashrc` is `~/.bashrc`. Globs stay globs. */
export function folded(path: string): string {
  // Nearly all names are plain.
  if (/^[\x20-\x7e]*$/.test(path)) return path.toLowerCase();
  const read = path.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return read.toUpperCase().toLowerCase().normalize("NFC");
}

/**
 * Returns true when a path, perhaps a glob, can be one of `targets` (absolute) or lie below one, in any letter case.
 */
export function canReach(path: string, targets: readonly string[]): boolean {
  const parts = folded(path).split("/");
  return targets.some((target) => {
    const wanted = folded(target).split("/");
    return wanted.length <= parts.length && wanted.every((name, at) => isSame(parts[at] ?? "", name));
  });
}

function isSame(part: string, name: string): boolean {
  return plain(part) === name || (hasGlob(part) && canBe(part, name));
}

const secretNames =
  /^(?:\.env(?!\.(?:example|sample|template|dist|defaults|schema)$).*|.*\.(?:pem|key|p12|pfx|ppk|jks|keystore|kdbx)|id_(?:rsa|dsa|ecdsa|ed25519)(?!.*\.pub$).*|id_[^.]*|\.netrc|\.pgpass|\.git-credentials)$/;
const hiddenSecrets = [".env", ".env.local", ".netrc"];

/** Returns true when a file of this name (perhaps a glob) holds a secret: `.env`, a private key and similar files. */
export function holdsSecret(path: string): boolean {
  const name = folded(nameOf(path));
  if (secretNames.test(plain(name))) return true;
  return (
    hasGlob(name) && /^[.[]/.test(name) && hiddenSecrets.some((secret) => globExpression(name).test(secret))
  );
}

const runFolders = new Set(
  (
    ".vscode .idea .devcontainer .husky .githooks .claude .codex .cursor .gemini .agents .agent .sawtooth .windsurf .continue " +
    ".qwen .opencode .crush .kiro .roo .amazonq .zed .fleet .run .nova .theia .direnv .mise .lefthook .lefthook-local .git " +
    ".nvim .vim .copilot .trae .augment .goose .factory"
  ).split(" "),
);
const runFiles =
  /^(?:\.envrc|\.mcp\.json|mcp\.json|\.gitmodules|\.gitconfig|\.pre-commit-config\.ya?ml|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.overcommit\.yml|\.?mise(?:\.[\w-]+)*\.toml|\.gitpod\.yml|.*\.code-workspace|\.n?vimrc|\.exrc|\.nvim\.lua|\.dir-locals(?:-2)?\.el|\.gdbinit|\.lldbinit|\.aider\..*|opencode\.jsonc?|\.?crush\.json|\.clinerules|\.goosehints|head)$/;

/**
 * Returns true when other programs run or obey this file: an editor, a hook, another agent. `path` is relative to a
 * workspace.
 */
export function isRunElsewhere(path: string): boolean {
  const parts = folded(path).split("/").map(plain);
  return parts.some((part) => runFolders.has(part)) || runFiles.test(parts.at(-1) ?? "");
}
