/** Reads the picture in the clipboard, with the program for it that is on this machine. */

import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { picturesFolder } from "../../app/opening/folders.ts";
import { type Environment, withoutSecrets } from "../../core/secrets/secrets.ts";

const mostBytes = 64 * 1024 * 1024;
/** Milliseconds; the owner of the clipboard is another program, which may not answer. */
const patienceMs = 3000;

/**
 * Stores the picture in the clipboard and returns its name, as it is written after `@`. Rejects with what to do when
 * there is none, or no program that reads it.
 */
export async function pastedPicture(sessionFolder: string, env: Environment): Promise<string> {
  const programs = programsFor(env);
  const outcomes: Outcome[] = [];
  for (const words of programs) {
    const outcome = await outputOf(words, env);
    // The owner of the clipboard may answer with what it has, whatever it was asked for.
    const isOne = outcome.type === "picture" && (await pictures()).isPicture(outcome.bytes);
    if (isOne) return stored(sessionFolder, outcome.bytes);
    outcomes.push(outcome.type === "picture" ? { type: "none" } : outcome);
  }
  if (outcomes.some(({ type }) => type === "none"))
    throw new Error("the clipboard holds no picture; name a file instead: @path/to/it.png");
  const names = programs.map(([name]) => name).join(" or ");
  throw new Error(
    `reading a picture from the clipboard needs ${names || "a desktop: DISPLAY or WAYLAND_DISPLAY is not set"}; or name a file: @path/to/it.png`,
  );
}

/** Loaded with the first picture. */
const pictures = () => import("../../app/messages/pictures.ts");

function programsFor({ WAYLAND_DISPLAY, DISPLAY }: Environment): string[][] {
  if (process.platform === "darwin") return [["pngpaste", "-"]];
  return [
    ...(WAYLAND_DISPLAY ? [["wl-paste", "--type", "image/png"]] : []),
    ...(DISPLAY ? [["xclip", "-selection", "clipboard", "-t", "image/png", "-o"]] : []),
  ];
}

type Outcome = { type: "picture"; bytes: Buffer } | { type: "none" } | { type: "missing" };

/** Runs outside of the workspace, so that a relative folder in `PATH` finds nothing of it. */
function outputOf([command = "", ...words]: readonly string[], env: Environment): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, words, {
      cwd: "/",
      env: withoutSecrets(env),
      stdio: ["ignore", "pipe", "ignore"],
      timeout: patienceMs,
      killSignal: "SIGKILL",
    });
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > mostBytes) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.on("error", () => resolve({ type: "missing" }));
    child.on("close", (code) => {
      const bytes = Buffer.concat(chunks);
      resolve(code === 0 && bytes.length > 0 ? { type: "picture", bytes } : { type: "none" });
    });
  });
}

function stored(sessionFolder: string, bytes: Buffer): string {
  const folder = picturesFolder(sessionFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `clipboard-${readdirSync(folder).length + 1}.png`;
  writeFileSync(join(folder, name), bytes, { mode: 0o600, flag: "wx" });
  return name;
}
