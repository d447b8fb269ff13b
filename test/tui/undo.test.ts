import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  after,
  before,
  filesOf,
  lastRequest,
  sessionWithChanges,
  turns,
} from "../support/changed-session.ts";
import { atRest, open } from "../support/terminal-fixture.ts";

describe("/undo", () => {
  test("puts back the files of the last turn, tells the model, and takes that back", async () => {
    const { terminal, server, workspace } = await sessionWithChanges();
    terminal.send("/undo list\r");
    await terminal.until(/turn 2 {2}before printf two[\s\S]*~ a\.bin/);
    terminal.send("/undo\r");
    await terminal.until(/3 files restored to snapshot \d+:[\s\S]*brought back +kept\.txt/);
    expect(filesOf(workspace)).toEqual(before);
    terminal.send("what now\r");
    await terminal.until("third done");
    await atRest(terminal);
    expect(lastRequest(server)).toMatch(/The user undid changes of files.*kept\.txt \(added\).*what now/);
    terminal.send("/undo redo\r");
    await terminal.until(/restored +a\.bin[\s\S]*restored +a\.bin/);
    await atRest(terminal);
    expect(filesOf(workspace)).toEqual(after);
    terminal.send("/undo 0\r");
    await terminal.until(/removed +a\.bin/);
    expect(filesOf(workspace)).toEqual({ a: undefined, mode: undefined, b: undefined, kept: "kept\n" });
  });

  test("leaves git as it is", async () => {
    const { terminal, workspace } = await open(turns, ["--permission-mode", "auto"]);
    const git = (...words: string[]) =>
      execFileSync("git", words, { cwd: workspace.cwd, env: workspace.env, encoding: "utf8" });
    writeFileSync(join(workspace.cwd, "kept.txt"), "kept\n");
    git("init", "-q");
    git("add", "kept.txt");
    terminal.send("make it\r");
    await terminal.until("first done");
    await atRest(terminal);
    const index = readFileSync(join(workspace.cwd, ".git/index"));
    terminal.send("/undo\r");
    await terminal.until(/removed +a\.bin/);
    expect(readFileSync(join(workspace.cwd, ".git/index"))).toEqual(index);
    expect(git("status", "--porcelain")).toBe("A  kept.txt\n");
  });

  test("says what it takes, and when there is nothing to undo", async () => {
    const { terminal } = await open(turns);
    terminal.send("/undo\r");
    await terminal.until("there is nothing to undo");
    terminal.send("/undo redo\r");
    await terminal.until("there is no undo to take back");
    terminal.send("/undo 7\r");
    await terminal.until("there is no snapshot 7: /undo list shows them");
    terminal.send("/undo everything\r");
    await terminal.until("Usage: /undo [list|<n>|redo]");
    terminal.send("/undo list\r");
    await terminal.until("no snapshots of session");
  });
});
