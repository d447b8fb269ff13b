/** Checks that a syntax tree covers its text: between the parts of a node stands only what belongs there. Pure. */

import type { ShellNode, ShellNodeType } from "../../core/shell-tree.ts";

/** A text, with the places where its heredocs stand: between the parts of other nodes. */
export type CoveredText = { text: string; bodies: readonly ShellNode[] };

const commandInside = /`|[$<>]\(/;
/** The text allowed before, between and after the parts; elsewhere it is any without the signs of a command inside. */
const between: Partial<Record<ShellNodeType, RegExp>> = {
  list: /^[ \t\n;]*$/,
  command: /^[ \t]*$/,
  compound:
    /^(?:[ \t\n;&|(){}]|\b(?:if|then|elif|else|fi|for|select|in|while|until|do|done|case|esac|function|coproc)\b)*$/,
  for: /^(?:[ \t\n;{}]|\b(?:for|in|do|done)\b)*$/,
  word: /^$/,
};
/** The text that all of it together must be. */
const around: Partial<Record<ShellNodeType, RegExp>> = {
  "double-quoted": /^""$/,
  substitution: /^(?:[$<>]\(\)|``)$/,
};

export function coveredText(text: string, root: ShellNode): CoveredText {
  return { text, bodies: bodiesIn(root) };
}

function bodiesIn({ type, children }: ShellNode): ShellNode[] {
  if (type === "heredoc") return children;
  return children.flatMap((child) => (child.source === undefined ? bodiesIn(child) : []));
}

/** Returns true when the node's own text holds nothing that could be a command and is not in the tree. */
export function isCovered(covered: CoveredText, node: ShellNode): boolean {
  const { type, children } = node;
  switch (type) {
    case "heredoc":
    case "heredoc-text":
    case "ansi-quoted":
      return true;
    case "single-quoted":
      return covered.text.indexOf("'", node.start + 1) === node.end - 1;
    case "literal":
      // In double quotes `<(` is text.
      return children.length === 0 && !/`|\$\(/.test(unescaped(ownText(covered, node)));
    case "word":
      return literalsOf(node).every((part) => holdsNoCommand(ownText(covered, part))) && fits(covered, node);
    case "substitution":
      // The script in escaped backquotes has a text of its own.
      return children.some(({ source }) => source !== undefined) || fits(covered, node);
    default:
      return fits(covered, node);
  }
}

/** Returns true when the text between the parts is what the type allows. */
function fits(covered: CoveredText, node: ShellNode): boolean {
  const { type, operators, children } = node;
  const gaps = gapsOf(covered, node);
  const whole = around[type];
  const each = between[type];
  if (gaps === undefined) return false;
  if (whole) return whole.test(gaps.join(""));
  // A word without parts is one literal.
  if (each) return (type === "word" && children.length === 0) || gaps.every((gap) => each.test(gap));
  switch (type) {
    case "statement":
    case "chain":
    case "redirect":
    case "here-string": {
      const signs = gaps.map((gap) => gap.replace(/[ \t\n]/g, "")).filter(Boolean);
      return signs.length === operators.length && signs.every((sign, at) => sign === operators[at]);
    }
    case "heredoc-body":
      // Behind the last part stands the delimiter.
      return gaps.every((gap, at) => (at < gaps.length - 1 ? gap === "" : holdsNoCommand(gap)));
    default:
      // `$((` opens an arithmetic expansion.
      return gaps.every((gap, at) => holdsNoCommand(at === 0 ? gap.replace(/^\$\(\(/, "") : gap));
  }
}

/** Returns the unquoted literals of a word: all of it, or those among its parts. */
function literalsOf(word: ShellNode): ShellNode[] {
  return word.children.length === 0 ? [word] : word.children.filter(({ type }) => type === "literal");
}

function ownText({ text }: CoveredText, { start, end }: ShellNode): string {
  return text.slice(start, end);
}

function holdsNoCommand(text: string): boolean {
  return !commandInside.test(unescaped(text));
}

function unescaped(text: string): string {
  return text.replace(/\\[\s\S]/g, "");
}

/** Returns the text before, between and after the parts, without comments; undefined when parts overlap. */
function gapsOf(covered: CoveredText, { type, start, end, children }: ShellNode): string[] | undefined {
  const edges = [start, ...children.flatMap((child) => [child.start, child.end]), end];
  const gaps: string[] = [];
  for (let at = 0; at < edges.length; at += 2) {
    const [from = 0, to = 0] = [edges[at], edges[at + 1]];
    if (from > to) return undefined;
    gaps.push(mayHoldComments.has(type) ? gapWithout(covered, from, to) : covered.text.slice(from, to));
  }
  // Escaped characters are no signs; an escaped line break is nothing.
  return gaps.map((gap) => gap.replaceAll("\\\n", ""));
}

const mayHoldComments: ReadonlySet<ShellNodeType> = new Set<ShellNodeType>([
  ...(["list", "statement", "chain", "compound", "for"] as const),
]);

/** Leaves out comments and the bodies of heredocs. */
function gapWithout({ text, bodies }: CoveredText, from: number, to: number): string {
  let gap = "";
  let at = from;
  for (const { start, end } of bodies) {
    if (start < at || end > to) continue;
    gap += text.slice(at, start);
    at = end;
  }
  const before = from > 0 ? text.charAt(from - 1) : "\n";
  return (before + gap + text.slice(at, to)).replace(/([ \t\n;&|()])#[^\n]*/g, "$1").slice(1);
}
