/** Reads the project's own source as syntax trees, for the rules in architecture.test.ts. */

import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";

/** The project's folder. */
export const root = normalize(join(import.meta.dirname, "../.."));

/** A node of the syntax tree, as ESTree names it; `start` and `end` are offsets in the text. */
export type Node = { type: string; start: number; end: number } & Record<string, unknown>;
export type Import = { specifier: string; start: number; typeOnly: boolean };
export type Source = { path: string; text: string; program: Node; imports: Import[]; comments: Node[] };

/** Parses a file of the project, or `text` as if it stood at `path`. Throws when it is no TypeScript. */
export function read(path: string, text = readFileSync(join(root, path), "utf8")): Source {
  const parsed = parseSync(path, text);
  if (parsed.errors.length > 0) throw new Error(`${path}: ${parsed.errors[0]?.message}`);
  const program = parsed.program as unknown as Node;
  const imports = nodesOf(program).flatMap((node) => {
    const source = /^(Import|TSImportType|Export(All|Named))/.test(node.type) && (node.source as Node | null);
    return source ? [{ specifier: String(source.value), start: node.start, typeOnly: isTypeOnly(node) }] : [];
  });
  return { path, text, program, imports, comments: parsed.comments as unknown as Node[] };
}

function isTypeOnly(node: Node): boolean {
  if (node.type === "TSImportType" || node.importKind === "type" || node.exportKind === "type") return true;
  const names = (node.specifiers as Node[] | undefined) ?? [];
  return names.length > 0 && names.every((name) => name.importKind === "type" || name.exportKind === "type");
}

/** The node and all under it; `skip` leaves out a child by its parent and the name of its field there. */
export function nodesOf(node: Node, skip: (parent: Node, key: string) => boolean = () => false): Node[] {
  const found: Node[] = [];
  const walk = (one: Node): void => {
    found.push(one);
    for (const key of visitorKeys[one.type] ?? []) {
      if (skip(one, key)) continue;
      const below = one[key] as Node | (Node | null)[] | null | undefined;
      if (Array.isArray(below)) for (const child of below) child && walk(child);
      else if (below) walk(below);
    }
  };
  walk(node);
  return found;
}

/** The line of an offset, from 1. */
export function lineOf(source: Source, offset: number): number {
  let line = 1;
  for (let at = source.text.indexOf("\n"); at >= 0 && at < offset; at = source.text.indexOf("\n", at + 1))
    line += 1;
  return line;
}

/** `path:line what`, as editors and terminals link it. */
export function at(source: Source, offset: number, what: string): string {
  return `${source.path}:${lineOf(source, offset)} ${what}`;
}

/** `path:line what` of every node that matches. */
export function find(
  source: Source,
  matches: (node: Node) => boolean,
  what: (node: Node) => string,
): string[] {
  return nodesOf(source.program)
    .filter(matches)
    .map((node) => at(source, node.start, what(node)));
}

/** The file an import leads to, from the project's folder; undefined for packages and Node's own modules. */
export function target(source: Source, { specifier }: Import): string | undefined {
  return specifier.startsWith(".") ? normalize(join(dirname(source.path), specifier)) : undefined;
}
