/** Files are written by the program itself while hostile jobs may swap their folders for links. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Access } from "../../src/core/ports.ts";
import { openInPlace, PathMoved, pinFolder } from "../../src/disk/pinned-folder.ts";
import { outputFile } from "../../src/disk/replace-file.ts";
import { openTree } from "../../src/git/frozen-tree.ts";
import { openSnapshots } from "../../src/undo/snapshots.ts";
import { editorIn } from "../support/editor.ts";
import { memoryLog, started } from "../support/logs.ts";

/** A workspace with the folder `src`, and beside it the home that a link would lead to. */
function makeFolders() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "swap-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [workspace, home] = [join(root, "app"), join(root, "home")];
  for (const folder of [join(workspace, "src"), home]) mkdirSync(folder, { recursive: true });
  return { root, workspace, home, src: join(workspace, "src") };
}

/** Puts a link to the home in the place of `src`, as a job could between check and use. */
function swap({ workspace, home, src }: ReturnType<typeof makeFolders>): void {
  renameSync(src, join(workspace, "src.old"));
  symlinkSync(home, src);
}

/** Swaps `src` and a link to the home without end, in a process of its own. Resolves once it is at it. */
async function swapping({ home, src }: ReturnType<typeof makeFolders>): Promise<ChildProcess> {
  const program = `
    const { renameSync, symlinkSync } = require("node:fs");
    const [src, home] = process.argv.slice(1);
    const go = (from, to) => { try { renameSync(from, to); } catch {} };
    symlinkSync(home, src + ".link");
    process.stdout.write("swapping");
    for (;;) {
      go(src, src + ".real"); go(src + ".link", src);
      go(src, src + ".link"); go(src + ".real", src);
    }`;
  const child = spawn(process.execPath, ["-e", program, src, home], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise((begun) => child.stdout?.once("data", begun));
  return child;
}

async function stopped(child: ChildProcess): Promise<void> {
  const ended = new Promise((done) => child.once("close", done));
  child.kill("SIGKILL");
  await ended;
}

describe("a pinned folder", () => {
  test("stays what it was when its path is swapped for a link", () => {
    const here = makeFolders();
    const pinned = pinFolder(here.src);
    onTestFinished(() => pinned.close());
    swap(here);
    writeFileSync(pinned.at("file"), "kept");
    expect(readdirSync(here.home)).toEqual([]);
    expect(readFileSync(join(here.workspace, "src.old", "file"), "utf8")).toBe("kept");
  });

  test("is refused where its path leads through a link by then, also to make folders in it", () => {
    const here = makeFolders();
    mkdirSync(join(here.src, "deep"));
    mkdirSync(join(here.home, "deep"));
    swap(here);
    expect(() => pinFolder(here.src)).toThrow(PathMoved);
    expect(() => pinFolder(join(here.src, "deep"))).toThrow(PathMoved);
    expect(() => pinFolder(join(here.src, "new", "folder"), { make: true })).toThrow(PathMoved);
    expect(readdirSync(here.home)).toEqual(["deep"]);
  });

  test("a file is not read through a link that was none, nor below one", () => {
    const here = makeFolders();
    for (const folder of [here.src, here.home]) writeFileSync(join(folder, "key"), "secret");
    swap(here);
    symlinkSync(join(here.home, "key"), join(here.workspace, "key"));
    expect(() => openInPlace(join(here.src, "key"))).toThrow(PathMoved);
    expect(() => openInPlace(join(here.workspace, "key"))).toThrow(PathMoved);
  });
});

describe("the editor", () => {
  test("does not touch what a link leads to that came after the call was approved", async () => {
    const here = makeFolders();
    const editor = editorIn(here.workspace, memoryLog([started()]));
    writeFileSync(join(here.home, "key"), "secret");
    const calls = [
      { command: "view", path: "src" },
      { command: "view", path: "src/key" },
      { command: "create", path: "src/new.txt", file_text: "x" },
    ];
    for (const input of calls) {
      const output = await editor.run(input, undefined, () => swap(here));
      expect(output).toMatchObject({ isError: true, content: expect.stringContaining("leads elsewhere") });
      rmSync(here.src);
      renameSync(join(here.workspace, "src.old"), here.src);
    }
    expect(readdirSync(here.home)).toEqual(["key"]);
  });

  test("S16 editor-swap: 200 files written while a job swaps their folder for a link to the home land in it or are refused", async () => {
    const here = makeFolders();
    const editor = editorIn(here.workspace, memoryLog([started()]));
    const job = await swapping(here);
    const wrote: string[] = [];
    const decide = (access: Access) => {
      // What the rules would refuse: the link was there before the decision.
      if (access.kind !== "write" || !access.paths[0]?.startsWith(here.workspace))
        throw new Error("not permitted");
    };
    for (let index = 0; index < 200; index++) {
      const input = { command: "create", path: `src/${index}.txt`, file_text: `${index}\n` };
      const output = await editor.run(input, undefined, decide).catch(() => undefined);
      if (output && !output.isError) wrote.push(`${index}.txt`);
    }
    await stopped(job);
    expect(readdirSync(here.home)).toEqual([]);
    const held = readdirSync(here.workspace).flatMap((name) => readdirSync(join(here.workspace, name)));
    expect(held.filter((name) => /^\d+\.txt$/.test(name)).sort()).toEqual(wrote.sort());
  });
});

describe("undo", () => {
  test("S17 undo-swap: files put back while a job swaps their folder for a link change nothing in the home", async () => {
    const here = makeFolders();
    const names = Array.from({ length: 12 }, (_, index) => `${index}.txt`);
    for (const name of names) writeFileSync(join(here.home, name), "home");
    mkdirSync(join(here.home, "made"), { mode: 0o711 });
    const before = stateOf(here.home);
    const snapshots = openSnapshots({
      ...{ folder: join(here.root, "session", "snapshots"), roots: [here.workspace], except: [] },
      ...{ clock: Date.now, warn: () => {} },
    });
    await snapshots.take({ turn: 1, step: 1, label: "", named: [] });
    mkdirSync(join(here.src, "made"));
    for (const name of names) writeFileSync(join(here.src, name), `made by ${name}`);
    await snapshots.settle();
    const job = await swapping(here);
    for (let round = 0; round < 40; round++)
      await snapshots.undo(round % 2 === 0 ? { to: 0 } : { redo: true });
    await stopped(job);
    await snapshots.close();
    expect(stateOf(here.home)).toEqual(before);
  });
});

describe("a file that a flag names", () => {
  test("is written where it led before the agent ran, and a link that came later is not followed", () => {
    const here = makeFolders();
    const [first, second] = [join(here.workspace, "fix.diff"), join(here.workspace, "report.xml")];
    writeFileSync(join(here.home, "kept"), "kept");
    symlinkSync(join(here.src, "linked"), second);
    const [saveFirst, saveSecond] = [outputFile(first), outputFile(second)];
    symlinkSync(join(here.home, "kept"), first);
    saveFirst("patch");
    saveSecond("report");
    expect(readFileSync(join(here.home, "kept"), "utf8")).toBe("kept");
    expect(readFileSync(first, "utf8")).toBe("patch");
    expect(readFileSync(join(here.src, "linked"), "utf8")).toBe("report");
    swap(here);
    expect(() => saveSecond("again")).toThrow(PathMoved);
    expect(readdirSync(here.home)).toEqual(["kept"]);
  });
});

describe("fix", () => {
  test("puts files back and removes others without following a link in the place of their folder", async () => {
    const here = makeFolders();
    const env = { PATH: process.env.PATH ?? "", HOME: here.root, GIT_CONFIG_NOSYSTEM: "1" };
    execFileSync("git", ["init", "--quiet"], { cwd: here.workspace, env });
    writeFileSync(join(here.src, "kept.sh"), "kept", { mode: 0o755 });
    symlinkSync("kept.sh", join(here.src, "link"));
    for (const name of ["kept.sh", "made"]) writeFileSync(join(here.home, name), "home");
    const tree = await openTree(here.workspace, env, () => {});
    onTestFinished(() => tree.close());
    const before = await tree.take();
    swap(here);
    await expect(tree.restore(before, ["src/made"])).rejects.toThrow(PathMoved);
    await tree.restore(before, ["src/kept.sh", "src/link"]);
    expect(stateOf(here.home)).toEqual(["kept.sh 100644 home", "made 100644 home"]);
    expect(stateOf(here.src)).toEqual(["kept.sh 100755 kept", "link 100755 kept"]);
    expect(readlinkSync(join(here.src, "link"))).toBe("kept.sh");
  });
});

/** Names, modes and contents of what lies in a folder. */
function stateOf(folder: string): string[] {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    const status = statSync(path);
    return `${name} ${status.mode.toString(8)} ${status.isFile() ? readFileSync(path, "utf8") : ""}`;
  });
}
