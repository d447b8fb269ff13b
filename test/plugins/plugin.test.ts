/** `sawtooth plugin`, and sessions with what it took: shown first, accepted by hash, and nothing of it run before. */

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acceptedNow } from "../../src/app/plugins/accepted.ts";
import { schemas } from "../../src/plugins/manifest.ts";
import { installedPlugins } from "../../src/plugins/store.ts";
import { mcp } from "../mcp/session.ts";
import { noBubblewrap } from "../network/inside.ts";
import { drive } from "../support/pty-drive.ts";
import { sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { bash, serve, tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dirname, "../..");
const skill = "---\nname: greet\ndescription: Greets people.\n---\nSay HELLO-9 with scripts/hi.sh.\n";

/** A server that answers with its variables, and leaves a note in its data. */
const server = `
import { McpServer } from "${root}/node_modules/@modelcontextprotocol/server/dist/index.mjs";
import { serveStdio } from "${root}/node_modules/@modelcontextprotocol/server/dist/stdio.mjs";
import { appendFileSync, readFileSync } from "node:fs";
serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool("note", {}, async () => {
    const { PLUGIN_ROOT, PLUGIN_DATA, MODE } = process.env;
    appendFileSync(PLUGIN_DATA + "/notes", "x");
    const notes = readFileSync(PLUGIN_DATA + "/notes", "utf8");
    const facts = { root: PLUGIN_ROOT, data: PLUGIN_DATA, mode: MODE, cwd: process.cwd(), notes };
    return { content: [{ type: "text", text: JSON.stringify(facts) }] };
  });
  return server;
});
`;

function put(folder: string, files: Record<string, string | object>): void {
  for (const [name, value] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  }
}

const files = {
  "plugin.json": { $schema: schemas.plugin, name: "hello", version: "1.0.0" },
  "skills/greet/SKILL.md": skill,
  "skills/greet/scripts/hi.sh":
    'echo HI-9; cd "$(dirname "$0")"; touch x ../../../../../../state/plugin-data/hello/x\n',
  "server.mjs": server,
  "mcp.json": {
    $schema: schemas.mcp,
    mcpServers: {
      notes: {
        ...{ type: "stdio", command: "node", args: ["$" + "{PLUGIN_ROOT}/server.mjs"] },
        env: { MODE: "$" + "{HOME}" },
      },
      broken: { type: "stdio" },
    },
  },
};

/** Runs `sawtooth plugin`; the plug-in lies in `source`. */
async function withPlugin(workspace: Workspace, source = join(workspace.home, "hello")) {
  put(source, files);
  const plugin = (...words: string[]) => sawtooth(workspace, ["plugin", ...words]);
  const hashIn = (text: string) => /^Hash of all its files(?: now)?: (\w{64})$/m.exec(text)?.[1] ?? "";
  const accept = async (...words: string[]) => {
    const seen = await plugin(...words);
    expect(seen.code, seen.stdout + seen.stderr).toBe(5);
    const done = await plugin(...words, "--yes", hashIn(seen.stdout));
    expect(done.code, done.stderr).toBe(0);
    return seen.stdout;
  };
  return { source, plugin, accept };
}

test("all that a plug-in brings is shown, yes is its hash, and what was taken is in the next session", async () => {
  const { server, workspace } = await serve([
    { calls: [mcp("hello.notes", "note")] },
    { calls: [{ str_replace_editor: { command: "view", path: "PATH" } }] },
    { text: "done" },
    { text: "bare" },
    { text: "changed" },
  ]);
  const { source, plugin, accept } = await withPlugin(workspace);
  const shown = await accept("add", source);
  for (const words of [
    "Plug-in hello 1.0.0",
    "Skill greet: Greets people.",
    "  | Say HELLO-9 with scripts/hi.sh.",
    'Server notes: runs "node" "<plug-in>/server.mjs"',
    'with the variables MODE="$' + '{HOME}"',
    "Left out: mcp.json: the server broken is left out: it needs a command",
  ])
    expect(shown).toContain(words);
  const wrong = await plugin("add", source, "--yes", "0".repeat(64));
  expect([wrong.code, wrong.stdout]).toEqual([0, "hello is there already, unchanged.\n"]);
  expect((await plugin("list")).stdout).toContain("skill greet, server hello.notes");
  const { code, stderr } = await sawtooth(workspace, ["-p", "go", "--allow", "mcp(hello.notes/*)"]);
  expect([code, stderr]).toEqual([
    0,
    "sawtooth: plug-in hello: mcp.json: the server broken is left out: it needs a command\n",
  ]);
  const kept = join(workspace.home, "sawtooth/config/plugins/hello");
  const data = join(workspace.home, "sawtooth/state/plugin-data/hello");
  expect(server.rawBodies[0]).toContain(`- greet: Greets people. (${kept}/skills/greet/SKILL.md)`);
  const result = JSON.parse(server.rawBodies[1] ?? "").messages.at(-1).content[0].content;
  const text = typeof result === "string" ? result : result[0].text;
  expect(JSON.parse(text)).toEqual({ root: kept, data, mode: "$" + "{HOME}", cwd: kept, notes: "x" });
  await sawtooth(workspace, ["-p", "go", "--bare"]);
  appendFileSync(join(kept, "server.mjs"), "\n");
  const changed = await sawtooth(workspace, ["-p", "go"]);
  expect(changed.stderr).toContain(
    "the plug-in hello is not used: its files are not those that were accepted",
  );
  expect(server.rawBodies.slice(-2).map((body) => /greet|hello/.test(body))).toEqual([false, false]);
  expect((await plugin("update", "hello")).stdout).toContain("hello is as it was accepted again");
});

test("an update shows the difference and keeps the data; remove takes it out", async () => {
  const workspace = tempWorkspace();
  const { source, plugin, accept } = await withPlugin(workspace);
  await accept("add", source);
  const data = join(workspace.home, "sawtooth/state/plugin-data/hello");
  put(data, { kept: "1" });
  expect((await plugin("update")).stdout).toBe("hello is there already, unchanged.\n");
  put(source, {
    "skills/greet/SKILL.md": `${skill}And DELETE-9 all.\n`,
    "server.mjs": `${server}\n// more\n`,
  });
  const difference = await accept("update", "hello");
  expect(difference).toContain("+  | And DELETE-9 all.");
  expect(difference).toContain("Changed files: server.mjs, skills/greet/SKILL.md");
  expect(readFileSync(join(data, "kept"), "utf8")).toBe("1");
  expect((await plugin("remove", "hello")).stdout).toContain(`stays in ${data}`);
  expect((await plugin("list")).stdout).toContain("There are no plug-ins");
  const again = await plugin("remove", "hello");
  expect([again.code, again.stderr]).toEqual([2, "sawtooth: there is no plug-in hello\n"]);
});

test("a plug-in of many files is not read again while nobody touches it, and one that was is not used", async () => {
  const workspace = tempWorkspace();
  const { source, accept } = await withPlugin(workspace);
  put(
    source,
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`notes/${index}`, "x".repeat(500)])),
  );
  await accept("add", source);
  const root = join(workspace.home, "sawtooth/config/plugins/hello");
  const store = join(workspace.home, "sawtooth/state/plugin-hashes.json");
  const all = { plugins: dirname(root), data: "", hashes: store };
  const used = () => installedPlugins(all).map((plugin) => typeof acceptedNow(plugin, all));
  // A file that was just written may be written again with the same time.
  const note = join(root, "notes/7");
  writeFileSync(note, "x".repeat(500));
  expect([used(), existsSync(store)]).toEqual([["object"], false]);
  await until(() => used().length === 1 && existsSync(store), "files that have settled");
  const { mtime } = statSync(note);
  writeFileSync(note, "y".repeat(500));
  utimesSync(note, mtime, mtime);
  expect(used()).toEqual(["string"]);
  writeFileSync(note, "x".repeat(500));
  expect(used()).toEqual(["object"]);
  // What it remembers counts: a hash there is believed while the files look the same.
  const before = readFileSync(store, "utf8");
  await until(() => used().length === 1 && readFileSync(store, "utf8") !== before, "files that have settled");
  writeFileSync(store, readFileSync(store, "utf8").replaceAll(/"hash":"\w+"/g, '"hash":"other"'));
  await until(() => used()[0] === "string", "what is remembered");
});

test("a person at the terminal is asked; an agent's own shell cannot say yes", async () => {
  const workspace = tempWorkspace();
  const { source, plugin } = await withPlugin(workspace);
  for (const [answer, said] of [
    ["n", "Not taken: hello"],
    ["y", "Added hello"],
  ] as const) {
    const terminal = drive(workspace, ["plugin", "add", source]);
    onTestFinished(() => terminal.kill());
    await terminal.until("Take the plug-in hello as it is shown?");
    terminal.send(`${answer}\r`);
    await terminal.until(said);
    await terminal.ended;
  }
  await plugin("remove", "hello");
  const shown = await plugin("add", source);
  const hash = /now: (\w{64})|files: (\w{64})/.exec(shown.stdout)?.[2] ?? "";
  const env = { SAWTOOTH_SESSION: "one" };
  const { code } = await sawtooth(workspace, ["plugin", "add", source, "--yes", hash], { env });
  expect([code, (await plugin("list")).stdout]).toEqual([
    5,
    expect.stringContaining("There are no plug-ins"),
  ]);
});

test("a plug-in comes from a git repository, whose hooks and filters do not run", async () => {
  const workspace = tempWorkspace();
  const { source, accept, plugin } = await withPlugin(workspace);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: source }).toString();
  put(source, { ".gitattributes": "* filter=evil\n" });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "one");
  git("config", "filter.evil.smudge", "touch RAN");
  const shown = await accept("add", `file://${source}`);
  const commit = git("rev-parse", "HEAD").slice(0, 12);
  expect(shown).toContain(`from the git repository file://${source} at ${commit}`);
  expect((await plugin("list")).stdout).toContain("skill greet");
  expect(existsSync(join(workspace.home, "sawtooth/config/plugins/hello/.git"))).toBe(false);
  const missing = await plugin("add", `file://${source}-none`);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringContaining("it was not fetched: git clone"),
  ]);
});

test("a plug-in comes from npm, and no script of it or of what it needs is run", async () => {
  const workspace = tempWorkspace();
  const { source, accept } = await withPlugin(workspace, join(workspace.home, "package"));
  const ran = join(workspace.home, "RAN");
  const scripts = { preinstall: `touch ${ran}`, install: `touch ${ran}`, postinstall: `touch ${ran}` };
  put(source, { "package.json": { name: "hello-plugin", version: "1.0.0", scripts } });
  const registry = await registryOf("hello-plugin", source);
  writeFileSync(join(workspace.home, ".npmrc"), `registry=${registry}\n`);
  const shown = await accept("add", "hello-plugin");
  expect(shown).toContain("from the npm package hello-plugin");
  expect(shown).toContain('Server notes: runs "node" "<plug-in>/server.mjs"');
  expect(existsSync(ran)).toBe(false);
  const kept = globSync("sawtooth/config/plugins/hello/node_modules/hello-plugin/*", { cwd: workspace.home });
  expect(kept.length).toBeGreaterThan(3);
});

/** A registry with one package. */
async function registryOf(name: string, folder: string): Promise<string> {
  const tarball = execFileSync("tar", ["-czf", "-", "package"], { cwd: dirname(folder) });
  const { version, scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const http = createServer((request, response) => {
    const { port } = http.address() as AddressInfo;
    if (request.url?.endsWith(".tgz")) return response.end(tarball);
    if (request.url !== `/${name}`) return response.writeHead(404).end("{}");
    const dist = { tarball: `http://127.0.0.1:${port}/${name}.tgz` };
    const versions = { [version]: { name, version, scripts, hasInstallScript: true, dist } };
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

test.skipIf(noBubblewrap())(
  "in the sandbox a plug-in's server writes its data, and commands read its skills but write neither",
  async () => {
    const { server, workspace } = await serve([
      { calls: [mcp("hello.notes", "note")] },
      { calls: [bash("sh ../home/sawtooth/config/plugins/hello/skills/greet/scripts/hi.sh; echo ended")] },
      { text: "done" },
    ]);
    const { source, accept } = await withPlugin(workspace);
    await accept("add", source);
    writeSettings(workspace, { sandbox: undefined });
    const { code } = await sawtooth(workspace, ["-p", "go", "--permission-mode", "auto"]);
    expect(code).toBe(0);
    const last = server.rawBodies.at(-1) ?? "";
    expect(last).toContain('notes\\":\\"x');
    expect(last).toContain("HI-9");
    expect(last).toContain("ended");
    const made = ["config/plugins/hello/skills/greet/scripts/x", "state/plugin-data/hello/x"].map((path) =>
      existsSync(join(workspace.home, "sawtooth", path)),
    );
    expect(made).toEqual([false, false]);
  },
);

test("its server is in sawtooth mcp list and doctor, and is taken out with the plug-in only", async () => {
  const workspace = tempWorkspace();
  const { source, accept } = await withPlugin(workspace);
  await accept("add", source);
  const list = await sawtooth(workspace, ["mcp"]);
  expect(list.stdout).toMatch(
    /Plug-ins \(sawtooth plugin list\)\n {2}hello\.notes: never connected to\n {4}runs +\S*node \S+server\.mjs/,
  );
  const doctor = await sawtooth(workspace, ["doctor"]);
  expect(doctor.stdout).toMatch(/ok +mcp +hello\.notes: 1 tool in/);
  expect(await sawtooth(workspace, ["mcp", "remove", "hello.notes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("a server of a plug-in: sawtooth plugin remove"),
  });
});
