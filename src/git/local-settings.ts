/** Extracts a repository's own settings from the output of `git config --list -z --show-scope`. Pure. */

export type Setting = { key: string; value: string };

/** Settings that `git init` writes. */
const usual =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|sharedrepository)|extensions\.objectformat)$/;

/** Returns the settings of the repository and its includes, without those of the user and the system. */
export function settingsFrom(listed: string): Setting[] {
  const fields = listed.split("\0");
  const found: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, text = ""] = [fields[at], fields[at + 1]];
    const end = text.indexOf("\n");
    if (scope !== "local" && scope !== "worktree") continue;
    found.push(end < 0 ? { key: text, value: "" } : { key: text.slice(0, end), value: text.slice(end + 1) });
  }
  return found;
}

/** Returns settings that make each of the repository's filters pass files through unchanged. */
export function filterSettings(own: readonly Setting[]): Setting[] {
  const names = own.flatMap(({ key }) => /^filter\.([\s\S]*)\.[^.]*$/.exec(key)?.[1] ?? []);
  return [...new Set(names)].flatMap((name) => [
    ...["clean", "smudge", "process"].map((kind) => ({ key: `filter.${name}.${kind}`, value: "" })),
    { key: `filter.${name}.required`, value: "false" },
  ]);
}

/** Returns the settings that somebody added after `git init`. */
export function foreignSettings(own: readonly Setting[]): Setting[] {
  return own.filter(({ key }) => !usual.test(key));
}
