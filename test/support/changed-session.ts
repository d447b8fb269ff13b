/** The fixture for tests of undo and rewind: a session that changed files in two turns of real commands. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "./mock-server.ts";
import type { DriveOptions } from "./pty-drive.ts";
import type { Workspace } from "./sawtooth.ts";
import { atRest, open, type TerminalFixture } from "./terminal-fixture.ts";

export const bash = (command: string) => ({ calls: [{ bash: { command } }] });
export const turns: ScriptedReply[] = [
  bash("printf 'one\\r\\n\\377' > a.bin; chmod 755 a.bin"),
  { text: "first done" },
  bash("printf two > a.bin; chmod 644 a.bin; mkdir -p d; printf b > d/b.txt; rm kept.txt"),
  { text: "second done" },
  { text: "third done" },
  { text: "fourth done" },
];
const one = Buffer.from([111, 110, 101, 13, 10, 255]);

/** A session whose second turn changed a file, added one and removed one. */
export async function sessionWithChanges(options: DriveOptions = {}): Promise<TerminalFixture> {
  const fixture = await open(turns, ["--permission-mode", "auto"], options);
  const { terminal, workspace } = fixture;
  writeFileSync(join(workspace.cwd, "kept.txt"), "kept\n");
  for (const [words, answer] of [
    ["make it", "first done"],
    ["change it", "second done"],
  ] as const) {
    terminal.send(`${words}\r`);
    await terminal.until(answer);
    await atRest(terminal);
  }
  expect(filesOf(workspace)).toEqual({ a: "two", mode: 0o644, b: "b", kept: undefined });
  return fixture;
}

export function filesOf({ cwd }: Workspace) {
  const text = (name: string) =>
    existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "latin1") : undefined;
  const mode = existsSync(join(cwd, "a.bin")) ? modeOf(join(cwd, "a.bin")) : undefined;
  return { a: text("a.bin"), mode, b: text("d/b.txt"), kept: text("kept.txt") };
}

function modeOf(file: string): number {
  return Number.parseInt(execFileSync("stat", ["-c", "%a", file], { encoding: "utf8" }), 8);
}

export const before = { a: one.toString("latin1"), mode: 0o755, b: undefined, kept: "kept\n" };
export const after = { a: "two", mode: 0o644, b: "b", kept: undefined };

export function lastRequest(server: MockServer): string {
  return JSON.stringify(server.requests.at(-1)?.messages);
}
