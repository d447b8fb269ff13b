/** Changes to bundled packages that make the program start faster. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Plugin } from "esbuild";

/** Matches what holds a character of an emoji: each emoji does. Compiles in no time, unlike a pattern of all emoji. */
export const partOfEmoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\u20E3/u;

/** Text of bundled packages that costs every start, and what stands in its place. */
const slowStarts: [file: RegExp, text: string, instead: string][] = [
  // Yoga holds its program as a data: URL, and without `fetch`, which loads an HTTP client, decodes that itself.
  [/yoga-wasm-base64-esm\.js$/, '"function"!=typeof fetch', "true"],
  // Compiling the pattern of all emoji takes 40 ms.
  [
    /string-width[\\/]index\.js$/,
    "rgiEmojiRegex.test(segment)",
    `(${partOfEmoji}.test(segment) && rgiEmojiRegex.test(segment))`,
  ],
];
/** Replaces that text as the packages are bundled. Fails the build when a package no longer holds it. */
export const startFast: Plugin = {
  name: "start-fast",
  setup({ onLoad }) {
    for (const [filter, text, instead] of slowStarts)
      onLoad({ filter }, ({ path }) => {
        const contents = readFileSync(path, "utf8");
        if (!contents.includes(text)) throw new Error(`${path} no longer holds ${text}: see slowStarts`);
        return { contents: contents.replaceAll(text, instead) };
      });
    // As text it is half as long as an object written out, and is read faster.
    onLoad({ filter: /models[\\/]cards\.json$/ }, ({ path }) => {
      const text = JSON.stringify(JSON.stringify(JSON.parse(readFileSync(path, "utf8"))));
      return { contents: `export default JSON.parse(${text})`, loader: "js" };
    });
  },
};

/** Modules of Node that take a millisecond or more to load, and of which a start calls no function. */
const loadedWhenCalled = new Set(["node:child_process", "node:crypto", "node:v8", "node:vm"]);

/**
 * Takes the parts of Node that our own files name, and no others: an import makes Node evaluate all that a module exports,
 * which for `node:fs` and `node:crypto` are whole modules more.
 */
export const partsOfNode: Plugin = {
  name: "parts-of-node",
  setup({ onResolve, onLoad, initialOptions }) {
    const own = join(initialOptions.absWorkingDir ?? ".", "src");
    onResolve({ filter: /^node:/ }, ({ path, importer, kind }) =>
      kind === "import-statement" && importer.startsWith(own)
        ? { path, namespace: "parts-of-node" }
        : undefined,
    );
    onLoad({ filter: /./, namespace: "parts-of-node" }, ({ path }) => ({ contents: partsOf(path) }));
  },
};

/** A module with an export for each name, of which the bundle keeps those that are used. */
function partsOf(name: string): string {
  const parts = Object.entries(process.getBuiltinModule(name) ?? {});
  const whole = `process.getBuiltinModule(${JSON.stringify(name)})`;
  const called = (part: string) => `(...words) => ${whole}.${part}(...words)`;
  // `promisify` asks some functions for a form of their own: that of `execFile` gives both outputs.
  const own = 'Symbol.for("nodejs.util.promisify.custom")';
  const later = (part: string, value: object) =>
    Object.hasOwn(value, promisify.custom)
      ? `/* @__PURE__ */ (() => Object.assign(${called(part)}, { [${own}]: ${called(`${part}[${own}]`)} }))()`
      : called(part);
  return parts
    .map(([part, value]) => {
      const isLater = loadedWhenCalled.has(name) && typeof value === "function" && /^[a-z]/.test(part);
      return `export const ${part} = ${isLater ? later(part, value) : `/* @__PURE__ */ (() => ${whole}.${part})()`};`;
    })
    .join("\n");
}
