/** Syntax at the edit: only errors that the edit brought, by parsers alone; nothing of the edited file ever runs. */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newSyntaxFault } from "../../../src/tools/editor/syntax.ts";
import { editorHere } from "../../support/editor.ts";

const never = new AbortController().signal;
/** Patient: a busy machine starts programs slowly. */
const fault = (path: string, before: string | undefined, after: string) =>
  newSyntaxFault(path, { before, after }, never, 60_000);

const python = existsSync("/usr/bin/python3") || existsSync("/usr/local/bin/python3");

test.each([
  ["a.json", '{"a": 1}', '{"a": 1,}', undefined],
  ["a.cjs", "#!/usr/bin/env node\nlet a = 1;\n", "#!/usr/bin/env node\nlet a = ;\n", 2],
  ["a.mjs", 'import "x";\n', 'import "x";\nlet a = ;\n', 2],
  ["a.js", 'import "x";\nawait 1;\n', 'import "x";\nlet a = ;\n', 2],
  ["a.js", "return 1;\n", "with (a) {\n", 2],
  ["a.sh", "if true; then ls; fi\n", "if true; then\nls\n", undefined],
  ["a.bash", "ls !(a)\n", "ls !(a)\nfi\n", 2],
  ...(python ? [["a.py", "x = 1\n", "x = (1\n", 1] as const] : []),
] as const)(
  "in %s an error that was not there is found, one that was is not",
  async (name, good, bad, line) => {
    const path = join("/w", name);
    expect(await fault(path, undefined, good)).toBeUndefined();
    expect(await fault(path, good, `${good}\n`)).toBeUndefined();
    const found = await fault(path, good, bad);
    expect(found?.message).toMatch(/./);
    if (line !== undefined) expect(found?.line).toBe(line);
    expect(await fault(path, undefined, bad)).toEqual(found);
    expect(await fault(path, bad, `${bad}\n`)).toBeUndefined();
    expect(await fault(path, bad, good)).toBeUndefined();
  },
);

test.each([
  ["tsconfig.json", '{ "a": 1, }'],
  [".vscode/settings.json", '{ "a": 1, }'],
  ["a.json", '// said\n{ "a": 1 }'],
  ["view.js", "export const a = () => <b>1</b>;\n"],
  ["typed.ts", "let a: = 1"],
  ["fish.sh", "#!/usr/bin/env fish\nif true\nls\nend\n"],
  ["noext", "{"],
  ["large.json", `{${" ".repeat(600_000)}`],
])("%s is not judged by a parser that is not its own, or too large", async (name, text) => {
  expect(await fault(join("/w", name), undefined, text)).toBeUndefined();
});

test("nothing in the file runs, and nothing beside it is loaded", async () => {
  const { folder } = editorHere();
  const mark = join(folder, "ran");
  mkdirSync(join(folder, "site"));
  for (const name of ["sitecustomize.py", "sys.py", "ast.py"])
    writeFileSync(join(folder, name), `open(${JSON.stringify(mark)}, "w")\n`);
  const shell = `echo > ${mark}\n$(echo > ${mark})\n: "\${x:=$(echo > ${mark})}"\n(\n`;
  await fault(join(folder, "a.sh"), undefined, shell);
  const js = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");\n`;
  await fault(join(folder, "a.cjs"), undefined, js);
  await fault(join(folder, "a.js"), undefined, `import "x";\n${js}`);
  await fault(join(folder, "a.mjs"), undefined, js);
  await fault(join(folder, "a.py"), undefined, `open(${JSON.stringify(mark)}, "w")\n`);
  expect(existsSync(mark)).toBe(false);
});

test("when the time is over, nothing is said", async () => {
  const bad = { before: "let a = 1;\n", after: 'import "x"; let a = ;\n' };
  expect(await newSyntaxFault("/w/a.mjs", bad, never, 0)).toBeUndefined();
  expect(await newSyntaxFault("/w/a.mjs", bad, AbortSignal.abort())).toBeUndefined();
});

test("the result of an edit ends with one line about it, and the file is written as asked", async () => {
  const { say, read } = editorHere();
  const created = await say({ command: "create", path: "a.json", file_text: '{\n  "a": 1\n}\n' });
  expect(created).toBe("Created a.json (3 lines).");
  const broken = await say({ command: "str_replace", path: "a.json", old_str: "1", new_str: "1,," });
  expect(broken.split("\n").at(-1)).toMatch(/^\[Since this edit there is a syntax error: .+\]$/);
  expect(read("a.json").toString()).toBe('{\n  "a": 1,,\n}\n');
  const again = await say({ command: "str_replace", path: "a.json", old_str: "1,,", new_str: "1,,," });
  expect(again).not.toContain("syntax error");
  const script = await say({ command: "create", path: "a.cjs", file_text: "let a = 1;\nlet b = ;\n" });
  expect(script).toMatch(/\[Since this edit there is a syntax error in line 2: Unexpected token ';'\]$/);
});
