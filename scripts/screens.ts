/** `npm run screens -- <folder> [scene …]`: pictures of the real screen in a pty, on a dark and a light background. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import type { ScriptedReply } from "../src/models/playback/script.ts";
import { startMockServer } from "../test/support/mock-server.ts";
import { type Drive, type DriveOptions, drive } from "../test/support/pty-drive.ts";
import { makeWorkspace, type Workspace } from "../test/support/sawtooth.ts";

type Cells = ReturnType<Drive["cells"]>;
type Scene = {
  turns: ScriptedReply[];
  /** One of examples/: the folder that is worked in holds its files. */
  example?: string;
  /** The keys that are typed and the text that the window then holds, in turn. */
  steps?: [keys: string, then: string][];
  /** The text that the window holds once it is ready for keys; by default that of the input box. */
  ready?: string;
  words?: string[];
  options?: DriveOptions;
};

const scenes = parse(readFileSync(join(import.meta.dirname, "screens.yaml"), "utf8"), {
  merge: true,
}) as Record<string, Scene>;

const dark = ["#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"];
/** Tango: what VTE and xterm.js show where no theme is chosen. */
const light = ["#2e3436", "#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a", "#d3d7cf"];
const looks = {
  dark: { palette: dark, back: "#101010", front: "#e5e5e5" },
  light: { palette: light, back: "#ffffff", front: "#222222" },
};

type Cell = Cells[number][number];
type Look = (typeof looks)["dark"];

function spanOf(cell: Cell, look: Look, isCursor: boolean): string {
  if (cell.getWidth() === 0) return "";
  const front = cell.isFgPalette() ? (look.palette[cell.getFgColor()] ?? "#f0f") : look.front;
  const [color, background] = cell.isInverse() ? [look.back, front] : [front, "none"];
  const style = [
    `color:${color};background:${background};width:${cell.getWidth()}ch`,
    ...(cell.isBold() ? ["font-weight:bold"] : []),
    ...(cell.isDim() ? ["opacity:.55"] : []),
    ...(cell.isItalic() ? ["font-style:italic"] : []),
    ...(cell.isUnderline() ? ["text-decoration:underline"] : []),
    ...(isCursor ? ["outline:1px solid #f80"] : []),
  ];
  const text = cell.getChars().replaceAll("&", "&amp;").replaceAll("<", "&lt;") || " ";
  return `<span style="${style.join(";")}">${text}</span>`;
}

/** The window as a page of spans; the cursor's cell is framed. */
function pageOf(cells: Cells, cursor: { row: number; column: number }, look: Look): string {
  const rows = cells.map((row, at) => {
    const spans = row.map((cell, column) =>
      spanOf(cell, look, at === cursor.row && column === cursor.column),
    );
    return `<div>${spans.join("")}</div>`;
  });
  const style = `body{margin:8px;background:${look.back};font:15px/19px "DejaVu Sans Mono",monospace;white-space:pre}span{display:inline-block;height:19px;vertical-align:top}`;
  return `<meta charset="utf-8"><style>${style}</style>${rows.join("")}`;
}

function photograph(
  folder: string,
  name: string,
  page: string,
  { columns = 80, rows = 24 }: DriveOptions,
): void {
  const file = join(folder, `${name}.html`);
  writeFileSync(file, page);
  const shot = [
    `--screenshot=${join(folder, `${name}.png`)}`,
    `--window-size=${columns * 9 + 32},${rows * 19 + 24}`,
  ];
  execFileSync(
    "chromium",
    ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", ...shot, `file://${file}`],
    { stdio: "ignore" },
  );
}

/** A repository of the example in the home of `workspace`, which becomes its folder. */
function workOn(example: string, workspace: Workspace): void {
  workspace.cwd = join(workspace.home, example);
  cpSync(join(import.meta.dirname, "../examples", example), workspace.cwd, { recursive: true });
  const git = (...words: string[]) => execFileSync("git", words, { cwd: workspace.cwd });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("-c", "user.name=demo", "-c", "user.email=demo@localhost", "commit", "--quiet", "-m", "The shop");
}

async function show(
  folder: string,
  name: string,
  { turns, example, steps = [], words = [], options = {}, ready = "›" }: Scene,
): Promise<void> {
  const server = await startMockServer({ turns });
  const workspace = makeWorkspace(server.url);
  if (example) workOn(example, workspace);
  const terminal = drive(workspace, words, options);
  await terminal.until(ready);
  for (const [keys, then] of steps) {
    terminal.send(keys);
    await terminal.until(then);
  }
  await new Promise((done) => setTimeout(done, 700));
  for (const [look, colours] of Object.entries(looks))
    photograph(folder, `${name}-${look}`, pageOf(terminal.cells(), terminal.cursor(), colours), options);
  writeFileSync(join(folder, `${name}.txt`), `${terminal.screen().join("\n")}\n`);
  terminal.kill();
  await terminal.ended;
  await server.close();
  workspace.remove();
}

const [folder, ...chosen] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("screens: say where to: npm run screens -- <folder> [scene …]\n");
  process.exitCode = 2;
} else {
  mkdirSync(folder, { recursive: true });
  for (const [name, scene] of Object.entries(scenes)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    process.stderr.write(`${name}\n`);
    await show(resolve(folder), name, scene);
  }
}
