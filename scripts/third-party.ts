/** The packages that are bundled into dist/, and THIRD-PARTY.md, which holds the licence of each. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";

type Outputs = Metafile["outputs"];
type Package = { name: string; version: string; licence: string; text: string };

/** Licences that permit what we do with the code: copying it with its notice. */
const permitted =
  /^\(?(MIT|MIT-0|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|CC0-1\.0|Unlicense|Zlib|Python-2\.0)( (OR|AND) [\w.-]+)*\)?$/;

/** Returns the folder of the package that a bundled file belongs to; undefined for a file of ours. */
export function packageOf(input: string): string | undefined {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
}

/** Returns THIRD-PARTY.md. Throws for a package without a licence, or with one that is not permitted. */
export function thirdParty(root: string, outputs: Outputs): string {
  const packages = bundledFolders(outputs).map((folder) => packageAt(join(root, folder)));
  const unique = [...new Map(packages.map((one) => [`${one.name} ${one.version}`, one])).values()].sort(
    (a, b) => (a.name < b.name ? -1 : 1),
  );
  const byText = Map.groupBy(unique, ({ text }) => text);
  const rows = unique.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  const texts = [...byText].map(
    ([text, users]) => `## ${users.map(({ name }) => name).join(", ")}\n\n${fenced(text)}\n`,
  );
  return [
    "# Third-party software",
    "",
    "The files in dist/ hold code of these packages. The build makes this page; it fails for a package without a licence.",
    "",
    ...["| package | version | licence |", "| --- | --- | --- |", ...rows, ""],
    ...texts,
  ].join("\n");
}

/** Folders of all packages of which anything is in an output. */
function bundledFolders(outputs: Outputs): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) => {
    const folder = bytesInOutput > 0 ? packageOf(path) : undefined;
    return folder === undefined ? [] : [folder];
  });
  return [...new Set(folders)];
}

function packageAt(folder: string): Package {
  const { name, version, license, author } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as {
    name: string;
    version: string;
    license?: string | { type: string };
    author?: string | { name: string };
  };
  const licence = typeof license === "object" ? license.type : license;
  if (licence === undefined) throw new Error(`${name} ${version} is bundled and has no licence`);
  if (!permitted.test(licence))
    throw new Error(`${name} ${version} is bundled under ${licence}: is that permitted?`);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const texts = files
    .filter((file) => /^(licen[cs]e|notice|copying)([.-]|$)/i.test(file) && !/\.(js|ts|json)$/.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (texts.length === 0 && licence === "MIT") texts.push(mitText(name, author));
  const holder = typeof author === "object" ? author.name : author;
  const otherwise = `${licence}${holder ? `, by ${holder.replace(/ *[<(].*/, "")}` : ""}. The package holds no text of it.`;
  return { name, version, licence, text: texts.join("\n\n") || otherwise };
}

/** The licence of a package that names it and holds no text: ours is the same, but for its holder. */
function mitText(name: string, author: string | { name: string } = `the authors of ${name}`): string {
  const holder = typeof author === "object" ? author.name : author;
  const own = readFileSync(join(import.meta.dirname, "../LICENSE"), "utf8").trim();
  return own.replace(/^Copyright.*$/m, `Copyright (c) ${holder.replace(/ *[<(].*/, "")}`);
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.replaceAll("```", "'''").replaceAll("\r", "")}\n\`\`\``;
}
