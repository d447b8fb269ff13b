/**
 * The keeper: the first process of a sandbox. It starts shells, one after the other, on its own input and output. Pure.
 */

/**
 * Bash that holds the terminal and becomes the keeper. The keeper is interactive, so that it takes the terminal back
 * when a shell has died; it reads its program, one line, from its input. `$1`: path of the terminal, empty for none.
 * What it inherits of our open files is closed first: the module for terminals leaves ours to each child, and who has
 * one reads and types in the session that it belongs to.
 */
export const keeperCommand =
  'cd /proc/self/fd && for fd in *; do case $fd in [012]|255) ;; *) eval "exec $fd>&-" ;; esac; done; cd /; ' +
  '[[ -z $1 ]] || : <>"$1"; HISTFILE= exec bash --noprofile --norc --noediting -i';

/**
 * Returns the program of the keeper. Lines that begin with the nonce start a shell, with the rest as its first file;
 * other lines were meant for a shell that is dead. A shell that stops itself is continued: nobody else could.
 */
export function keeperProgram(nonce: string): string {
  const mark = (word: string) => `builtin printf '\\e]7778;${nonce};%s\\a' ${word}`;
  return [
    "set -m +H; set +o history; unset HISTFILE",
    mark("ready"),
    "while IFS= read -r line; do " +
      `[[ $line == "${nonce} "* ]] || continue; ` +
      `bash --noprofile --rcfile "\${line#* }" --noediting -i; status=$?; ` +
      "while [[ -n $(jobs -ps) ]]; do fg; status=$?; done >/dev/null; " +
      `${mark("$status")}; done 2>/dev/null; exit\n`,
  ].join("; ");
}

/** Returns the line that starts a shell. */
export function startLine(nonce: string, init: string): string {
  return `${nonce} ${init}\n`;
}

/** Marks in the output: "ready", and the status of a shell that has ended. */
export type KeeperMark = "ready" | number;

/** Finds the keeper's marks in its output, however it is split into chunks. */
export function markScanner(nonce: string): (bytes: Uint8Array) => KeeperMark[] {
  const pattern = new RegExp(`\\x1b\\]7778;${nonce};(ready|\\d+)\\x07`, "g");
  const longest = nonce.length + 16;
  let pending = "";
  return (bytes) => {
    pending += Buffer.from(bytes).toString("latin1");
    const found = [...pending.matchAll(pattern)];
    const last = found.at(-1);
    pending = pending.slice(Math.max(last ? last.index + last[0].length : 0, pending.length - longest));
    return found.map(([, word]) => (word === "ready" ? "ready" : Number(word)));
  };
}
