/** Checks of what is in the package: its size, licences, names of the building machine, and how it is published. */

import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { homedir, hostname, userInfo } from "node:os";
import { join } from "node:path";
import { packageOf } from "../third-party.ts";
import type { Outcome } from "./outcome.ts";

type Place = { root: string; tarball: string; work: string };

/** Most bytes of all files together: 8 MB, of 10^6 bytes. */
const mostBytes = 8_000_000;
/** Files without which a person would miss something. */
const wanted = [
  ...[
    "bin/sawtooth.js",
    "bin/old-node.js",
    "dist/main.js",
    "dist/library.js",
    "dist/types/index.d.ts",
    "man/sawtooth.1",
  ],
  ...["LICENSE", "README.md", "CHANGELOG.md", "THIRD-PARTY.md", "package.json", "prompts/system.md"],
];

/** Looks into the tarball, and at the workflow that publishes it. */
export function contentChecks({ root, tarball, work }: Place): Outcome[] {
  const folder = join(work, "contents");
  mkdirSync(folder);
  execFileSync("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"]);
  const files = globSync("**/*", { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile());
  const text = (path: string) => readFileSync(join(folder, path), "latin1");
  return [
    size(folder, files, statSync(tarball).size),
    outcome(
      "files",
      wanted.filter((path) => !files.includes(path)),
      `${files.length} files`,
      "missing",
    ),
    licences(files, text),
    outcome("names of this machine", named(files, text), "none in any file", "found"),
    outcome(
      "source maps",
      files.filter((path) => path.endsWith(".map")),
      "none",
      "found",
    ),
    published(root, JSON.parse(text("package.json")) as Manifest),
  ];
}

function outcome(what: string, wrong: readonly string[], fine: string, else_: string): Outcome {
  if (wrong.length === 0) return { what, state: "ok", says: fine };
  return { what, state: "FAILED", says: `${else_}: ${wrong.slice(0, 5).join(", ")}` };
}

function size(folder: string, files: readonly string[], packed: number): Outcome {
  const bytes = files.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
  const mega = (count: number) => `${(count / 1e6).toFixed(2)} MB`;
  const says = `${mega(bytes)} of ${mega(mostBytes)}, packed ${mega(packed)}`;
  return { what: "size", state: bytes <= mostBytes ? "ok" : "FAILED", says };
}

/** Each package that the bundles name must have its row: the bundles say so themselves, the build wrote the page. */
function licences(files: readonly string[], text: (path: string) => string): Outcome {
  const page = files.includes("THIRD-PARTY.md") ? text("THIRD-PARTY.md") : "";
  const bundled = files
    .filter((path) => path.startsWith("dist/") && path.endsWith(".js"))
    .flatMap((path) => [...text(path).matchAll(/^\/\/ (node_modules\/\S+)$/gm)])
    .map(([, source = ""]) => packageOf(source)?.replace(/^.*node_modules\//, "") ?? "");
  const packages = [...new Set(bundled)];
  const missing = packages.filter((name) => !page.includes(`\n| ${name} | `));
  if (packages.length === 0) missing.push("the bundles name no package");
  return outcome(
    "licences",
    missing,
    `${packages.length} bundled packages, each in THIRD-PARTY.md`,
    "missing",
  );
}

/** Files that hold a path or a name of the machine that built them. */
function named(files: readonly string[], text: (path: string) => string): string[] {
  const { username } = userInfo();
  const home = homedir();
  const names = [
    process.cwd(),
    ...(home.split("/").length > 2 ? [home] : []),
    ...(username.length > 5 ? [`/${username}/`] : []),
    ...(hostname().length > 5 ? [hostname()] : []),
    ...registry(),
  ];
  return files.flatMap((path) => {
    const found = names.find((name) => text(path).includes(name));
    return found === undefined ? [] : [`${path} (${found})`];
  });
}

/** The host of a registry of one's own. The public one is no secret. */
function registry(): string[] {
  const url = execFileSync("npm", ["config", "get", "registry"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const host = URL.canParse(url.trim()) ? new URL(url.trim()).host : "";
  return host === "" || host.endsWith(".npmjs.org") ? [] : [host];
}

type Manifest = { publishConfig?: { access?: string; provenance?: boolean } };

/** Provenance needs an identity of the workflow, and the repository's address in package.json, which the workflow sets. */
function published(root: string, { publishConfig }: Manifest): Outcome {
  const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");
  const steps = [
    "id-token: write",
    "npm publish --provenance",
    "npm pkg set",
    "GITHUB_REPOSITORY",
    "npm run release:check",
  ];
  const missing = [
    ...steps.filter((step) => !workflow.includes(step)),
    ...(publishConfig?.provenance && publishConfig.access === "public" ? [] : ["publishConfig"]),
  ];
  return outcome("provenance", missing, "set up in .github/workflows/release.yml", "missing");
}
