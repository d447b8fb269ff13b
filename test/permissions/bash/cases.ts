/** Decisions for the tests of permissions: a home, a workspace, and nothing allowed or denied unless said. */

import type { Access } from "../../../src/core/ports.ts";
import { decidePermission, type PermissionMode } from "../../../src/permissions/decide.ts";
import type { PermissionInput } from "../../../src/permissions/decision.ts";
import { parse } from "./parser.ts";

export const home = "/home/u";
export const modes: PermissionMode[] = ["ask", "accept-edits", "plan", "auto"];

type Options = Partial<PermissionInput>;

export function decide(access: Access, options: Options = {}) {
  const editor = "str_replace_editor";
  const names = {
    execute: "bash",
    remote: "mcp",
    program: "weather",
    session: "todo",
    read: editor,
    write: editor,
    fetch: "fetch",
    delegate: "delegate",
  };
  return decidePermission({
    ...{ mode: "ask", allow: [], deny: [], toolName: names[access.kind], access, home },
    workspace: ["/w/app"],
    protectedPaths: [`${home}/.config/sawtooth`, `${home}/.local/state/sawtooth`],
    parse,
    readable: [`${home}/.local/state/sawtooth/sessions/s1`],
    ...options,
  });
}

export const run = (command: string, options?: Options) => decide({ kind: "execute", command }, options);
export const read = (path: string, options?: Options) => decide({ kind: "read", paths: [path] }, options);
export const write = (path: string, options?: Options) => decide({ kind: "write", paths: [path] }, options);
