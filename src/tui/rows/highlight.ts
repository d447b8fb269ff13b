/**
 * Colours for code: comments, strings, numbers and words, by family of language. Line by line, so approximate. Pure.
 */

import type { Row, Tone } from "./rows.ts";

const words =
  "abstract as async await break case catch class const continue def default defer del delete do elif else end enum " +
  "except export extends false final finally fn for foreach from func function global go goto if impl implements import in " +
  "instanceof interface is let loop match mod module mut namespace new nil none not null of or and package pass private " +
  "protected pub public raise range readonly record ref return self select static struct super switch then this throw " +
  "trait true try type typeof undefined union unless until use using val var void when where while with yield " +
  "fi done esac local create table insert update set values join on group by order limit into";
const keywords = new Set(words.split(" "));
const hashComments =
  /^(?:sh|bash|zsh|shell|console|py|python|rb|ruby|yaml|yml|toml|perl|r|make|makefile|dockerfile|ini|conf)$/;
const dashComments = /^(?:sql|lua|haskell|hs|ada)$/;
/** Languages where words are prose or names: only strings, numbers and comments are coloured. */
const wordless = /^(?:json|yaml|yml|toml|ini|conf|html|xml|css|text|txt|console|)$/;

const strings = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`?/;
const numbers = /\b(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b/;

/** Colours one line of code in the language that the fence named. */
export function highlight(line: string, language: string): Row {
  const name = language.toLowerCase();
  if (name === "diff") return [{ text: line, tone: diffTone(line) }];
  const comment = hashComments.test(name)
    ? "#.*"
    : dashComments.test(name)
      ? "--.*"
      : "//.*|/\\*.*?(?:\\*/|$)";
  const token = new RegExp(`(${comment})|(${strings.source})|(${numbers.source})|([A-Za-z_$][\\w$]*)`, "g");
  const row: Row = [];
  let end = 0;
  for (const found of line.matchAll(token)) {
    const tone = toneOf(found, name);
    if (!tone) continue;
    if (found.index > end) row.push({ text: line.slice(end, found.index) });
    row.push({ text: found[0], tone });
    end = found.index + found[0].length;
  }
  if (end < line.length) row.push({ text: line.slice(end) });
  return row;
}

function toneOf([, comment, text, number, word]: RegExpExecArray, language: string): Tone | undefined {
  if (comment !== undefined) return "dim";
  if (text !== undefined) return "string";
  if (number !== undefined) return "number";
  const known = keywords.has(language === "sql" ? (word ?? "").toLowerCase() : (word ?? ""));
  return known && !wordless.test(language) ? "keyword" : undefined;
}

function diffTone(line: string): Tone | undefined {
  if (line.startsWith("+")) return "good";
  if (line.startsWith("-")) return "bad";
  return line.startsWith("@@") ? "accent" : undefined;
}
