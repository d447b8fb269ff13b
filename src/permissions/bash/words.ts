/** Expands a word of a shell command as bash does before the program sees it: braces, tilde, variables. Pure. */

import { masked, parentOf } from "../paths.ts";

/** Stands for a value that is unknown and may be empty. */
export const unknownValue = "\ue0ff";
/** Stands for a value that is unknown but not empty. */
export const someValue = "\ue0fe";

/** Returns the word with every unknown value taken as empty: the worst case of `rm -rf "$X"/*`. */
export function withoutUnknown(word: string): string {
  return word.replaceAll(unknownValue, "");
}

export function isUnknown(word: string): boolean {
  return word.includes(unknownValue) || word.includes(someValue);
}

const mostWords = 256;

/** Expands `a{b,c}` to `ab` and `ac`; a range becomes a `*`. Inner braces first; quoted braces are masked already. */
export function expandBraces(word: string): string[] {
  const words = [word];
  for (let at = 0; at < words.length && words.length < mostWords; ) {
    const group = /^([\s\S]*?)\{([^{}]*(?:,|\.\.)[^{}]*)\}([\s\S]*)$/.exec(words[at] ?? "");
    if (!group) {
      at += 1;
      continue;
    }
    const [, before = "", inside = "", behind = ""] = group;
    const choices = inside.includes(",") ? inside.split(",") : ["*"];
    words.splice(at, 1, ...choices.map((choice) => before + choice + behind));
  }
  return words;
}

/** Expands `~` and `~/x` to the home, also after `name=`; `~name` to a folder beside the home. */
export function expandTilde(word: string, home: string): string {
  const [whole, before = "", name] = /^([A-Za-z_]\w*=)?~([\w.-]*)(?=\/|$)/.exec(word) ?? [];
  if (whole === undefined) return word;
  const folder = name ? `${parentOf(home)}/${name}`.replace("//", "/") : home;
  return before + masked(folder) + word.slice(whole.length);
}

export type Parameter = {
  value: string;
  /** The reason why the value may be another. */
  problem?: string;
  /** Text of the expansion that may contain nested commands. */
  nested?: string;
};

/** Returns the value of `${body}`, as far as the line itself shows. */
export function parameterValue(body: string, variables: ReadonlyMap<string, string>): Parameter {
  const [, sign = "", name = "", operation = ""] =
    /^([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])([\s\S]*)$/.exec(body) ?? [];
  // Not `$!` and `$-`: they may be empty, and then the next word is the command.
  if (/^[?#$]$/.test(name) && !sign && !operation) return { value: someValue };
  const known = variables.get(name);
  const value = known ?? unknownValue;
  if (!sign && !operation && known !== undefined) return { value };
  const problem = `the value of \${${body}}, which is not known`;
  if (sign || !name) return { value: sign === "#" ? someValue : unknownValue, problem, nested: operation };
  if (/^:?\?/.test(operation)) return { value: known || someValue, problem, nested: operation };
  const [, otherwise] = /^:?[-=]([\s\S]*)$/.exec(operation) ?? [];
  if (otherwise !== undefined) {
    const home = variables.get("HOME") ?? "";
    return { value: known || otherwise.replace(/^~(?=\/|$)/, home), problem, nested: otherwise };
  }
  return { value: operation ? unknownValue : value, problem, nested: operation };
}

const controls: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
};

/** Returns the text of `$'…'`. */
export function ansiText(body: string): string {
  return body.replace(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|([\s\S]))/g,
    (_, x, u, wide, octal, char) => {
      const hex = x ?? u ?? wide;
      if (hex) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
      return octal ? String.fromCharCode(Number.parseInt(octal, 8) & 255) : (controls[char] ?? char);
    },
  );
}

/** Quotes and brackets in one another; a deeper text counts as never ended. */
const mostOpen = 100;

/**
 * Returns the end of the quote or bracket that was opened before `from`: the index of `close`, or the length of the
 * text when it never ends. Inside double quotes single ones do not quote.
 */
export function quoteEnd(
  text: string,
  from: number,
  close: string,
  singleQuotes: boolean,
  left = mostOpen,
): number {
  return left === 0 ? text.length : endWithin(text, from, close, singleQuotes, left - 1);
}

function endWithin(text: string, from: number, close: string, singleQuotes: boolean, left: number): number {
  const open = { ")": "(", "}": "{" }[close];
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\\") at += 1;
    else if (char === close) {
      depth -= 1;
      if (depth === 0) return at;
    } else if (char === open) depth += 1;
    else if (close === "'" || close === "`") continue;
    else if (text.startsWith("$(", at)) at = quoteEnd(text, at + 2, ")", true, left);
    else if (char === '"') at = quoteEnd(text, at + 1, '"', false, left);
    else if (char === "'" && singleQuotes) at = quoteEnd(text, at + 1, "'", false, left);
  }
  return text.length;
}
