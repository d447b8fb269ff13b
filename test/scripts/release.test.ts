/** The checks of a release find what they look for, in packages made for it. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { contentChecks } from "../../scripts/release/contents.ts";
import { thirdParty } from "../../scripts/third-party.ts";
import { root } from "../support/source.ts";

const manifest = JSON.stringify({ publishConfig: { access: "public", provenance: true } });
const fine: Record<string, string> = {
  "package.json": manifest,
  "dist/main.js": "// node_modules/one/index.js\n// node_modules/@a/two/x.js\n",
  "THIRD-PARTY.md": "| package | version | licence |\n| one | 1.0.0 | MIT |\n| @a/two | 1.0.0 | MIT |\n",
  ...Object.fromEntries(
    [
      "bin/sawtooth.js",
      "bin/old-node.js",
      "dist/library.js",
      "dist/types/index.d.ts",
      "man/sawtooth.1",
      "LICENSE",
    ].map((path) => [path, ""]),
  ),
  ...{ "README.md": "", "CHANGELOG.md": "", "prompts/system.md": "" },
};

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "sawtooth-release-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

/** Checks a package of these files; returns what each check says of it, where it fails. */
function failures(files: Record<string, string>): Record<string, string> {
  const work = folder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, "package", path)), { recursive: true });
    writeFileSync(join(work, "package", path), text);
  }
  const tarball = join(work, "package.tgz");
  execFileSync("tar", ["-czf", tarball, "-C", work, "package"]);
  const outcomes = contentChecks({ root, tarball, work });
  return Object.fromEntries(
    outcomes.flatMap(({ what, state, says }) => (state === "FAILED" ? [[what, says]] : [])),
  );
}

test("a package without a fault passes", () => {
  expect(failures(fine)).toEqual({});
});

test.each([
  ["that is too large", { "docs/large.bin": "x".repeat(8_000_000) }, "size", /^8\.00 MB of 8\.00 MB/],
  [
    "that names the machine",
    { "dist/a.js": `at ${process.cwd()}/src/a.ts` },
    "names of this machine",
    /dist\/a\.js/,
  ],
  ["with a source map", { "dist/a.js.map": "{}" }, "source maps", /a\.js\.map/],
  [
    "with a licence that is not told",
    { "dist/a.js": "// node_modules/three/a.js\n" },
    "licences",
    /missing: three/,
  ],
  ["without its settings for publishing", { "package.json": "{}" }, "provenance", /publishConfig/],
])("a package %s does not", (_what, more, check, says) => {
  const found = failures({ ...fine, ...more });
  expect(Object.keys(found)).toEqual([check]);
  expect(found[check]).toMatch(says);
});

test("a package that lacks a file does not", () => {
  const { "man/sawtooth.1": _, ...rest } = fine;
  expect(failures(rest)).toEqual({ files: "missing: man/sawtooth.1" });
});

test("THIRD-PARTY.md has each bundled package with its text, and none without a licence gets in", () => {
  const made = folder();
  const add = (name: string, licence: string | undefined, text?: string) => {
    mkdirSync(join(made, "node_modules", name), { recursive: true });
    writeFileSync(
      join(made, "node_modules", name, "package.json"),
      JSON.stringify({ name, version: "1.0.0", license: licence, author: "Ann <a@b.c>" }),
    );
    if (text !== undefined) writeFileSync(join(made, "node_modules", name, "LICENSE"), text);
    return { [`node_modules/${name}/index.js`]: { bytesInOutput: 10 } };
  };
  const page = (inputs: Record<string, { bytesInOutput: number }>) =>
    thirdParty(made, { "dist/a.js": { inputs, bytes: 1, imports: [], exports: [] } });
  const told = page({
    ...add("one", "MIT", "The words of one."),
    ...add("@a/two", "MIT"),
    "src/own.ts": { bytesInOutput: 9 },
  });
  expect(told).toContain("| one | 1.0.0 | MIT |");
  expect(told).toContain("## one\n\n```text\nThe words of one.\n```");
  expect(told).toMatch(/## @a\/two\n\n```text\nMIT License\n\nCopyright \(c\) Ann\n/);
  expect(page({ "node_modules/one/unused.js": { bytesInOutput: 0 } })).not.toContain("| one |");
  expect(() => page(add("three", undefined))).toThrow("three 1.0.0 is bundled and has no licence");
  expect(() => page(add("four", "GPL-3.0"))).toThrow("four 1.0.0 is bundled under GPL-3.0");
});

test("the build says of what it made which packages are in it", () => {
  const page = readFileSync(join(root, "THIRD-PARTY.md"), "utf8");
  for (const name of ["ink", "react", "@modelcontextprotocol/client", "diff"])
    expect(page).toContain(`\n| ${name} | `);
});
