/** `sawtooth sessions`: what is stored, newest first. Pure. */

type Stored = { id: string; turns: number; title: string; cwd: string };

/** One line a session; `cwd`: the list is of this folder only, so that it need not be named in each line. */
export function sessionsText(sessions: readonly Stored[], cwd: string | undefined): string {
  if (sessions.length === 0) return cwd ? "no sessions of this folder\n" : "no sessions\n";
  return sessions
    .map(({ id, turns, title, cwd: folder }) => {
      const count = `${String(turns).padStart(3)} ${turns === 1 ? "turn " : "turns"}`;
      return `${id}  ${count}  ${title}${cwd ? "" : `  (${folder})`}\n`;
    })
    .join("");
}
