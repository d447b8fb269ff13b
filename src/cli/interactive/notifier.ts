/** Notices of the screen: as the terminal or a program of the person shows them. */

import { spawn } from "node:child_process";
import type { NotifySetting } from "../../config/settings.ts";
import { withoutSecrets } from "../../core/secrets/secrets.ts";
import { type Notifier, noticeBytes, noticeTerminal, plainNotice } from "../../tui/screen/notices.ts";

type Context = { env: Record<string, string | undefined>; warn(text: string): void };

/** How long a program of the person may take, in milliseconds. */
const programMs = 10_000;

/** Returns how the person wants to be told; undefined: not at all. `warn`: called when their program cannot be run. */
export function notifierOf(setting: NotifySetting = "auto", { env, warn }: Context): Notifier | undefined {
  if (setting === "off") return undefined;
  const terminal = noticeTerminal(env);
  const atFirst = terminal.reportsFocus ? "here" : "unknown";
  if (typeof setting === "object")
    return {
      atFirst,
      show(notice) {
        const { title, body } = plainNotice(notice);
        run([...setting.command, title, body], { env, warn });
        return "";
      },
    };
  const way = setting === "auto" ? terminal.way : setting;
  return { atFirst, show: (notice) => noticeBytes(notice, { way, inTmux: terminal.inTmux }) };
}

/** Runs the program without keys, away from the folder worked in, and does not wait for it. */
function run([program = "", ...words]: readonly string[], { env, warn }: Context): void {
  const child = spawn(program, words, {
    ...{ cwd: env.HOME ?? "/", env: withoutSecrets(env), stdio: "ignore" },
    ...{ timeout: programMs, killSignal: "SIGKILL" },
  });
  child.unref();
  child.on("error", (error: NodeJS.ErrnoException) =>
    warn(`notify: ${program} was not run (${error.code ?? error.message}): see docs/configuration.md`),
  );
}
