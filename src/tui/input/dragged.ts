/** Files that are dragged into a terminal, which pastes their paths in one of several spellings. Pure. */

const picture = /\.(?:png|jpe?g|gif|webp)$/i;
/** A path in single or double quotes, or with each blank after a backslash. */
const word = /'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s'"\\])+)/y;

/**
 * Returns the pictures of a paste as mentions, `@path` or `@"a path"`, each with a blank after it; undefined for a paste
 * that is anything but absolute paths of pictures.
 */
export function draggedPictures(text: string): string | undefined {
  const paths = wordsOf(text.trim())?.map(pathOf);
  if (!paths || paths.length === 0) return undefined;
  const isOne = (path: string | undefined): path is string => path !== undefined && picture.test(path);
  return paths.every(isOne) ? paths.map((path) => `${mention(path)} `).join("") : undefined;
}

/** Splits a paste as a shell would; undefined where it would not end. */
function wordsOf(text: string): string[] | undefined {
  const words: string[] = [];
  for (let at = 0; at < text.length && words.length <= 20; ) {
    word.lastIndex = at;
    const found = word.exec(text);
    if (!found) return undefined;
    const [whole, single, double, bare] = found;
    words.push(single ?? double ?? bare?.replace(/\\(.)/g, "$1") ?? "");
    at += whole.length;
    const blanks = /\s*/y;
    blanks.lastIndex = at;
    const between = blanks.exec(text)?.[0].length ?? 0;
    if (between === 0 && at < text.length) return undefined;
    at += between;
  }
  return words.length > 20 ? undefined : words;
}

function pathOf(named: string): string | undefined {
  if (/^(?:\/|~\/)/.test(named)) return named;
  if (!/^file:\/\/\//i.test(named)) return undefined;
  try {
    return decodeURIComponent(new URL(named).pathname);
  } catch {
    return undefined;
  }
}

function mention(path: string): string {
  return /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}
