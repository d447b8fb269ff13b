/** Paths and globs as text; the disk is never read. Pure. */

/** Resolves `path` against `base`; removes `.`, `..` and doubled slashes. */
export function resolvePath(base: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** Returns true when `path` is `root` or lies below it. `/w/app-evil` is not inside `/w/app`. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root === "/" ? "/" : `${root}/`);
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns `path` and every folder above it, up to the root. */
export function withAncestors(path: string): string[] {
  return path === "/" ? ["/"] : [path, ...withAncestors(parentOf(path))];
}

const special = "*?[]{},~";

/**
 * Masks the special characters of a quoted text: they move to private code points, so that unmasked ones are unquoted.
 */
export function masked(text: string): string {
  return text.replace(/[*?[\]{},~]/g, (char) => String.fromCharCode(0xe000 + char.charCodeAt(0)));
}

/** Returns the text of a word as the program gets it. */
export function plain(word: string): string {
  return word.replace(/[\ue000-\ue07f]/g, (char) => {
    const original = String.fromCharCode(char.charCodeAt(0) - 0xe000);
    return special.includes(original) ? original : char;
  });
}

export function hasGlob(word: string): boolean {
  return /[*?[]/.test(word);
}

/** The system takes no longer path; expressions of 100,000 characters and more throw. */
const longestGlob = 4096;

/**
 * Converts a shell glob (`*`, `?`, `[a-z]`, and `**` across folders) to an expression for a whole path. One that is too
 * long to be a path may match any.
 */
export function globExpression(glob: string): RegExp {
  if (glob.length > longestGlob) return /[\s\S]*/;
  const pieces = glob.match(/\*\*\/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|[\s\S]/g) ?? [];
  return new RegExp(`^${pieces.map(expressionOf).join("")}$`);
}

function expressionOf(piece: string): string {
  if (piece === "**/") return "(?:.*/)?";
  if (piece === "**") return ".*";
  if (piece === "*") return "[^/]*";
  if (piece === "?") return "[^/]";
  if (piece.length > 1) return classOf(piece);
  return plain(piece).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function classOf(piece: string): string {
  const [, not, members = ""] = /^\[([!^]?)([\s\S]*)\]$/.exec(piece) ?? [];
  // Named classes and odd ranges are not read exactly: they may match any character.
  if (members.includes("[") || /[^\w]-|-[^\w]|[b-zB-Z1-9]-[aA0]/.test(members)) return "[^/]";
  return `[${not ? "^/" : ""}${members.replace(/[\\\]^]/g, "\\$&")}]`;
}

/** Returns true when one path component, perhaps a glob, can stand for `name`. A `*` does not match a leading dot. */
export function canBe(component: string, name: string): boolean {
  if (name.startsWith(".") && !/^[.[]/.test(plain(component))) return false;
  return globExpression(component).test(name);
}
