/**
 * Spells out, as `\u{202e}`, characters that are invisible on a screen or reverse text and still reach a model,
 * except where a script or an emoji needs them. Pure.
 */

/** One code unit of every character that may be hidden: most texts have none and need no closer look. */
const suspect =
  /\u034f|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud82f\ud834\udb40-\udb43]/;

const hidden =
  /\u034f|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** The flags of England, Scotland and Wales: the only sequences of tags that fonts have. */
const flags =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

/** Spells out every hidden character; letters, marks and emoji that need one keep it. */
export function showHidden(text: string): string {
  if (!suspect.test(text)) return text;
  const kept = new Set<number>();
  for (const { index, 0: flag } of text.matchAll(flags))
    for (let at = index + 2; at < index + flag.length; at++) kept.add(at);
  return text.replace(hidden, (character, at: number) =>
    kept.has(at) || isNeeded(character, text, at) ? character : spelled(character),
  );
}

/** Returns true when `showHidden` would spell out something in the text. */
export function hasHidden(text: string): boolean {
  return suspect.test(text) && showHidden(text) !== text;
}

/** Undoes `showHidden`; other escapes stay as they are. */
export function readHidden(text: string): string {
  return text.replace(/\\u\{([0-9a-f]{2,5})\}/gi, (written, digits: string) => {
    const character = String.fromCodePoint(Number.parseInt(digits, 16));
    return character.replace(hidden, "") === "" ? character : written;
  });
}

function spelled(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

// These are made where they are used: to read the names of scripts takes a millisecond, and few texts need one.
const isEmoji = (text: string): boolean =>
  /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u.test(text);
const isPresented = (text: string): boolean => /[\p{Emoji}\p{S}\p{P}]$/u.test(text);
const isVaried = (text: string): boolean =>
  /[\p{Ideographic}\p{Sm}\p{Script=Mongolian}\p{Script=Myanmar}]$/u.test(text);
/** Scripts whose letters change beside a joiner, or whose words have no space between them. */
const isJoined = (text: string): boolean =>
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Thai}\p{Script=Lao}\p{Script=Tibetan}]$/u.test(
    text,
  );
const isRightToLeft = (text: string): boolean =>
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(text);

function isNeeded(character: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + character.length, at + character.length + 2);
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x200d)
    return (isEmoji(before) && /^\p{Extended_Pictographic}/u.test(after)) || isJoined(before);
  if (code === 0x200c || code === 0x200b) return isJoined(before);
  // Direction marks have no effect on other text: allow them only beside right-to-left letters.
  if (code === 0x200e || code === 0x200f || code === 0x61c) return isRightToLeft(before + after);
  if (code === 0xfe0e || code === 0xfe0f) return isPresented(before);
  if ((code >= 0xfe00 && code < 0xfe0e) || code >= 0xe0100 || (code >= 0x180b && code <= 0x180f))
    return code <= 0xe01ef && isVaried(before);
  return code === 0x34f && /\p{M}$/u.test(before);
}
