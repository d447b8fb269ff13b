/** The rules of the house, read off the source: layers, purity, ceilings, names. A failure names file:line and rule. */

import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { at, find, lineOf, type Node, nodesOf, read, root, type Source, target } from "./support/source.ts";

/**
 * The plan of the house: each room of src/, lowest first, and the rooms that it may import besides itself.
 * `app` is the composition root: the one room that may import every room below it. `cli` is the way in.
 */
const rooms: Record<string, readonly string[]> = {
  core: [],
  disk: [],
  permissions: ["core"],
  context: ["core"],
  agent: ["core", "context"],
  models: ["core"],
  git: ["core", "disk"],
  sandbox: ["core", "permissions", "disk"],
  network: ["core", "permissions", "disk"],
  tools: ["core", "permissions", "disk", "git"],
  hooks: ["core", "disk/without-terminals"],
  telemetry: ["core"],
  mcp: [
    ...["core", "disk", "permissions/sandbox/addresses", "tools/editor/images", "tools/editor/refusal"],
    ...["credentials/browser-callback", "credentials/owned-file", "credentials/turns"],
  ],
  session: ["core", "disk"],
  undo: ["core", "disk", "permissions", "git", "session"],
  credentials: ["core", "disk"],
  config: ["core", "disk", "permissions", "credentials/keys"],
  plugins: ["core", "disk", "config/skills"],
  report: ["core", "context"],
  lab: ["core", "permissions", "context", "report", "session", "models/cards"],
  tui: ["core", "context", "permissions"],
  app: [
    ...["core", "disk", "permissions", "context", "agent", "models", "git"],
    ...[
      "mcp",
      "hooks",
      "telemetry",
      "sandbox",
      "network",
      "tools",
      "session",
      "undo",
      "credentials",
      "config",
      "plugins",
      "report",
      "lab",
      "tui",
    ],
  ],
  library: ["core", "tui/ports", "app"],
  acp: [
    "core",
    "context",
    "permissions",
    "agent",
    "tools/editor/images",
    "tools/editor/refusal",
    "tui",
    "app",
  ],
  cli: [
    "core",
    "disk",
    "permissions",
    "context",
    "agent",
    "config",
    "git",
    "report",
    "lab",
    "tui",
    "app",
    "acp",
  ],
};
/** Most files of a folder of src, those in its folders left out. */
const mostFiles = 20;
/** Fewer files than this may share the first word of their names: four are a folder. */
const sameWord = 4;
const pure = /^src\/(core|permissions|context)\//;
const impureNames =
  /^(Date|Promise|process|set(Timeout|Interval|Immediate)|queueMicrotask|fetch|console|performance|crypto|globalThis)$/;
const badFolderOrFile = /(^|\/)(utils?|helpers?|common|misc)(\/|\.|$)/i;
const badName = /(Manager|Service|Helper|Impl)$/;

/** Says what is wrong, as `path:line what`, or nothing. */
type Rule = (source: Source) => string[];

/** Fields that hold types or the names of properties: an identifier there is not a reference to a value. */
function isNotAValue(parent: Node, key: string): boolean {
  if (/^TS(TypeAlias|Interface)/.test(parent.type)) return true;
  if (["typeAnnotation", "typeArguments", "typeParameters", "returnType"].includes(key)) return true;
  if (parent.type === "MemberExpression") return key === "property" && parent.computed === false;
  return (
    parent.type === "Property" && key === "key" && parent.computed === false && parent.shorthand === false
  );
}

const importsStayInTheirLayer: Rule = (source) => {
  const [, layer = ""] = source.path.split("/");
  const permitted = [layer, ...(rooms[layer] ?? [])].map((name) => `src/${name}`);
  return source.imports.flatMap((one) => {
    const path = target(source, one);
    const fine =
      path === undefined
        ? !pure.test(source.path)
        : permitted.some((prefix) => path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}.`)) ||
          path === "package.json";
    return fine ? [] : [at(source, one.start, `${layer} may not import ${one.specifier}`)];
  });
};

const coreAndContextArePure: Rule = (source) => {
  if (!pure.test(source.path)) return [];
  const values = nodesOf(source.program, isNotAValue);
  return values.flatMap((node) => {
    const found = impurity(node);
    return found ? [at(source, node.start, `${found} in pure code`)] : [];
  });
};

function impurity(node: Node): string | undefined {
  if (node.async === true) return "async";
  if (node.type === "AwaitExpression" || node.await === true) return "await";
  if (node.type === "ImportExpression") return "import()";
  if (node.type === "Identifier" && impureNames.test(String(node.name))) return String(node.name);
  if (node.type !== "MemberExpression") return undefined;
  const [object, property] = [node.object as Node, node.property as Node];
  return object.name === "Math" && property.name === "random" ? "Math.random" : undefined;
}

const filesAreShort: Rule = (source) => {
  const lines = source.text.trimEnd().split("\n").length;
  const ceiling = source.path === "src/agent/loop.ts" ? 150 : 400;
  return lines > ceiling ? [`${source.path}:${ceiling} ${lines} lines; the ceiling is ${ceiling}`] : [];
};

/** In tests the callbacks of `describe` are chapters, not functions. */
const functionsAreShort: Rule = (source) => {
  const ceiling = /^src\/(core|permissions|context|agent)\//.test(source.path) ? 40 : 60;
  const chapters = nodesOf(source.program)
    .filter((node) => node.type === "CallExpression" && source.text.startsWith("describe", node.start))
    .flatMap((node) => node.arguments as Node[]);
  return nodesOf(source.program).flatMap((node) => {
    if (!/^(ArrowFunction|Function)/.test(node.type) || chapters.includes(node)) return [];
    const lines = lineOf(source, node.end) - lineOf(source, node.start) + 1;
    return lines > ceiling
      ? [at(source, node.start, `a function of ${lines} lines; the ceiling is ${ceiling}`)]
      : [];
  });
};

const noBarrels: Rule = (source) => {
  const body = source.program.body as Node[];
  const stars = body.filter((node) => node.type === "ExportAllDeclaration");
  const exportsOnly = body.every((node) => /^(Import|Export)/.test(node.type) && !node.declaration);
  const reexports = body.some((node) => node.type === "ExportNamedDeclaration");
  const barrels = exportsOnly && reexports ? body.slice(0, 1) : [];
  return [...stars, ...barrels].map((node) =>
    at(source, node.start, "a barrel: import from the file itself"),
  );
};

const namesSayWhatThingsDo: Rule = (source) => [
  ...(badFolderOrFile.test(source.path)
    ? [`${source.path}:1 a file or folder that is named for nothing`]
    : []),
  ...(source.program.body as Node[]).flatMap((statement) => {
    const declared = (statement.declaration ?? statement) as Node;
    return [declared, ...((declared.declarations as Node[] | undefined) ?? [])]
      .filter((node) => badName.test(String((node.id as Node | null | undefined)?.name ?? "")))
      .map((node) => at(source, node.start, `the name ${(node.id as Node).name} says nothing`));
  }),
];

const classesAreErrors: Rule = (source) =>
  find(
    source,
    (node) => /^Class(Declaration|Expression)$/.test(node.type) && !isError(node.superClass),
    () => "a class that is not an error",
  );

function isError(superClass: unknown): boolean {
  return String((superClass as Node | null)?.name ?? "").endsWith("Error");
}

const typesAreTold: Rule = (source) => [
  ...find(
    source,
    (node) => node.type === "TSAnyKeyword" || node.type === "TSNonNullExpression",
    (node) => (node.type === "TSAnyKeyword" ? "any" : "a non-null assertion"),
  ),
  ...source.comments
    .filter((comment) => /^\W*@ts-(ignore|expect-error|nocheck)/.test(String(comment.value)))
    .map((comment) => at(source, comment.start, "a type error is hidden")),
];

const noGlobalState: Rule = (source) =>
  (source.program.body as Node[])
    .map((statement) => (statement.declaration ?? statement) as Node)
    .filter((node) => node.type === "VariableDeclaration" && node.kind !== "const")
    .map((node) => at(source, node.start, "a variable of the whole program"));

const noModuleMocks: Rule = (source) =>
  find(
    source,
    (node) =>
      node.type === "CallExpression" &&
      /^vi\.(mock|doMock|hoisted|stubGlobal)\b/.test(source.text.slice(node.start)),
    () => "a mocked module",
  );

/** Text from a model, a file or a server is filtered in one place on its way to a terminal. */
const onePlaceWrites: Rule = (source) =>
  source.path === "src/cli/terminal-output.ts"
    ? []
    : find(
        source,
        (node) =>
          node.type === "CallExpression" &&
          /^(process\.(stdout|stderr)\.(write|end)|console\.\w+)\(/.test(source.text.slice(node.start)),
        () => "written past cli/terminal-output.ts",
      );

/** An import of node:http loads the built-in `fetch` with it: 14 MB, and as much time as the rest of a start. */
const httpIsNotImported: Rule = (source) =>
  source.imports
    .filter(({ specifier, typeOnly }) => /^(node:)?https?$/.test(specifier) && !typeOnly)
    .map(() => `${source.path}:1 imports node:http: use process.getBuiltinModule`);

const filesSayWhatTheyAre: Rule = (source) =>
  /^(#!.*\n)?\/[*/]/.test(source.text) ? [] : [`${source.path}:1 no comment line at the top`];

/** A doc comment says what the thing does, in a verb or a noun; never as a clause. */
const commentsBeginPlainly: Rule = (source) =>
  source.comments
    .filter((comment) => /^\*\s*(\*\s*)?(What|Whether|Of|To be)\s/.test(String(comment.value)))
    .map((comment) => at(source, comment.start, "a doc comment that begins with What, Whether, Of or To be"));

const sources = globSync("{src,bin,scripts,bench,test}/**/*.{ts,tsx,js}", { cwd: root })
  .filter((path) => !path.includes("/fixtures/"))
  .sort()
  .map((path) => read(path));

/** Each rule, where it holds, and a sample that breaks it: a rule that finds nothing in its sample is broken. */
const rules: [title: string, where: RegExp, rule: Rule, sample: [path: string, text: string]][] = [
  [
    "imports stay in their layer",
    /^src\//,
    importsStayInTheirLayer,
    ["src/models/a.ts", 'import "../agent/loop.ts"'],
  ],
  [
    "core imports no package",
    /^src\//,
    importsStayInTheirLayer,
    ["src/core/a.ts", 'export { x } from "zod"'],
  ],
  [
    "core has no clock",
    pure,
    coreAndContextArePure,
    ["src/core/a.ts", "export const now = () => Date.now()"],
  ],
  [
    "context has no luck",
    pure,
    coreAndContextArePure,
    ["src/context/a.ts", "export const x = Math.random()"],
  ],
  [
    "context waits for nothing",
    pure,
    coreAndContextArePure,
    ["src/context/a.ts", "export async function f() {}"],
  ],
  ["files are short", /./, filesAreShort, ["src/agent/loop.ts", "\n".repeat(150).concat("x()")]],
  ["functions are short", /./, functionsAreShort, ["src/core/a.ts", `function f() {${"\n".repeat(40)}}`]],
  ["no file only passes on others' exports", /./, noBarrels, ["src/core/a.ts", 'export { x } from "./b.ts"']],
  ["names say what things do", /./, namesSayWhatThingsDo, ["src/core/a.ts", "export const runService = 1"]],
  ["folders are named for a subject", /./, namesSayWhatThingsDo, ["src/core/utils/a.ts", ""]],
  ["classes are errors", /./, classesAreErrors, ["src/core/a.ts", "class A extends B {}"]],
  ["no type is hidden", /./, typesAreTold, ["src/core/a.ts", "let x = y as any"]],
  ["nothing is kept for the whole program", /^src\//, noGlobalState, ["src/core/a.ts", "export let x = 1"]],
  ["tests use real parts", /^test\//, noModuleMocks, ["test/a.test.ts", 'vi.mock("node:fs")']],
  [
    "one file writes to the standard streams",
    /^src\/(app|cli)\//,
    onePlaceWrites,
    ["src/cli/a.ts", 'process.stderr.write("x")'],
  ],
  [
    "node:http is taken without fetch",
    // Signing in uses fetch itself.
    /^src\/(?!credentials\/chatgpt\/)/,
    httpIsNotImported,
    ["src/a.ts", 'import { request } from "node:http"'],
  ],
  ["doc comments begin with a verb or a noun", /./, commentsBeginPlainly, ["src/a.ts", "/** What it is. */"]],
  [
    "files say what they are",
    /^(src|bin|scripts|bench|test\/support)\//,
    filesSayWhatTheyAre,
    ["src/a.ts", "x()"],
  ],
];

describe.each(rules)("%s", (_title, where, rule, [path, text]) => {
  test("everywhere", () => {
    expect(sources.filter((source) => where.test(source.path)).flatMap(rule)).toEqual([]);
  });
  test("and the rule finds what breaks it", () => {
    expect(rule(read(path, text))).toHaveLength(1);
  });
});

test("types and property names are no impurity", () => {
  const text = "export type A = { send(x: Date): Promise<void> }; export const b = (a: B) => a.process";
  expect(coreAndContextArePure(read("src/core/a.ts", text))).toEqual([]);
});

test("every folder of src is a room of the plan", () => {
  const folders = sources.filter(({ path }) => path.startsWith("src/")).map(({ path }) => path.split("/")[1]);
  expect([...new Set(folders)].filter((folder) => !rooms[folder ?? ""])).toEqual([]);
});

/** The files that import themselves by way of others, types included. */
function circlesIn(all: readonly Source[]): string[] {
  const bySource = new Map(all.map((source) => [source.path, source]));
  const next = (path: string) => {
    const source = bySource.get(path);
    return source ? source.imports.flatMap((one) => target(source, one) ?? []) : [];
  };
  return all.flatMap(({ path }) => {
    const reached = new Set(next(path));
    for (const one of reached) for (const other of next(one)) reached.add(other);
    return reached.has(path) ? [`${path}:1 is part of a circle of imports`] : [];
  });
}

test("no file of src imports itself by way of others, types included", () => {
  expect(circlesIn(sources.filter(({ path }) => path.startsWith("src/")))).toEqual([]);
  const sample = [
    read("src/core/a.ts", 'import type { B } from "./b.ts"'),
    read("src/core/b.ts", 'import type { A } from "./a.ts"'),
    read("src/core/c.ts", 'import type { A } from "./a.ts"'),
  ];
  expect(circlesIn(sample)).toHaveLength(2);
});

/** Folders with too many files, and those where a first word of names stands for a folder. */
function crowdedFolders(paths: readonly string[]): string[] {
  const byFolder = Map.groupBy(paths, (path) => dirname(path));
  return [...byFolder].flatMap(([folder, files]) => {
    const words = Map.groupBy(files, (path) => basename(path).split(/[-.]/)[0]);
    const crowd =
      files.length > mostFiles ? [`${folder} has ${files.length} files; the ceiling is ${mostFiles}`] : [];
    const shared = [...words].filter(([, same]) => same.length >= sameWord);
    return [...crowd, ...shared.map(([word]) => `${folder}: ${word}-* is a folder`)];
  });
}

test("a folder of src is small, and no first word of its names stands for a folder", () => {
  const paths = sources.map(({ path }) => path).filter((path) => path.startsWith("src/"));
  expect(crowdedFolders(paths)).toEqual([]);
  const many = Array.from({ length: 21 }, (_, number) => `src/a/${number}.ts`);
  expect(crowdedFolders(many)).toEqual(["src/a has 21 files; the ceiling is 20"]);
  const same = ["one", "two", "three", "four"].map((name) => `src/a/git-${name}.ts`);
  expect(crowdedFolders(same)).toEqual(["src/a: git-* is a folder"]);
});

test("no file names a path of the machine it was written on", () => {
  const here = root.split("/").length > 2 ? [root] : [];
  const files = globSync("{.ci/*,*.{md,json,ts},{src,bin,scripts,bench,test,docs,prompts,examples}/**/*}", {
    cwd: root,
  }).filter(
    (path) => /(\.(ts|tsx|js|md|json|ya?ml|sh|html)|\.ci\/run)$/.test(path) && !path.includes("/fixtures/"),
  );
  const personal = /(?<![\w.])\/(home|Users)\/(?!(user|u|me|you|someone)\b)\w+/;
  const found = files.flatMap((path) => {
    const lines = readFileSync(join(root, path), "utf8").split("\n");
    return lines.flatMap((line, index) =>
      personal.test(line) || here.some((folder) => line.includes(folder)) ? [`${path}:${index + 1}`] : [],
    );
  });
  expect(found).toEqual([]);
});
