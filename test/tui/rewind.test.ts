import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import {
  after,
  bash,
  before,
  filesOf,
  lastRequest,
  sessionWithChanges,
  turns,
} from "../support/changed-session.ts";
import { type Drive, drive } from "../support/pty-drive.ts";
import { jsonLines, type Workspace } from "../support/sawtooth.ts";
import { atRest, held, lastUserText, letGo, open } from "../support/terminal-fixture.ts";

/** The logs, the newest session last. */
function logs(workspace: Workspace): LogEvent[][] {
  const files = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  const read = files.map((file) => jsonLines(readFileSync(join(workspace.home, file), "utf8")) as LogEvent[]);
  const parents = (log: LogEvent[]) =>
    Number(log[0]?.type === "session_started" && log[0].parent !== undefined);
  return read.sort((x, y) => parents(x) - parents(y));
}

async function choose(terminal: Drive, digit: string): Promise<void> {
  terminal.send("\r");
  await terminal.until("What should be restored?");
  terminal.send(digit);
}

describe("/rewind", () => {
  test("brings back files and conversation, with the message in the input box", async () => {
    const { terminal, server, workspace } = await sessionWithChanges();
    terminal.send("/rewind\r");
    await terminal.until(/❯ change it .* 3 files\n {4}make it .* 3 files/);
    expect(terminal.screen().join("\n")).toMatch(/~ a\.bin\n.*\+ d\/b\.txt\n.*- kept\.txt/);
    await choose(terminal, "1");
    await terminal.until(/a branch of[\s\S]*› change it$/m);
    expect(terminal.whole().join("\n")).toMatch(/3 files restored to snapshot/);
    expect(filesOf(workspace)).toEqual(before);
    terminal.send(" otherwise\r");
    await terminal.until("third done");
    expect(lastUserText(server)).toBe("change it otherwise");
    expect(lastRequest(server)).toContain("first done");
    expect(lastRequest(server)).not.toContain("second done");
    // Who comes back to the old session reads there that its changes are gone.
    const [old] = logs(workspace);
    expect(JSON.stringify(old)).toContain("second done");
    expect(old?.at(-1)).toMatchObject({ type: "reminder", text: expect.stringContaining("The user undid") });
  });

  test("brings back the conversation alone, and the model is told what stayed", async () => {
    const { terminal, server, workspace } = await sessionWithChanges();
    terminal.send("\x1b\x1b");
    await terminal.until("❯ change it");
    await choose(terminal, "2");
    await terminal.until(/a branch of[\s\S]*› change it$/m);
    expect(filesOf(workspace)).toEqual(after);
    terminal.send("\r");
    await terminal.until("third done");
    expect(lastRequest(server)).toMatch(
      /but the files did not.*a\.bin \(changed\).*b\.txt \(added\).*kept\.txt \(removed\)/,
    );
    expect(lastRequest(server)).not.toContain("second done");
  });

  test("brings back files alone, and the model is told so", async () => {
    const { terminal, server, workspace } = await sessionWithChanges();
    terminal.send("/rewind\r");
    await terminal.until("❯ change it");
    await choose(terminal, "3");
    await terminal.until("To revert this: /undo redo");
    expect(filesOf(workspace)).toEqual(before);
    terminal.send("and now\r");
    await terminal.until("third done");
    expect(lastRequest(server)).toMatch(/second done.*The user undid changes of files.*and now/);
    expect(logs(workspace)).toHaveLength(1);
  });

  test("goes further back from a branch, with the files of the session it came from", async () => {
    const { terminal, server, workspace } = await sessionWithChanges();
    terminal.send("/rewind\r");
    await terminal.until("❯ change it");
    await choose(terminal, "2");
    // Typed before the branch is there.
    terminal.send("\x15/rewind\r");
    await terminal.until("❯ make it");
    await choose(terminal, "1");
    await terminal.until(/restored to snapshot[\s\S]*a branch of[\s\S]*› make it$/m);
    expect(filesOf(workspace)).toEqual({ a: undefined, mode: undefined, b: undefined, kept: "kept\n" });
    terminal.send("\r");
    await terminal.until("third done");
    expect(lastUserText(server)).toBe("make it");
    expect(server.requests.at(-1)?.messages).toHaveLength(1);
  });

  test("does not take what an abandoned turn did for the doing of the one in its place", async () => {
    const { terminal, workspace } = await open(
      [...turns.slice(0, 2), bash("printf three > a.bin"), { text: "in its place" }],
      ["--permission-mode", "auto"],
    );
    terminal.send("make it\r");
    await terminal.until("first done");
    await atRest(terminal);
    terminal.send("/rewind\r");
    await terminal.until("❯ make it");
    await choose(terminal, "2");
    await terminal.until(/a branch of[\s\S]*› make it$/m);
    terminal.send(" again\r");
    await terminal.until("in its place");
    await atRest(terminal);
    terminal.send("/rewind\r");
    await terminal.until(/❯ make it again .* 1 file\n/);
    await choose(terminal, "3");
    await terminal.until("1 file restored to snapshot");
    expect(filesOf(workspace)).toMatchObject({ a: before.a, mode: before.mode });
  });

  test("takes the name along, so that it leads to where the work goes on", async () => {
    const { terminal, workspace } = await sessionWithChanges();
    terminal.send("/name it\r");
    await terminal.until("is called it");
    terminal.send("/rewind\r");
    await terminal.until("❯ change it");
    await choose(terminal, "1");
    await terminal.until(/a branch of[\s\S]*is called it\n[\s\S]*› change it$/m);
    const names = logs(workspace).map((log) => log.findLast(({ type }) => type === "session_named"));
    expect(names).toMatchObject([{ name: "it (before going back)" }, { name: "it" }]);
  });

  test("goes back to words that were said while it worked, with the steps before them", async () => {
    const steps: ScriptedReply[] = [bash(`${held} > x.txt`), { text: "steered" }, { text: "again" }];
    const { terminal, server, workspace } = await open(steps, [
      ...["--permission-mode", "auto", "--append-system-prompt", "Be brief."],
    ]);
    terminal.send("go\r");
    await terminal.until("Running");
    terminal.send("faster\r");
    await terminal.until("queued: faster");
    letGo(workspace);
    await terminal.until("steered");
    await atRest(terminal);
    terminal.send("/rewind\r");
    await terminal.until(/❯ faster +just now\n {4}go +just now +1 file/);
    await choose(terminal, "1");
    await terminal.until(/a branch of[\s\S]*› faster$/m);
    terminal.send("\r");
    await terminal.until("again");
    expect(lastRequest(server)).toMatch(/"go".*tool_result.*"faster"/);
    expect(server.exchanges.every(({ status }) => status === 200)).toBe(true);
  });

  test("goes on with the effort that was chosen, and says that background jobs end", async () => {
    const job = { calls: [{ bash: { command: "sleep 60", background: true } }] };
    const { terminal, server, workspace } = await open(
      [job, { text: "it runs" }, { text: "again" }],
      [...["--permission-mode", "auto", "--effort", "high"]],
    );
    terminal.send("/effort low\r");
    await terminal.until(/from here on .*, effort low/);
    terminal.send("go\r");
    await terminal.until("it runs");
    await atRest(terminal);
    terminal.send("/rewind\r");
    await terminal.until("❯ go");
    terminal.send("\r");
    await terminal.until("1 background job will end");
    terminal.send("\r");
    await terminal.until(/a branch of[\s\S]*› go$/m);
    terminal.send("\r");
    await terminal.until("again");
    expect(server.requests.map((request) => request.output_config?.effort)).toEqual(["low", "low", "low"]);
    expect(logs(workspace)).toHaveLength(2);
  });

  test("says when there is nowhere to go back to, and Esc leaves everything as it is", async () => {
    const { terminal, workspace } = await open(turns);
    terminal.send("/rewind\r");
    await terminal.until("No messages yet");
    terminal.send("x\x7f!echo hi\r");
    await terminal.until(/^ {2}hi$/m);
    await atRest(terminal);
    terminal.send("/rewind\r");
    await terminal.until(/❯ !echo hi/);
    terminal.send("\r");
    await terminal.until(/❯ 1 Conversation only[\s\S]*No file has changed since/);
    terminal.send("\x1b");
    await terminal.until("what to do?");
    expect(logs(workspace)).toHaveLength(1);
  });

  test("in a window of 40 by 10 shows the list, the ways and how to leave", async () => {
    const { terminal } = await sessionWithChanges({ columns: 40, rows: 10 });
    terminal.send("/rewind\r");
    await terminal.until(/Rewind to before a message · 2[\s\S]*❯ change it[\s\S]*make it[\s\S]*Esc closes/);
    terminal.send("\r");
    await terminal.until(
      /❯ 1 Conversation and files\n {4}2 Conversation only\n {4}3 Files only[\s\S]*Esc closes/,
    );
    expect(terminal.screen().join("\n")).toContain("3 files as before that message");
  });

  test("with --plain asks by number and tells the message again", async () => {
    const { terminal: first, workspace } = await sessionWithChanges();
    first.send("\x04");
    await first.ended;
    const terminal = drive(workspace, ["--plain", "-c"]);
    await terminal.until("/help lists keys");
    terminal.send("/rewind\r");
    await terminal.until(/1 change it, just now, 3 files/);
    terminal.send("1\r");
    await terminal.until("3 Files only");
    terminal.send("2?\r");
    await terminal.until("The files stay as they are now.");
    terminal.send("2\r");
    await terminal.until(/Your message was:\nchange it/);
    expect(terminal.raw()).not.toContain("\x1b");
    terminal.kill();
  });
});
