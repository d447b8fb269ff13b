/**
 * Passes only the drawing of a full-screen program: no clipboard, title, file, notification or other string for the
 * terminal, and no query whose answer could carry text that the program chose.
 */

/** Filters output piece by piece; a sequence may be cut anywhere. Returns the text that may be shown. */
export type DrawingFilter = (bytes: Uint8Array) => string;

/** A string up to its end or to the next escape, CSI, an escape with a character, and any other escape. */
const sequence =
  /\x1b(?:[\]PX^_k][^\x07\x1b]*(?:\x07|\x1b\\|(?=\x1b))|\[([<-?]*)([0-;]*)([ -/]*[@-~])|([ -/]*[0-~])|)/g;
/** Matches the beginning of an unfinished sequence. */
const unfinished = /\x1b(?:[\]PX^_k][^\x07\x1b]*\x1b?|\[[0-?]*[ -/]*|[ -/]*)$/;
/** C1 forms of escapes, the answerback query, and characters that end a sequence early. */
const neverDrawn = /[\x05\x18\x1a\x80-\x9f]/g;

/** Longer sequences, in characters, that do not end are dropped. */
const longestSequence = 1 << 20;

/** Private modes of the screen, the cursor, keys, mouse and pastes; not the report of focus. */
const modes = new Set([
  ...[1, 5, 6, 7, 8, 9, 12, 25, 45, 47, 66, 69],
  ...[1000, 1002, 1003, 1005, 1006, 1015, 1016, 1047, 1048, 1049, 2004, 2026, 2027],
]);

/** Creates a filter with nothing begun. */
export function drawingFilter(): DrawingFilter {
  const decoder = new TextDecoder();
  let rest = "";
  return (bytes) => {
    const text = rest + decoder.decode(bytes, { stream: true }).replace(neverDrawn, "");
    const begun = unfinished.exec(text)?.index ?? text.length;
    rest = text.length - begun > longestSequence ? "" : text.slice(begun);
    return text
      .slice(0, begun)
      .replace(sequence, (found, prefix?: string, numbers?: string, final?: string, single?: string) =>
        (final === undefined ? draws(single ?? "") : drawsAsCsi(prefix ?? "", numbers ?? "", final))
          ? found
          : "",
      );
  };
}

/**
 * Accepts saving the cursor, key modes, line feeds, tabs, shifts and character sets; no reset, which leaves the screen.
 */
function draws(single: string): boolean {
  return /^(?:[78=>DEHMNO]|[()*+\-./][0-~]|#[3-68])$/.test(single);
}

/** Accepts moves, erasures, colours and modes, and queries whose answers are numbers of the terminal's own. */
function drawsAsCsi(prefix: string, numbers: string, final: string): boolean {
  switch (prefix) {
    case "":
      return /^(?:[@A-HJKLMPSTXZ`abcdefghlmnrsu]| q|!p)$/.test(final);
    case "?":
      if (final !== "h" && final !== "l") return /^(?:[JKnrsu]|\$p)$/.test(final);
      return numbers.split(";").every((number) => modes.has(Number(number)));
    case ">":
      return /^[cmnu]$/.test(final);
    default:
      return (prefix === "<" || prefix === "=") && final === "u";
  }
}
