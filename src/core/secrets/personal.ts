/** Takes what names a person or a machine out of a text that is to be shared. Pure. */

/** A user and a machine, as the operating system names them. */
export type Person = {
  /** Absolute path of the home folder. */
  home: string;
  /** Name of the account. */
  user: string;
  /** Name of the machine. */
  host: string;
};

/** Names of accounts and machines that many have, and that are ordinary words elsewhere. */
const commonNames = new Set(
  "root user admin administrator guest home node ubuntu debian vscode runner docker localhost".split(" "),
);

/** A name of fewer characters is found in too many words. */
const shortestName = 3;

const address =
  /(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){0,8}\.[a-z][a-z\d-]{0,62}/gi;
/** Like an address, but the place of a repository: `git@github.com:owner/name`. */
const account = /^(?:git|ssh|hg)@/i;

/**
 * Returns a function that writes `~` for the home folder, `[user]` and `[host]` for the names of account and machine, and
 * `[address]` for e-mail addresses. Names of fewer than 3 characters and those that many share stay.
 */
export function withoutPerson({ home, user, host }: Person): (text: string) => string {
  const names = [
    ...named(host, "[host]"),
    // A full name of a machine begins with the short one.
    ...named(host.split(".", 1)[0] ?? "", "[host]"),
    ...named(user, "[user]"),
  ];
  const folder =
    home.length > 1 ? new RegExp(`${escaped(home.replace(/\/+$/, ""))}(?![\\w.-])`, "g") : undefined;
  return (text) => {
    const withoutFolder = folder ? text.replace(folder, "~") : text;
    const withoutAddresses = withoutFolder.replace(address, (found) =>
      account.test(found) ? found : "[address]",
    );
    return names.reduce((left, [pattern, word]) => left.replace(pattern, word), withoutAddresses);
  };
}

function named(name: string, word: string): [RegExp, string][] {
  if (name.length < shortestName || commonNames.has(name.toLowerCase())) return [];
  return [[new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name)}(?![\\p{L}\\p{N}])`, "giu"), word]];
}

function escaped(words: string): string {
  return words.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
