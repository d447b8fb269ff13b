/** The text of Agent Plugins 1.0.0, requirement by requirement: what is read, what is left out, and how far that reaches. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serversOf } from "../../src/mcp/configuration.ts";
import { schemas } from "../../src/plugins/manifest.ts";
import { readPlugin } from "../../src/plugins/read.ts";
import { pluginHash } from "../../src/plugins/store.ts";

/** Writes a plug-in. A value that is no text is written as JSON. */
function pluginOf(files: Record<string, unknown>) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "plugin-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, "root");
  const data = join(top, "data");
  for (const [name, value] of Object.entries({ "plugin.json": manifest(), ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof value === "string" ? value : JSON.stringify(value));
  }
  return { top, root, data, read: () => readPlugin({ root, data }) };
}

const manifest = (more: object = {}) => ({ $schema: schemas.plugin, name: "p", ...more });
const servers = (mcpServers: object, more: object = {}) => ({
  "mcp.json": { $schema: schemas.mcp, mcpServers, ...more },
});
const skill = (name: string) => `---\nname: ${name}\ndescription: Does.\n---\nBody.\n`;

test.each<[string, unknown, string]>([
  ["no JSON", "{", "its plugin.json is not JSON"],
  ["a list", [], "its plugin.json is not an object"],
  ["no $schema", { name: "p" }, "its plugin.json has no $schema"],
  [
    "another version",
    { ...manifest(), $schema: schemas.plugin.replace("1.0.0", "1.1.0") },
    "another version",
  ],
  ["no name", { $schema: schemas.plugin }, "its name must be"],
  ...["", "My-Plugin", "-start", "end-", "has--double", "too..many", "a_b", "x".repeat(65)].map(
    (name): [string, unknown, string] => [`the name ${name}`, manifest({ name }), "its name must be"],
  ),
  ["a version that is a number", manifest({ version: 1 }), "version in its plugin.json must be a text"],
  ["keywords that are a text", manifest({ keywords: "a" }), "keywords in its plugin.json must be"],
  ["an author that is a text", manifest({ author: "Ann" }), "author in its plugin.json must be"],
  [
    "an author with more",
    manifest({ author: { name: "Ann", phone: "1" } }),
    "author in its plugin.json must be",
  ],
])("a manifest with %s rejects the plug-in", (_, text, why) => {
  expect(pluginOf({ "plugin.json": text }).read).toThrow(why);
});

test.each(
  [
    ["a", "my-plugin", "acme.tools", "lint3r", "x".repeat(64)].map((name) => manifest({ name })),
    [
      manifest({
        version: "one",
        homepage: "no url",
        license: "mine",
        author: { email: "no" },
        keywords: [],
      }),
    ],
    [manifest({ extensions: { "com.example": { anything: [1] }, odd: 3 } })],
  ].flat(),
)("a manifest is taken: %j", (text) => {
  expect(pluginOf({ "plugin.json": text }).read().notes).toEqual([]);
});

test("unknown fields and extensions that are no object are told and ignored", () => {
  const text = manifest({ hooks: { run: "x" }, extensions: "x" });
  const { notes, name } = pluginOf({ "plugin.json": text }).read();
  expect({ name, notes }).toEqual({
    name: "p",
    notes: ["plugin.json: hooks has no effect", "plugin.json: extensions has no effect"],
  });
});

test("skills are the folders right below skills/ with a file SKILL.md; a wrong one leaves the others", () => {
  const plugin = pluginOf({
    "skills/good/SKILL.md": skill("good"),
    "skills/good/deeper/SKILL.md": skill("deeper"),
    "skills/other/SKILL.md": skill("else"),
    "skills/lower/skill.md": skill("lower"),
    "skills/none/README.md": "x",
    "shared/linked.md": skill("linked"),
    "skills/SKILL.md": skill("skills"),
  });
  mkdirSync(join(plugin.root, "skills/linked"));
  symlinkSync("../../shared/linked.md", join(plugin.root, "skills/linked/SKILL.md"));
  mkdirSync(join(plugin.root, "skills/out"));
  writeFileSync(join(plugin.top, "out.md"), skill("out"));
  symlinkSync("../../../out.md", join(plugin.root, "skills/out/SKILL.md"));
  const { skills, skillNotes } = plugin.read();
  expect(skills.map(({ name }) => name)).toEqual(["good", "linked"]);
  expect(skillNotes).toEqual([
    "plug-in p/other is not taken: its name is else, but its folder has another name",
    "plug-in p/out is not taken: its SKILL.md is a link out of its folder",
  ]);
});

test("a place that leads out or is of another kind loses that kind of component, and plugin.json the plug-in", () => {
  const both = { ...servers({ s: { type: "stdio", command: "x" } }), "skills/a/SKILL.md": skill("a") };
  const outSkills = pluginOf(servers({ s: { type: "stdio", command: "x" } }));
  mkdirSync(join(outSkills.top, "skills/a"), { recursive: true });
  writeFileSync(join(outSkills.top, "skills/a/SKILL.md"), skill("a"));
  symlinkSync("../skills", join(outSkills.root, "skills"));
  const outServers = pluginOf(both);
  rmSync(join(outServers.root, "mcp.json"));
  writeFileSync(join(outServers.top, "mcp.json"), JSON.stringify(both["mcp.json"]));
  symlinkSync("../mcp.json", join(outServers.root, "mcp.json"));
  const folder = pluginOf({ "mcp.json/x": "", "skills/a/SKILL.md": skill("a") });
  const file = pluginOf({ ...servers({ s: { type: "stdio", command: "x" } }), skills: "" });
  const counts = [outSkills, outServers, folder, file].map(({ read }) => {
    const { skills, servers: found } = read();
    return [skills.length, found.size];
  });
  expect(counts).toEqual([
    [0, 1],
    [1, 0],
    [1, 0],
    [0, 1],
  ]);
  const outManifest = pluginOf({});
  rmSync(join(outManifest.root, "plugin.json"));
  writeFileSync(join(outManifest.top, "plugin.json"), JSON.stringify(manifest()));
  symlinkSync("../plugin.json", join(outManifest.root, "plugin.json"));
  expect(outManifest.read).toThrow("its plugin.json is a link out of the plug-in");
});

test.each([
  ["no JSON", { "mcp.json": "{" }, "it"],
  ["no $schema", { "mcp.json": { mcpServers: {} } }, "$schema"],
  [
    "another version",
    { "mcp.json": { $schema: schemas.mcp.replace("1.0.0", "1.1.0"), mcpServers: {} } },
    "$schema",
  ],
  ["servers that are a list", servers([] as never), "mcpServers must be an object"],
  ["a field more", servers({}, { inputs: [] }), "unknown field inputs"],
])("mcp.json with %s has no servers, and the skills stay", (_, files, why) => {
  const { skills, servers: found, notes } = pluginOf({ ...files, "skills/a/SKILL.md": skill("a") }).read();
  expect([skills.length, found.size]).toEqual([1, 0]);
  expect(notes[0]).toContain("no server of mcp.json is used");
  expect(notes[0]).toContain(why);
});

const http = (url: string, more: object = {}) => ({ type: "streamable-http", url, ...more });
const stdio = (more: object) => ({ type: "stdio", command: "node", ...more });
const wrong: Record<string, unknown> = {
  "no type": { command: "node" },
  "an unknown type": { type: "http", url: "https://a.example" },
  sse: { type: "sse", url: "https://a.example" },
  "no command": { type: "stdio" },
  "an empty command": stdio({ command: "" }),
  "a shell line": stdio({ command: "node x.mjs" }),
  "a placeholder in the command": stdio({ command: "$" + "{PLUGIN_ROOT}/bin/s" }),
  "an absolute command": stdio({ command: "/bin/sh" }),
  "a command above": stdio({ command: "./../s" }),
  "a command by a link out": stdio({ command: "./link/sh" }),
  "args that are a text": stdio({ args: "x" }),
  "args of numbers": stdio({ args: [1] }),
  "an env of numbers": stdio({ env: { A: 1 } }),
  "an env with PLUGIN_ROOT": stdio({ env: { PLUGIN_ROOT: "x" } }),
  "an env with PLUGIN_DATA": stdio({ env: { PLUGIN_DATA: "x" } }),
  "a cwd without ./": stdio({ cwd: "bin" }),
  "an absolute cwd": stdio({ cwd: "/tmp" }),
  "a cwd above": stdio({ cwd: "./.." }),
  "a cwd by a link out": stdio({ cwd: "./link" }),
  "a cwd above the data": stdio({ cwd: "$" + "{PLUGIN_DATA}/.." }),
  "a cwd above the root": stdio({ cwd: "$" + "{PLUGIN_ROOT}/../data" }),
  "a field more": stdio({ timeout: 3 }),
  "a field of the other kind": stdio({ url: "https://a.example" }),
  "a relative url": http("/mcp"),
  "a url of files": http("file:///etc/passwd"),
  "http elsewhere": http("http://a.example/mcp"),
  "http beside this machine": http("http://127.0.0.1.a.example/mcp"),
  "a user in the url": http("https://me@a.example/mcp"),
  "a fragment": http("https://a.example/mcp#x"),
  "a header twice": http("https://a.example", { headers: { "X-A": "1", "x-a": "2" } }),
  "a wrong header": http("https://a.example", { headers: { "X A": "1" } }),
  "a header with a line": http("https://a.example", { headers: { "X-A": "1\r\nB: 2" } }),
  "headers on a program": stdio({ headers: {} }),
};

test("each wrong server is left out with a line, beside a good one", () => {
  const plugin = pluginOf(servers({ good: { type: "stdio", command: "node" }, ...wrong }));
  symlinkSync("/bin", join(plugin.root, "link"));
  const { servers: found, notes } = plugin.read();
  expect([...found.keys()]).toEqual(["good"]);
  const named = notes.map((note) => /the server (.*?) is left out/.exec(note)?.[1]);
  expect(named).toEqual(Object.keys(wrong));
});

test("placeholders are replaced once, in arguments, variables and folder, and nothing else is", () => {
  const [rootText, dataText] = ["$" + "{PLUGIN_ROOT}", "$" + "{PLUGIN_DATA}"];
  const plugin = pluginOf({
    "bin/server": "",
    ...servers({
      all: {
        ...{ type: "stdio", command: "./bin/server", cwd: `${dataText}/sub` },
        args: [`--a=${rootText}:${dataText}`, "$" + "{HOME}", "$" + "{PLUGIN_ROOT", "$PLUGIN_ROOT"],
        env: { A: dataText, PATH: "/x" },
      },
      least: { type: "stdio", command: "node" },
      far: http("https://a.example/$" + "{PLUGIN_ROOT}", { headers: { "X-A": dataText } }),
      here: http("http://localhost:1/mcp"),
      six: http("http://[::1]:1/mcp"),
    }),
  });
  const { root, data } = plugin;
  const found = Object.fromEntries(plugin.read().servers);
  const { servers: usable, problems } = serversOf(found, undefined);
  expect([usable.map(({ kind }) => kind), problems]).toEqual([
    ["program", "program", "http", "http", "http"],
    [],
  ]);
  expect(found).toEqual({
    all: {
      ...{ type: "stdio", command: join(root, "bin/server"), cwd: join(data, "sub") },
      args: [`--a=${root}:${data}`, "$" + "{HOME}", "$" + "{PLUGIN_ROOT", "$PLUGIN_ROOT"],
      env: { A: data, PATH: "/x", PLUGIN_ROOT: root, PLUGIN_DATA: data },
    },
    least: {
      type: "stdio",
      command: "node",
      args: [],
      cwd: root,
      env: { PLUGIN_ROOT: root, PLUGIN_DATA: data },
    },
    far: {
      type: "streamable-http",
      url: "https://a.example/$" + "{PLUGIN_ROOT}",
      headers: { "X-A": dataText },
    },
    here: { type: "streamable-http", url: "http://localhost:1/mcp", headers: {} },
    six: { type: "streamable-http", url: "http://[::1]:1/mcp", headers: {} },
  });
});

test("a plug-in without components is one, and a link out of it counts by where it leads", () => {
  const plugin = pluginOf({});
  const before = pluginHash(plugin.root).hash;
  expect(plugin.read()).toMatchObject({ skills: [], notes: [] });
  symlinkSync("/etc/hostname", join(plugin.root, "link"));
  const linked = pluginHash(plugin.root).hash;
  rmSync(join(plugin.root, "link"));
  symlinkSync("/etc/passwd", join(plugin.root, "link"));
  expect(new Set([before, linked, pluginHash(plugin.root).hash]).size).toBe(3);
});
