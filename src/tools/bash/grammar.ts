/** The grammar of bash: the one file that knows the library `unbash`, and turns its tree into ours. */

import { forEachChild, parse, type SyntaxNode } from "unbash";
import type { ShellNode, ShellNodeType } from "../../core/shell-tree.ts";

/** Longer texts, and those of more nodes, are not parsed: nobody reads them before saying yes either. */
const mostChars = 256 * 1024;
const mostNodes = 100_000;
const deepest = 200;
/** The library reads what follows an opening sign once more for each of as many signs as it nests. */
const nestedByLibrary = 256;
/** Opening signs times characters. At this limit the slowest texts found take about two seconds. */
const mostWork = 10_000_000;

const types: Record<SyntaxNode["type"], ShellNodeType> = {
  ...{ Script: "list", CompoundList: "list", Statement: "statement", AndOr: "chain", Pipeline: "chain" },
  ...{ Time: "prefix", Negation: "prefix", Command: "command", For: "for" },
  ...{ Redirected: "compound", If: "compound", Elif: "compound", While: "compound", Select: "compound" },
  ...{ ArithmeticFor: "compound", Subshell: "compound", BraceGroup: "compound", Case: "compound" },
  ...{ CaseItem: "compound", Function: "compound", Coproc: "compound" },
  ...{ Assignment: "assignment", ArrayValue: "assignment", Redirect: "redirect", FileDescriptor: "stream" },
  ...{ FileDescriptorVariable: "stream-variable", HereString: "here-string", HereDoc: "heredoc" },
  ...{ HereDocBody: "heredoc-body", HereDocDelimiter: "literal" },
  ...{ Word: "word", Literal: "literal", Glob: "literal", SingleQuoted: "single-quoted" },
  ...{ DoubleQuoted: "double-quoted", AnsiCQuoted: "ansi-quoted", LocaleString: "unknown" },
  ...{ SimpleExpansion: "parameter", ParameterExpansion: "parameter", BraceExpansion: "pattern" },
  ...{ Default: "expression", Remove: "expression", Replace: "expression", Slice: "expression" },
  ...{ CaseModification: "expression", Transform: "expression", Names: "expression", Unknown: "unknown" },
  ...{ CommandExpansion: "substitution", ArithmeticCommandExpansion: "substitution" },
  ...{ ProcessSubstitution: "substitution", ExtendedGlob: "unknown" },
  ...{ ArithmeticExpansion: "expression", ArithmeticCommand: "expression", ArithmeticBinary: "expression" },
  ...{ ArithmeticUnary: "expression", ArithmeticTernary: "expression", ArithmeticGroup: "expression" },
  ...{ ArithmeticWord: "expression", TestCommand: "expression", TestUnary: "expression" },
  ...{ TestBinary: "expression", TestLogical: "expression", TestNot: "expression", TestGroup: "expression" },
};

/** Parses a text; undefined when it is too large, nested too deeply, or more than the library can take. */
export function parseShell(text: string): ShellNode | undefined {
  if (text.length > mostChars || workFor(text) > mostWork) return undefined;
  try {
    return nodeOf(parse(text), 0, { nodes: mostNodes });
  } catch {
    // Some of its functions call themselves without a limit, until the stack is full. Nothing is left behind.
    return undefined;
  }
}

function workFor(text: string): number {
  const signs = text.match(/[$<>(]\(|\$[{[]|`|<</g)?.length ?? 0;
  return Math.min(signs, nestedByLibrary) * text.length;
}

/** Parts of the library's tree are parsed only when they are looked at: all of them are, so that no error stays hidden. */
function nodeOf(node: SyntaxNode, depth: number, left: { nodes: number }): ShellNode | undefined {
  left.nodes -= 1;
  if (depth > deepest || left.nodes < 0) return undefined;
  const parts = partsOf(node);
  const children: ShellNode[] = [];
  for (const part of parts) {
    const child = nodeOf(part, depth + 1, left);
    if (!child) return undefined;
    children.push(child);
  }
  const made = { type: typeOf(node), start: node.pos, end: node.end, operators: operatorsOf(node), children };
  if (node.type === "HereDoc") return { ...made, children: children.slice(-1).map(bodyOf(node)) };
  return node.type === "Script" && node.source !== undefined ? { ...made, source: node.source } : made;
}

function partsOf(node: SyntaxNode): SyntaxNode[] {
  const parts: SyntaxNode[] = [];
  forEachChild(node, (part) => parts.push(part));
  return isPlainGlob(node, parts) ? [] : parts;
}

/** Returns true for a glob that is its own text, such as `[a-z]`. */
function isPlainGlob(node: SyntaxNode, parts: SyntaxNode[]): boolean {
  return node.type === "Glob" && parts.every((part) => part.type === "Literal");
}

function typeOf(node: SyntaxNode): ShellNodeType {
  if (node.type === "Glob" && partsOf(node).length > 0) return "pattern";
  return isBroken(node) ? "error" : types[node.type];
}

function isBroken(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Script":
      return node.errors !== undefined && node.errors.length > 0;
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      return node.script === undefined;
    case "HereString":
      return node.target === undefined;
    case "Redirect":
      // Of `>&-a` bash makes `>&-` and the word `a`, and the library a target `-a`.
      return node.target === undefined || (/&$/.test(node.operator) && /^-./s.test(node.target.text));
    case "HereDoc":
      return node.delimiter === undefined || node.closing === undefined;
    default:
      return false;
  }
}

function operatorsOf(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case "AndOr":
    case "Pipeline":
      return node.operators;
    case "Redirect":
    case "HereString":
    case "HereDoc":
      return [node.operator];
    case "Statement":
      return node.background ? ["&"] : [];
    default:
      return [];
  }
}

function bodyOf({ delimiter, closing }: Extract<SyntaxNode, { type: "HereDoc" }>) {
  return (body: ShellNode): ShellNode => ({
    ...body,
    type: delimiter?.quoted ? "heredoc-text" : "heredoc-body",
    end: closing?.end ?? body.end,
  });
}
