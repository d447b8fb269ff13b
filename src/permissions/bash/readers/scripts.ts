/**
 * Checks that a program text for awk, sed or jq only reads what it is given. Anything not understood, or that two
 * versions of the program would read differently, counts as doing more. Pure.
 */

/** Names by which an awk program runs something, reads other files or reveals the environment. */
const awkReaches = /\b(?:system|getline|ENVIRON|ARGV|ARGC|SYMTAB|FUNCTAB|PROCINFO)\b|[@\ue000-\uf8ff]|\\\r/;
const operandBefore = /[(,{};!~&|=\n]$/;

/** Returns true for a program with no output to files or commands, no input from them, and nothing run. */
export function awkOnlyReads(program: string): boolean {
  if (awkReaches.test(program)) return false;
  const code = withoutAwkTexts(program.replace(/\\\n/g, " "));
  if (code === undefined || code.replace(/\|\|/g, "").includes("|") || code.includes(">>")) return false;
  // A `>` behind `print` writes a file; elsewhere it compares. A line break may stand inside a statement.
  return !code.split(/[{};]/).some((part) => /\bprintf?\b[\s\S]*>/.test(part));
}

/** Returns the program without strings, expressions and comments; undefined where a `/` is ambiguous. */
function withoutAwkTexts(program: string): string | undefined {
  let code = "";
  for (let at = 0; at < program.length; ) {
    const char = program.charAt(at);
    const end =
      char === '"'
        ? stringEnd(program, at)
        : char === "#"
          ? lineEnd(program, at)
          : slashEnd(program, at, code);
    if (end === undefined) return undefined;
    if (char === '"' || end > at + 1) code += " 0 ";
    else if (char !== "#") code += char;
    at = Math.max(end, at + 1);
  }
  return code;
}

function stringEnd(program: string, from: number): number | undefined {
  const text = /^"(?:[^"\\\n]|\\[^\n])*"/.exec(program.slice(from))?.[0];
  return text === undefined ? undefined : from + text.length;
}

function lineEnd(program: string, from: number): number {
  const end = program.indexOf("\n", from);
  return end < 0 ? program.length : end;
}

/** Returns the offset after an expression between slashes; `from + 1` for any other character and for a division. */
function slashEnd(program: string, from: number, code: string): number | undefined {
  if (program.charAt(from) !== "/") return from + 1;
  const before = code.replace(/[ \t]+$/, "");
  const isOperand = before === "" || operandBefore.test(before);
  if (isOperand) return delimitedEnd(program, from + 1, "/");
  const word = /[\w$\]]+$/.exec(before)?.[0];
  const isDivision = word !== undefined && !/^(?:printf?|return|else|do|case|in|delete|exit)$/.test(word);
  // As an expression it would never end, so no program reads it that way.
  return isDivision && !program.includes("/", from + 1) ? from + 1 : undefined;
}

/**
 * Returns the offset after the delimiter that ends an expression, if it is the same whether or not brackets hide it.
 */
function delimitedEnd(text: string, from: number, delimiter: string): number | undefined {
  let bracket = false;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\n") return undefined;
    if (char === "\\") at += 1;
    else if (char === delimiter) return bracket ? undefined : at + 1;
    else if (char === "[") {
      bracket = true;
      // A bracket directly after the opening one stands for itself.
      const own = /^\^?\]/.exec(text.slice(at + 1))?.[0];
      if (own) at += own.length;
    } else if (char === "]") bracket = false;
  }
  return undefined;
}

const sedAddress = /^(?:\d+(?:~\d+)?|\$)/;
const sedSimple = /^(?:[pPdD=nNhHgGxzF]|l\s*\d*|[qQ]\s*\d*)(?=\s*(?:[;}\n]|$))/;

/** Returns true for a script that only prints, selects and replaces: it reads and writes no file and runs nothing. */
export function sedOnlyReads(script: string): boolean {
  if (/[\ue000-\uf8ff\r]/.test(script)) return false;
  for (let at = 0; ; ) {
    at += /^[\s;]*/.exec(script.slice(at))?.[0].length ?? 0;
    if (at >= script.length) return true;
    const next = sedCommandEnd(script, at);
    if (next === undefined) return false;
    at = next;
  }
}

function sedCommandEnd(script: string, from: number): number | undefined {
  let at = sedAddressEnd(script, from);
  if (at !== undefined && script.charAt(at) === ",")
    at = sedAddressEnd(script, at + 1 + (/^[ ]*[+~]?/.exec(script.slice(at + 1))?.[0].length ?? 0));
  if (at === undefined) return undefined;
  at += /^[ !]*/.exec(script.slice(at))?.[0].length ?? 0;
  const letter = script.charAt(at);
  if (letter === "{" || letter === "}") return at + 1;
  if (letter === "s" || letter === "y") return replacementEnd(script, at, letter);
  const simple = sedSimple.exec(script.slice(at))?.[0];
  return simple === undefined ? undefined : at + simple.length;
}

/** Returns the offset after an address, or its start when there is none. */
function sedAddressEnd(script: string, from: number): number | undefined {
  const plain = sedAddress.exec(script.slice(from))?.[0];
  if (plain !== undefined) return from + plain.length;
  if (script.charAt(from) !== "/") return from;
  const end = delimitedEnd(script, from + 1, "/");
  return end === undefined ? undefined : end + (/^[IM]*/.exec(script.slice(end))?.[0].length ?? 0);
}

function replacementEnd(script: string, from: number, letter: string): number | undefined {
  const delimiter = script.charAt(from + 1);
  if (!/[/|,:#@!%_+=~^"-]/.test(delimiter)) return undefined;
  const middle = delimitedEnd(script, from + 2, delimiter);
  const end = middle === undefined ? undefined : delimitedEnd(script, middle, delimiter);
  if (end === undefined) return undefined;
  const flags = letter === "s" ? /^[gpiIm\d]*(?=\s*(?:[;}\n]|$))/ : /^(?=\s*(?:[;}\n]|$))/;
  const found = flags.exec(script.slice(end))?.[0];
  return found === undefined ? undefined : end + found.length;
}

/** Returns true for a filter that uses no other file, no modules, and no environment variable. */
export function jqOnlyReads(filter: string): boolean {
  return !/\b(?:import|include|env|modulemeta|get_search_list|input_filename|halt_error|debug|stderr)\b|\$ENV|\$__|[\ue000-\uf8ff]/.test(
    filter,
  );
}
