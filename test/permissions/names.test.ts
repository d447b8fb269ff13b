/** Protected names in any case and spelling, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import type { PermissionInput } from "../../src/permissions/decision.ts";
import { decide, home, modes, run as runIn } from "./bash/cases.ts";

const autoMode: Partial<PermissionInput> = { mode: "auto", workspace: ["/home/u/app"] };
const run = (command: string, options: Partial<PermissionInput> = {}) =>
  runIn(command, { ...autoMode, ...options });

describe("names are compared as a disk compares them that knows no case", () => {
  test.each([
    "~/.Bashrc",
    "~/.BASHRC",
    "~/.ba\u017fhrc",
    "~/.bashr*",
    "~/.[bB]ashrc",
    "~/.SSH/authorized_keys",
    "~/.s?h/config",
    "~/.Config/Sawtooth/settings.json",
    "~/.conf*/sawtooth/AGENTS.md",
    "/HOME/u/.profile",
    "~/.config/Fish/config.fish",
    "~/.GitConfig",
    "app/.GIT/Config",
    "app/.git/modules/sub/config",
    "app/.git/config.worktree",
    "app/.git/commondir",
    "app/.git/worktrees/x/config.worktree",
    "app/.GIT/Hooks/pre-commit",
  ])("writing %s is refused to commands in every mode", (name) => {
    const path = name.startsWith("app/") ? `${home}/${name}` : name;
    for (const command of [`echo x >> ${path}`, `cp x ${path}`, `tee ${path}`])
      for (const mode of modes)
        expect(run(command, { mode, allow: ["bash"] })).toMatchObject({ decision: "deny" });
  });

  test.each([
    ".Bashrc",
    ".ba\u017fhrc",
    ".b\u200dashrc",
    ".SSH/id_rsa",
    ".Config/Sawtooth/x",
    "app/.GI\u200cT/hooks/x",
  ])("writing %s is refused to the editor in every mode", (name) => {
    for (const mode of modes) {
      const access = { kind: "write" as const, paths: [`${home}/${name}`] };
      const decided = decide(access, { ...autoMode, mode, allow: ["edit"], toolName: "str_replace_editor" });
      expect(decided).toMatchObject({ decision: "deny", by: "always" });
    }
  });

  test("deleting is judged the same way", () => {
    for (const command of ["rm -rf /HOME/U", "rm -rf /ETC", "rm -rf .Git", "rm -rf /home/u/APP"])
      expect(run(command)).toMatchObject({ decision: "deny", by: "always" });
  });
});
