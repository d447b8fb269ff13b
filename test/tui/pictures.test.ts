/** Pictures at the screen: pasted from the clipboard, dragged, and named; in a message and while a turn runs. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { pngOfRows } from "../support/image-fuzz.ts";
import { drive } from "../support/pty-drive.ts";
import { sawtooth } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { again, held, letGo } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";

const picture = pngOfRows(40, 30, 0);
const ctrlV = "\x16";
const size = `png image, 40x30, ${picture.length} bytes`;

/** The media types of the pictures, and the texts, of the last user message of a request. */
function lastMessage(body: unknown): string[] {
  const { messages } = body as { messages: { role: string; content: object[] }[] };
  const content = messages.findLast(({ role }) => role === "user")?.content ?? [];
  return content.map((block) => {
    const { text, source } = block as { text?: string; source?: { media_type: string } };
    return text ?? source?.media_type ?? "other";
  });
}

const hasX = ["Xvfb", "xclip"].every((name) => spawnSync("which", [name]).status === 0);

/** A display of its own that nobody sees; returns its name. */
async function display(): Promise<string> {
  const server = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "640x480x8", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, "close");
  });
  const [bytes] = (await once(server.stdio[3] as Readable, "data")) as [Buffer];
  return `:${bytes.toString().trim()}`;
}

async function opened(clipboard: string | undefined) {
  const { server, workspace } = await serve([{ calls: [{ bash: { command: held } }] }, { text: "seen" }]);
  writeFileSync(join(workspace.cwd, "shot.png"), picture);
  const bin = join(workspace.home, "bin");
  mkdirSync(bin);
  // A real program that does what the real one does: writes the picture, or fails.
  writeFileSync(join(bin, "wl-paste"), `#!/bin/sh\n${clipboard ?? "exit 1"}\n`);
  chmodSync(join(bin, "wl-paste"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, WAYLAND_DISPLAY: "wayland-0", DISPLAY: "" };
  const words = ["--permission-mode", "auto"];
  const terminal = await again({ ...workspace, env: { ...workspace.env, ...env } }, words);
  return { terminal, server, workspace };
}

describe("pictures", () => {
  test("from the clipboard and by name reach the model, with their size and price on the screen", async () => {
    const { terminal, server, workspace } = await opened('cat "$HOME/../work/shot.png"');
    terminal.send(`compare ${ctrlV}`);
    await terminal.until("@clipboard-1.png");
    // As a terminal pastes a file that is dragged into it.
    terminal.send(`with\x1b[200~${workspace.cwd}/shot.png\x1b[201~\r`);
    await terminal.until(`clipboard-1.png: ${size} · about 1.6k tokens, $`);
    await terminal.until("until [ -e");
    const named = `${workspace.cwd}/shot.png`;
    expect(lastMessage(server.requests[0]).slice(-5)).toEqual([
      `compare @clipboard-1.png with @${named} `,
      ...[`clipboard-1.png: ${size}`, "image/png", `${named}: ${size}`, "image/png"],
    ]);
    // While the turn runs: with the next step. The blank ends the completion of the name.
    terminal.send("and @shot.png \r");
    await terminal.until("queued: and @shot.png");
    letGo(workspace);
    await terminal.until("seen");
    expect(lastMessage(server.requests[1])).toEqual(
      expect.arrayContaining(["and @shot.png ", `shot.png: ${size}`, "image/png"]),
    );
  });

  test("that the clipboard does not hold are told, and the text stays", async () => {
    const { terminal } = await opened(undefined);
    terminal.send(`compare ${ctrlV}`);
    await terminal.until("the clipboard holds no picture");
    expect(terminal.screen().join("\n")).toContain("› compare");
  });
});

test.skipIf(!hasX)("from a clipboard of X (packages xclip, xvfb); text in it is no picture", async () => {
  const { server, workspace } = await serve([{ text: "seen" }]);
  const file = join(workspace.home, "a.png");
  writeFileSync(file, picture);
  const DISPLAY = await display();
  const copy = (...words: string[]) =>
    execFileSync("xclip", ["-selection", "clipboard", ...words], {
      env: { ...process.env, DISPLAY },
      stdio: "ignore",
    });
  const targets = () =>
    execFileSync("xclip", ["-selection", "clipboard", "-o", "-t", "TARGETS"], {
      env: { ...process.env, DISPLAY },
      encoding: "utf8",
    });
  copy("-t", "image/png", "-i", file);
  const terminal = await again({ ...workspace, env: { ...workspace.env, DISPLAY, WAYLAND_DISPLAY: "" } });
  terminal.send(`look at ${ctrlV}`);
  await terminal.until("@clipboard-1.png");
  terminal.send("\r");
  await terminal.until("seen");
  expect(lastMessage(server.requests[0]).slice(-2)).toEqual([`clipboard-1.png: ${size}`, "image/png"]);
  writeFileSync(join(workspace.home, "words.txt"), "only words");
  copy("-i", join(workspace.home, "words.txt"));
  // The copier is in the background before the server knows it as the owner.
  await until(() => !targets().includes("image/png"), "the words in the clipboard");
  terminal.send(ctrlV);
  await terminal.until("the clipboard holds no picture");
});

test("in the plain screen what waits for the end of a turn keeps its pictures", async () => {
  const { server, workspace } = await serve([{ calls: [{ bash: { command: held } }] }, { text: "seen" }]);
  writeFileSync(join(workspace.cwd, "shot.png"), picture);
  const terminal = drive(workspace, ["--plain", "--permission-mode", "auto"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("/help");
  terminal.send("go\r");
  await until(() => server.requests.length === 1, "the first request");
  terminal.send("look at @shot.png\r");
  await terminal.until("queued for the next step");
  terminal.send("\x03");
  await terminal.until("seen");
  expect(lastMessage(server.requests.at(-1))).toEqual(
    expect.arrayContaining(["look at @shot.png", `shot.png: ${size}`, "image/png"]),
  );
  letGo(workspace);
});

test("a prompt of -p attaches what it names; piped text names nothing", async () => {
  const { server, workspace } = await serve([{ text: "seen" }, { text: "seen" }]);
  writeFileSync(join(workspace.cwd, "shot.png"), picture);
  await sawtooth(workspace, ["-p", "what is @shot.png"]);
  expect(lastMessage(server.requests[0]).slice(-3)).toEqual([
    "what is @shot.png",
    `shot.png: ${size}`,
    "image/png",
  ]);
  await sawtooth(workspace, ["-p", "what is this"], { input: "@shot.png" });
  expect(lastMessage(server.requests[1])).not.toContain("image/png");
});
