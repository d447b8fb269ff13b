/** S13 case-folded: on a disk that ignores case another spelling is the same file, so it is refused as that one is. */

import { describe, expect, test } from "vitest";
import { decidePermission, type PermissionMode } from "../../src/permissions/decide.ts";
import { seatbeltProfile } from "../../src/sandbox/seatbelt.ts";
import { parse } from "./bash/parser.ts";

const modes: PermissionMode[] = ["ask", "accept-edits", "plan", "auto"];
const home = "/home/u";

function decide(mode: PermissionMode, access: Parameters<typeof decidePermission>[0]["access"]) {
  return decidePermission({
    ...{ mode, allow: ["bash", "edit"], deny: [], access, home, parse, workspace: [`${home}/app`] },
    toolName: access.kind === "execute" ? "bash" : "str_replace_editor",
    protectedPaths: [`${home}/.config/sawtooth`],
  });
}

describe("S13 case-folded", () => {
  const paths = [
    `${home}/.Bashrc`,
    `${home}/.BASHRC`,
    `${home}/.SSH/authorized_keys`,
    `${home}/.GitConfig`,
    `${home}/app/.GIT/hooks/pre-commit`,
    `${home}/app/.git/HOOKS/pre-commit`,
    `${home}/app/.Git/Config`,
    `${home}/.Config/Sawtooth/settings.json`,
    `${home}/.config/SAWTOOTH/settings.json`,
    `${home}/.config/\u017fawtooth/settings.json`,
    `${home}/.ba\u200bshrc`,
  ];

  test.each(paths)("%s is refused always, by the editor and by commands", (path) => {
    for (const mode of modes) {
      expect(decide(mode, { kind: "write", paths: [path] })).toMatchObject({
        decision: "deny",
        by: "always",
      });
      const command = `echo x > '${path}'`;
      expect(decide(mode, { kind: "execute", command })).toMatchObject({ decision: "deny", by: "always" });
    }
  });

  test("the profile for macOS closes a path in every case", () => {
    const profile = seatbeltProfile({
      ...{
        writable: [home],
        readOnly: [`${home}/.bashrc`],
        pinned: [],
        hidden: [`${home}/.ssh`],
        withoutTokens: [],
      },
      ...{ watched: [], sockets: { mask: [], pass: [] }, hosts: [], ports: [], devices: [] },
      ...{ environment: { pass: [], drop: [] }, why: {} },
    });
    const patterns = [...profile.matchAll(/\(regex #"([^"]+)"\)/g)].map(([, text = ""]) => new RegExp(text));
    for (const path of [`${home}/.Bashrc`, `${home}/.SSH/id_rsa`])
      expect(patterns.some((pattern) => pattern.test(path))).toBe(true);
    expect(patterns.some((pattern) => pattern.test(`${home}/.bashrc2`))).toBe(false);
  });
});
