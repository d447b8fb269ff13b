/** The package as it is published: what it holds, its types, and the examples of docs/library.md in a project of their own. */

import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, type Workspace } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const page = readFileSync(join(root, "docs/library.md"), "utf8");
/** The examples: blocks of TypeScript that begin with the name of their file. */
const examples = [...page.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```/gm)].map(
  ([, name = "", text = ""]) => ({ name, text }),
);

/** Packs the package and unpacks it where a project finds it; what it depends on is taken from here. */
async function install(folder: string): Promise<string> {
  const packed = await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: root,
  });
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "sawtooth"), { recursive: true });
  const file = join(folder, packed.stdout.trim().split("\n").at(-1) ?? "");
  await run("tar", ["-xzf", file, "-C", join(modules, "sawtooth"), "--strip-components=1"]);
  for (const name of ["@lydell", "@types", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  return join(modules, "sawtooth");
}

/** A project with the examples, compiled under the strictest options, its sources beside. */
async function compile(folder: string): Promise<void> {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const compilerOptions = {
    ...{ strict: true, module: "nodenext", target: "es2024", types: ["node"], skipLibCheck: false },
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, outDir: "out", rootDir: "." },
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  for (const { name, text } of examples) writeFileSync(join(folder, name), text);
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [tsc, "-p", folder]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}

let project: Workspace;
let installed: string;
beforeAll(async () => {
  project = makeWorkspace();
  installed = await install(project.cwd);
  await compile(project.cwd);
  return project.remove;
});

function filesIn(folder: string): { path: string; bytes: number; text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path, bytes: statSync(path).size, text: readFileSync(path, "latin1") }));
}

/** Runs a compiled example, against the model at `url` where there is one. */
function play(name: string, url: string | undefined, env: Record<string, string> = {}, words: string[] = []) {
  const model = url ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "sk-canary-7f3a" } : {};
  const file = join(project.cwd, "out", name);
  return run(process.execPath, [file, ...words], {
    cwd: project.cwd,
    env: { ...project.env, ...model, ...env },
  }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
}

describe("the package", () => {
  test("is at most 8 MB, and holds no path of this machine and no sources", () => {
    const files = filesIn(installed);
    expect(files.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(files.filter(({ text }) => text.includes(root) || text.includes(project.cwd))).toEqual([]);
    expect(files.filter(({ path }) => /\/sawtooth\/(src|test|scripts)\//.test(path))).toEqual([]);
  });

  test("declares the stable surface, and no more of the program than it names", () => {
    const declared = filesIn(join(installed, "dist/types")).map(({ path }) => path.split("/dist/types/")[1]);
    expect(declared.sort()).toEqual([
      "app/options.d.ts",
      ...["blocks", "decision", "errors", "events", "model-card"].map((name) => `core/${name}.d.ts`),
      "core/network/egress.d.ts",
      ...["ports", "request", "sandbox", "tool-calls", "waiting-command"].map((name) => `core/${name}.d.ts`),
      "index.d.ts",
      "library/surface.d.ts",
    ]);
  });

  test("exports what its types declare, and nothing else", async () => {
    const { stdout } = await run(
      process.execPath,
      ["--input-type=module", "-e", 'console.log(Object.keys(await import("sawtooth")).sort().join())'],
      { cwd: project.cwd },
    );
    expect(stdout.trim()).toBe("ModelError,UsageError,createAgent,defineModel");
    const index = readFileSync(join(installed, "dist/types/index.d.ts"), "utf8");
    for (const name of stdout.trim().split(",")) expect(index).toContain(name);
  });
});

describe("of the examples", () => {
  test("the bot answers from its repository", async () => {
    const { server } = await serve([
      { calls: [{ bash: { command: "cat tsconfig.json" } }] },
      { text: "It is compiled strictly." },
    ]);
    const { stdout, stderr } = await play("answer.js", server.url, {}, ["How is it compiled?"]);
    expect(stdout).toMatch(/^It is compiled strictly\.\n\(completed, \$0\.\d{4}\)\n$/);
    expect(stderr).toBe("");
    expect(JSON.stringify(server.requests)).toContain("skipLibCheck");
  });

  test("the tool of one's own is called", async () => {
    const { server } = await serve([
      { calls: [{ order_status: { id: "A-17" } }] },
      { text: "It left on Tuesday." },
    ]);
    expect((await play("orders.js", server.url)).stdout).toBe("It left on Tuesday.\n");
    expect(JSON.stringify(server.requests)).toContain("left the warehouse on Tuesday");
  });

  test("the recorded run is a test, which notices a change", async () => {
    const server = await startMockServer({
      turns: [{ calls: [{ order_status: { id: "A-17" } }] }, { text: "It left on Tuesday." }],
    });
    await play("orders.test.js", server.url, { RECORD: "1" });
    await server.close();
    // The address of the server that is gone is a variable that commands do not get, and so part of the first message.
    const gone = { ANTHROPIC_BASE_URL: server.url };
    expect((await play("orders.test.js", undefined, gone)).stdout).toContain("pass 1");
    const text = readFileSync(join(project.cwd, "out/orders.test.js"), "utf8");
    writeFileSync(join(project.cwd, "out/changed.test.js"), text.replace("Where is order", "Find order"));
    const changed = await play("changed.test.js", undefined, gone).catch((error: Error) => error.message);
    expect(changed).toContain("is not on the cassette");
  });

  test("the model of one's own answers", async () => {
    expect((await play("echo.js", undefined)).stdout).toMatch(/^There are \d messages\.\n$/);
  });

  test("none is left out", () => {
    expect(examples.map(({ name }) => name)).toEqual(["answer.ts", "orders.ts", "orders.test.ts", "echo.ts"]);
  });
});

/** A program that opens a session, has a command started in it, and ends in one of the ways. */
const leaver = `
import { createAgent, defineModel } from "sawtooth";
const model = defineModel({
  id: "mine/sleeper",
  window: 100000,
  send: async () => ({
    content: [{ type: "tool_use", id: "toolu_1", name: "bash", input: { command: "echo $$ > pid; sleep 600" } }],
  }),
});
const agent = await createAgent({ model, permissionMode: "auto", cwd: process.argv[2] });
agent.prompt("Sleep.").catch(() => {});
process.on("message", (how) => {
  if (how === "exit") process.exit(0);
  if (how === "close") agent.close().then(() => process.exit(0));
  if (how === "throw") setTimeout(() => { throw new Error("a bug of the program"); });
});
process.send("ready");
`;

test.each(["exit", "close", "throw"])("the processes of a session end with its program: %s", async (how) => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const file = join(project.cwd, "leaver.js");
  writeFileSync(file, leaver);
  const child = spawn(process.execPath, [file, workspace.cwd], {
    ...{ cwd: project.cwd, env: workspace.env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const pidFile = join(workspace.cwd, "pid");
  await until(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"), "the command");
  const pid = Number(readFileSync(pidFile, "utf8"));
  child.send(how);
  expect([await ended, stderr.includes("a bug of the program")]).toEqual([
    how === "throw" ? 1 : 0,
    how === "throw",
  ]);
  await until(() => !existsSync(`/proc/${pid}`), "the end of the shell");
});
