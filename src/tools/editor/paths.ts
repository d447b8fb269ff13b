/** The files that a call of the editor touches. */

import { resolve } from "node:path";
import type { Access } from "../../core/ports.ts";
import { editorCalls } from "../../core/tool-calls.ts";
import { realTarget } from "../../disk/real-path.ts";

/** Returns what a call touches. Never throws: a path that cannot be resolved stays as it was written. */
export function accessOf(input: Record<string, unknown>, workspace: string): Access {
  const { kind: access, paths } = editorCalls.touches(input);
  const path = resolve(workspace, paths[0] ?? ".");
  const kind = access === "reads" ? "read" : "write";
  try {
    return { kind, paths: [realTarget(path)] };
  } catch {
    return { kind, paths: [path] };
  }
}
