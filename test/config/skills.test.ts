/** Skills as files: which are taken, why the others are not, and when the hash of one changes. */

import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { validate } from "skills-ref";
import { expect, onTestFinished, test } from "vitest";
import { contentsOf, isUnchanged } from "../../src/config/skills/content-hash.ts";
import { readSkills } from "../../src/config/skills/read.ts";
import type { SkillPlace } from "../../src/config/skills/skill.ts";

function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "skills-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function put(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const own = (folder: string): SkillPlace => ({ folder, called: folder, kind: "skills", origin: "person" });
const theirs = (folder: string): SkillPlace => ({ ...own(folder), origin: "project", inside: folder });

const skill = (name: string, more = "", body = "Body.") =>
  `---\nname: ${name}\ndescription: Signs files.\n${more}---\n\n${body}\n`;

/** Why each was left out, by its name. */
function reasons(notes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    notes.map((note) => note.replace(/^.*\/([^/]+) is not taken: /, "$1: ").split(": ", 2)),
  );
}

test("what is not a skill is left out with a line that says why, and the others stay", () => {
  const folder = tempFolder();
  const file = (name: string, text: string) => put(join(folder, "all", name, "SKILL.md"), text);
  file("good", skill("good"));
  file("folded", "---\nname: folded\ndescription: >\n  One line\n  and another.\n---\nBody.\n");
  file("hint", skill("hint", "argument-hint: [file] [more]\nallowed-tools: Bash\n", "Do $ARGUMENTS\u202e"));
  file("other", skill("another"));
  file("yaml", "---\nname: yaml\n}{ what\n---\nBody.\n");
  file("twice", "---\nname: twice\nname: twice\ndescription: a\n---\n");
  file("nodescription", "---\nname: nodescription\n---\n");
  file("huge", `---\nname: huge\ndescription: ${"x".repeat(10_000_000)}\n---\n`);
  file("bomb", `---\nname: bomb\na: &a [x]\nb: ${"[*a, ".repeat(500)}*a${"]".repeat(500)}\n---\n`);
  file("binary", "---\nname: binary\ndescription: a\n---\n\0");
  file("none", "no frontmatter");
  file("hid\u200bden", skill("hid\u200bden"));
  put(join(folder, "secret"), skill("leads-out"));
  mkdirSync(join(folder, "all/leads-out"));
  symlinkSync(join(folder, "secret"), join(folder, "all/leads-out/SKILL.md"));
  put(join(folder, "mine/good/SKILL.md"), skill("good", "", "Mine."));
  symlinkSync(join(folder, "mine/good"), join(folder, "all/good2"));
  const { skills, notes } = readSkills([
    own(join(folder, "mine")),
    own(join(folder, "all")),
    own("/no/such/folder"),
  ]);
  expect(skills.map(({ name, description, text }) => [name, description, text])).toEqual([
    ["good", "Signs files.", "Mine."],
    ["folded", "One line and another.", "Body."],
    ["hint", "Signs files.", "Do $ARGUMENTS\\u{202E}"],
  ]);
  expect(skills[2]).toMatchObject({ argument: "[file] [more]", asksForTools: true });
  expect(reasons(notes)).toEqual({
    "leads-out": "its SKILL.md is a link out of its folder",
    binary: "its SKILL.md is not text",
    bomb: "its frontmatter is not YAML",
    good: "there is a skill good already",
    good2: "its name is good, but its folder has another name",
    "hid\\u{200B}den": "its name must be 1 to 64 of letters, digits and single hyphens",
    huge: "its SKILL.md is larger than 64 KiB",
    nodescription: "its description must have 1 to 1,024 characters",
    none: "its SKILL.md does not begin with a frontmatter (---)",
    other: "its name is another, but its folder has another name",
    twice: "its frontmatter is not YAML",
    yaml: "its frontmatter is not YAML",
  });
});

test("a folder of the project is hashed over all its files, and one that cannot be is left out", () => {
  const folder = tempFolder();
  put(join(folder, "many/SKILL.md"), skill("many"));
  for (let index = 0; index < 10_000; index++) writeFileSync(join(folder, `many/${index}`), "");
  put(join(folder, "large/SKILL.md"), skill("large"));
  put(join(folder, "large/data"), "x".repeat(9 * 1024 * 1024));
  put(join(folder, "leads/SKILL.md"), skill("leads"));
  symlinkSync("/etc", join(folder, "leads/etc"));
  put(join(folder, "good/SKILL.md"), skill("good"));
  put(join(folder, "good/scripts/run.sh"), "echo\n");
  symlinkSync("scripts/run.sh", join(folder, "good/run"));
  const { skills, notes } = readSkills([theirs(folder)]);
  expect(reasons(notes)).toEqual({
    many: "it has more than 1,000 files",
    large: "its files are larger than 8 MB together",
    leads: "it holds a link out of its folder, etc",
  });
  const [good] = skills;
  if (!good) throw new Error("no skill");
  expect(good.files).toEqual(["SKILL.md", "run", "scripts/run.sh"]);
  expect(isUnchanged(good)).toBe(true);
  const changes = [
    () => writeFileSync(join(folder, "good/scripts/run.sh"), "echO\n"),
    () => writeFileSync(join(folder, "good/scripts/run.sh"), "echo\n"),
    () => chmodSync(join(folder, "good/scripts/run.sh"), 0o755),
    () => mkdirSync(join(folder, "good/empty")),
    () => symlinkSync("SKILL.md", join(folder, "good/link")),
  ];
  const hashes = changes.map((change) => {
    change();
    const contents = contentsOf(join(folder, "good"));
    return typeof contents === "string" ? contents : contents.hash;
  });
  expect(hashes[1]).toBe(good.hash);
  expect(new Set([good.hash, ...hashes]).size).toBe(5);
  expect(isUnchanged(good)).toBe(false);
});

test("a skill of the project that is a link out of it is not taken; one to another place of it is the same skill", () => {
  const folder = tempFolder();
  put(join(folder, "elsewhere/out/SKILL.md"), skill("out"));
  put(join(folder, "project/.agents/skills/in/SKILL.md"), skill("in"));
  mkdirSync(join(folder, "project/.claude/skills"), { recursive: true });
  symlinkSync(join(folder, "elsewhere/out"), join(folder, "project/.claude/skills/out"));
  symlinkSync("../../.agents/skills/in", join(folder, "project/.claude/skills/in"));
  const places = [".agents/skills", ".claude/skills"].map((name) => ({
    ...theirs(join(folder, "project")),
    folder: join(folder, "project", name),
  }));
  const { skills, notes } = readSkills(places);
  expect(skills.map(({ name }) => name)).toEqual(["in"]);
  expect(reasons(notes)).toEqual({ out: "it is a link out of the folder" });
});

const long = (count: number) => "x".repeat(count);
const [head, end] = ["---\nname: s\n", "\n---\nBody.\n"];

/** Files named SKILL.md; the folder is `s` unless another is named. */
const verdicts: [what: string, text: string, folder?: string][] = [
  ["the least", `${head}description: a${end}`],
  ["every field of the standard", skill("s", "license: MIT\ncompatibility: any\nmetadata:\n  a: 1\n")],
  ["allowed-tools", skill("s", "allowed-tools: Bash(git:*) Read\n")],
  ["no name", "---\ndescription: a\n---\n"],
  ["no description", "---\nname: s\n---\n"],
  ["no body", "---\nname: s\ndescription: a\n---\n"],
  ["no frontmatter", "Body.\n"],
  ["nothing", ""],
  ["an end that is missing", "---\nname: s\ndescription: a\n"],
  ["a list", "---\n- name\n---\n"],
  ["a text", "---\njust words\n---\n"],
  ["YAML that is broken", "---\nname: [s\n---\n"],
  ["a key twice", "---\nname: s\nname: s\ndescription: a\n---\n"],
  ["a tab as indentation", "---\nname: s\ndescription: a\nmetadata:\n\ta: b\n---\n"],
  ["a colon in a plain value", "---\nname: s\ndescription: Use when: always\n---\n"],
  ["a colon in a quoted value", `${head}description: "Use when: always"${end}`],
  ["a folded value", `${head}description: >-\n  a\n  b${end}`],
  ["a literal value", `${head}description: |\n  a\n  b${end}`],
  ["three hyphens in a line", `${head}description: a --- b${end}`],
  ["an anchor", "---\nname: &n s\ndescription: *n\n---\n"],
  ["an anchor that is missing", "---\nname: s\ndescription: *none\n---\n"],
  ["a comment", `---\n# words\nname: s # more\ndescription: a${end}`],
  ["CRLF", "---\r\nname: s\r\ndescription: a\r\n---\r\nBody.\r\n"],
  ["upper case", "---\nname: Big\ndescription: a\n---\n", "Big"],
  ["a hyphen first", "---\nname: -s\ndescription: a\n---\n", "-s"],
  ["a hyphen last", "---\nname: s-\ndescription: a\n---\n", "s-"],
  ["two hyphens", "---\nname: a--b\ndescription: a\n---\n", "a--b"],
  ["an underscore", "---\nname: a_b\ndescription: a\n---\n", "a_b"],
  ["a space", "---\nname: a b\ndescription: a\n---\n", "a b"],
  ["64 characters", `---\nname: ${long(64)}\ndescription: a\n---\n`, long(64)],
  ["65 characters", `---\nname: ${long(65)}\ndescription: a\n---\n`, long(65)],
  ["another folder", "---\nname: t\ndescription: a\n---\n"],
  ["a number as a name", "---\nname: 12\ndescription: a\n---\n", "12"],
  ["letters of another script", "---\nname: навык\ndescription: a\n---\n", "навык"],
  ["a description of 1,024", `${head}description: ${long(1024)}${end}`],
  ["a description of 1,025", `${head}description: ${long(1025)}${end}`],
  ["an empty description", `${head}description: ""${end}`],
  ["a description of space", `${head}description: "  "${end}`],
  ["a compatibility of 501", `${head}description: a\ncompatibility: ${long(501)}${end}`],
  ["a compatibility that is a list", `${head}description: a\ncompatibility: [a]${end}`],
];

test.each(verdicts)("the verdict on %s is that of skills-ref", async (_, text, name = "s") => {
  const folder = tempFolder();
  put(join(folder, name, "SKILL.md"), text);
  const problems = await validate(join(folder, name));
  const { skills, notes } = readSkills([own(folder)]);
  expect([skills.length, notes.length]).toEqual(problems.length === 0 ? [1, 0] : [0, 1]);
});

test.each([
  ["fields of other programs, which many skills have", skill("s", "version: 1\nuser-invocable: true\n"), 1],
  ["a byte order mark", `\ufeff${skill("s")}`, 1],
  ["a description without a value, which skills-ref reads as the word null", `${head}description:${end}`, 0],
])("unlike skills-ref, on purpose: %s", async (_, text, taken) => {
  const folder = tempFolder();
  put(join(folder, "s/SKILL.md"), text);
  expect(readSkills([own(folder)]).skills).toHaveLength(taken);
  expect((await validate(join(folder, "s"))).length === 0).toBe(taken === 0);
});
