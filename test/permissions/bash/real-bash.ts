/**
 * Records the calls that real bash would make for a line, and runs none of them: no program is found, and what was
 * looked for is written down.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * With an empty folder as home and place of work and no program to be found. `$1`: file of the lines, each ended by a
 * NUL; `$2`: where the calls go; `$3`: the status that every call has. Bash writes up to each line break at once, and
 * the calls of a pipeline come at the same time: so that they stay whole, a line break is written as U+0001.
 */
const recorder = `
set -f
lines=$1 calls=$2 status=$3 index=0
command_not_found_handle() { printf '%s\\0' "$index" "$#" "\${@//$'\\n'/$'\\1'}" >>"$calls"; return $status; }
while IFS= read -r -d '' line <&9; do
  ( eval "$line"; wait ) 9<&- </dev/null >/dev/null 2>&1
  index=$((index + 1))
done 9<"$lines"
`;

/** For each line the calls, each with its words. `home` is `$HOME` there. */
export function callsInBash(lines: readonly string[], status: 0 | 1): { calls: string[][][]; home: string } {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bash-"));
  try {
    const [input, output] = [join(folder, "..lines"), join(folder, "..calls")];
    writeFileSync(input, lines.map((line) => `${line}\0`).join(""));
    writeFileSync(output, "");
    const home = join(folder, "home");
    const env = { PATH: "/nonexistent", HOME: home, LC_ALL: "C.UTF-8" };
    const work = `mkdir -p "$HOME/w" && cd "$HOME/w" && exec env -i PATH=/nonexistent HOME="$HOME" LC_ALL=C.UTF-8 "$0" --norc --noprofile -c "$1" bash "$2" "$3" "$4"`;
    const { status: code, stderr } = spawnSync(
      "/bin/sh",
      ["-c", `PATH=/usr/bin:/bin; ${work}`, "/bin/bash", recorder, input, output, String(status)],
      { env, timeout: 120_000, encoding: "utf8" },
    );
    if (code !== 0) throw new Error(`bash ended with ${code}: ${stderr}`);
    return { calls: callsOf(readFileSync(output, "utf8").replaceAll("\x01", "\n").split("\0")), home };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each call comes with its line's number: one in the background may come after the next line's. */
function callsOf(fields: string[]): string[][][] {
  const lines: string[][][] = [];
  for (let at = 0; at < fields.length - 1; ) {
    const [index, count] = [Number(fields[at]), Number(fields[at + 1])];
    lines[index] = [...(lines[index] ?? []), fields.slice(at + 2, at + 2 + count)];
    at += 2 + count;
  }
  return lines;
}
