/** Unrolls a loop over a list of words into the commands that it runs. Pure. */

import type { ParseShell, ShellNode } from "../../core/shell-tree.ts";

const mostLoops = 4;
const longest = 20_000;
const header =
  /^for[ \t]+([a-z_][a-z0-9_]*)[ \t]+in((?:[ \t]+[\w./:@%+*?,=-]+)+)[ \t]*[;\n][ \t\n]*do(?=[ \t\n])/;
const footer = /^[ \t\n;]*(?:(?<=[ \t\n;])#[^\n]*\n[ \t\n;]*)*done$/;
/** Variables that change how bash itself works. */
const ofBash = /^(?:histchars|auto_resume)$/;

/**
 * Returns the line with each loop of the form `for name in words; do …; done` unrolled; undefined when it has none, or
 * one that is not that simple. The remaining uses of a loop's variable have no known value.
 */
export function withoutLoops(text: string, parse: ParseShell): string | undefined {
  let written = text;
  for (let count = 0; count <= mostLoops; count++) {
    const root = parse(written);
    const loop = root && innermost(root);
    if (!root || (loop && count === mostLoops)) return undefined;
    if (!loop) return count === 0 ? undefined : written;
    const bodies = bodiesOf(written, loop);
    if (bodies === undefined) return undefined;
    written = written.slice(0, loop.start) + bodies + written.slice(loop.end);
    if (written.length > longest) return undefined;
  }
  return undefined;
}

function innermost(node: ShellNode): ShellNode | undefined {
  for (const child of node.children) {
    // Positions in a script with a text of its own are not those of the line.
    if (child.source !== undefined) continue;
    const found = innermost(child);
    if (found) return found;
  }
  return node.type === "for" ? node : undefined;
}

function bodiesOf(text: string, loop: ShellNode): string | undefined {
  const body = loop.children.at(-1);
  const [head = "", name = "", list = ""] = header.exec(text.slice(loop.start, loop.end)) ?? [];
  const from = loop.start + head.length;
  const to = loop.end - "done".length;
  if (body?.type !== "list" || name === "" || ofBash.test(name)) return undefined;
  if (text.slice(from, body.start).trim() !== "" || !footer.test(text.slice(body.end, loop.end)))
    return undefined;
  const uses = usesOf(text, body, name, false);
  // Bash removes an escaped line break first: the name goes on behind it.
  if (uses.some(({ end }) => text.startsWith("\\\n", end))) return undefined;
  const bodies = list
    .trim()
    .split(/[ \t]+/)
    .map((word) => bodyWith(text, { from, to, word, uses }));
  return bodies.some((body) => body === undefined) ? undefined : bodies.join("\n");
}

type Use = { start: number; end: number; quoted: boolean };

/** Finds the uses of the variable; only `$name` and `${name}` are understood. */
function usesOf(text: string, node: ShellNode, name: string, quoted: boolean): Use[] {
  const { type, start, end, source, children } = node;
  if (source !== undefined) return [];
  if (type === "parameter")
    return [`$${name}`, `\${${name}}`].includes(text.slice(start, end)) ? [{ start, end, quoted }] : [];
  return children.flatMap((child) => usesOf(text, child, name, quoted || type === "double-quoted"));
}

/** Returns the body for one word; undefined where the names that a glob stands for would be split at blanks. */
function bodyWith(
  text: string,
  { from, to, word, uses }: { from: number; to: number; word: string; uses: Use[] },
): string | undefined {
  const isGlob = /[*?]/.test(word);
  let body = "";
  let at = from;
  for (const { start, end, quoted } of uses) {
    if (isGlob && !quoted) return undefined;
    body += text.slice(at, start) + (isGlob ? `"${word}"` : word);
    at = end;
  }
  return (body + text.slice(at, to)).trim().replace(/;$/, "");
}
