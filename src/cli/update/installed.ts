/** How this copy of Sawtooth was installed, told by where it lies, and what updates such a copy. */

import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** `type`: what a person types to update this copy. */
export type Installed = { how: string; type: string };

/** Folders of package managers, and what updates their programs. The first that the path holds counts. */
const managers: readonly (readonly [folder: RegExp, how: string, type: string])[] = [
  [/\/_npx\//, "by npx, for one run", "npx sawtooth@latest"],
  [
    /\/\.?pnpm\/(?:global|store)\b.*\/node_modules\//,
    "globally, with pnpm",
    "pnpm add --global sawtooth@latest",
  ],
  [/\/\.bun\/install\/global\//, "globally, with Bun", "bun add --global sawtooth@latest"],
  [/\/yarn\/global\//, "globally, with Yarn", "yarn global add sawtooth@latest"],
];

/** Returns how the package in `root`, an absolute path, was installed. */
export function installedAt(root: string): Installed {
  if (existsSync(join(root, ".git")))
    return { how: `as a clone of its repository, ${root}`, type: `cd ${root} && git pull && npm install` };
  const manager = managers.find(([folder]) => folder.test(root));
  if (manager) return { how: manager[1], type: manager[2] };
  const project = projectAround(root);
  if (project === undefined)
    return { how: "globally, with npm", type: "npm install --global sawtooth@latest" };
  const kind = project.isDev ? " --save-dev" : "";
  const lock = locks.find(([file]) => existsSync(join(project.folder, file)));
  const add = lock?.[1] ?? `npm install${kind}`;
  return { how: `in the project ${project.folder}`, type: `cd ${project.folder} && ${add} sawtooth@latest` };
}

/** Lock files of other package managers, and what adds a package there. */
const locks = [
  ["pnpm-lock.yaml", "pnpm add"],
  ["yarn.lock", "yarn add"],
  ["bun.lock", "bun add"],
] as const;

/** The project whose package.json names the package among its dependencies. */
function projectAround(root: string): { folder: string; isDev: boolean } | undefined {
  for (let folder = dirname(root); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) !== "node_modules") continue;
    const project = dirname(folder);
    const { dependencies, devDependencies } = packageOf(project);
    if (dependencies?.sawtooth !== undefined) return { folder: project, isDev: false };
    if (devDependencies?.sawtooth !== undefined) return { folder: project, isDev: true };
  }
  return undefined;
}

type Package = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

function packageOf(folder: string): Package {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;
  } catch {
    return {};
  }
}
