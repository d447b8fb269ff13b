/** `npm run screens -- <folder> [scene …]`: pictures of the real screen in a pty, on a dark and a light background. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import type { EventBody } from "../src/core/events.ts";
import { noUsage } from "../src/core/model-card.ts";
import type { ScriptedReply } from "../src/models/playback/script.ts";
import { startBrowser } from "../test/support/browser.ts";
import { startMockServer } from "../test/support/mock-server.ts";
import { type Drive, type DriveOptions, drive } from "../test/support/pty-drive.ts";
import { sessionLog } from "../test/support/report-log.ts";
import { makeWorkspace, type Workspace, writeSettings } from "../test/support/sawtooth.ts";
import { servedLog } from "../test/support/served-log.ts";

type Cells = ReturnType<Drive["cells"]>;
/** Texts may hold `{{home}}`, `{{root}}` of the repository, and `{{host}}`, where `page` is served. */
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
  /** Files in the person's home, by their paths there. */
  files?: Record<string, string>;
  settings?: object;
  /** Text of a page that a server of this machine has. */
  page?: string;
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

/** Serves the page. Returns the host with its port, and how to end. */
async function served(page: string): Promise<{ host: string; close(): void }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { host: `localhost:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

async function show(folder: string, name: string, scene: Scene): Promise<void> {
  const { host, close } = await served(scene.page ?? "");
  const workspace = makeWorkspace();
  const names = { home: workspace.home, root: join(import.meta.dirname, ".."), host };
  const text = Object.entries(names).reduce(
    (whole, [key, value]) => whole.replaceAll(`{{${key}}}`, value),
    JSON.stringify(scene),
  );
  const {
    turns,
    example,
    steps = [],
    words = [],
    options = {},
    ready = "›",
    ...rest
  } = JSON.parse(text) as Scene;
  const server = await startMockServer({ turns });
  Object.assign(workspace.env, { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-of-a-picture" });
  if (rest.settings) writeSettings(workspace, rest.settings);
  for (const [path, content] of Object.entries(rest.files ?? {})) {
    mkdirSync(dirname(join(workspace.home, path)), { recursive: true });
    writeFileSync(join(workspace.home, path), content);
  }
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
  close();
  workspace.remove();
}

/** The live page of a session with two sub-agents, in a browser. */
async function showPage(folder: string): Promise<void> {
  const events = await sessionLog();
  const model = events[0]?.type === "session_started" ? events[0].model.id : "";
  const tokens = { ...noUsage, cacheReadTokens: 21_000, cacheWrite5mTokens: 2400, outputTokens: 700 };
  const economics = { calls: 1, apartUsd: 0.0172, inPlaceUsd: 0.0611 };
  const delegates = ["review: the parser", "find every caller of taxOf()"].flatMap(
    (brief, at): EventBody[] => [
      {
        type: "delegate_started",
        delegate: `part-${at}`,
        folder: `/s/part-${at}`,
        toolUseId: "",
        writes: false,
        brief,
      },
      { type: "delegate_called", delegate: `part-${at}`, usage: tokens, model, durationMs: 4000 },
      ...(at === 0
        ? [{ type: "delegate_ended", delegate: "part-0", reason: "completed", economics } as const]
        : []),
    ],
  );
  const all = [...events, ...delegates.map((body, at) => ({ seq: events.length + at, at: 0, ...body }))];
  const { url, end } = await servedLog(all);
  const browser = startBrowser();
  const page = await browser.open(url);
  await page.command("Emulation.setDeviceMetricsOverride", {
    ...{ width: 1100, height: 2640, deviceScaleFactor: 1, mobile: false },
  });
  for (const value of ["dark", "light"]) {
    await page.command("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
    const { data } = await page.command("Page.captureScreenshot");
    writeFileSync(join(folder, `page-${value}.png`), Buffer.from(String(data), "base64"));
  }
  await browser.close();
  await end();
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
  if (chosen.length === 0 || chosen.includes("page")) {
    process.stderr.write("page\n");
    await showPage(resolve(folder));
  }
}
