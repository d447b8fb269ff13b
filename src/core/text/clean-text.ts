/** Cleans program output of terminal effects: escape sequences, overwritten text, control codes. Pure. */

/** CSI, then the string sequences (OSC, DCS, SOS, PM, APC) up to their end or the end of the line, then the rest. */
const sequences =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
const needsCleaning = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Returns one line (without its line feed) as a terminal would leave it, in well-formed Unicode. Text overwritten
 * by carriage returns keeps only its last state, with the number of earlier ones.
 */
export function cleanLine(raw: string): string {
  const text = raw.isWellFormed() ? raw : raw.toWellFormed();
  if (!needsCleaning.test(text)) return text;
  const states = text
    .replace(sequences, "")
    .split("\r")
    .map((state) => applyBackspaces(state).replace(controls, ""))
    .filter((state) => state !== "");
  const last = states.at(-1) ?? "";
  const earlier = states.slice(0, -1).filter((state) => state !== last).length;
  return earlier > 0 ? `${last} [${formatInteger(earlier)} earlier states of this line]` : last;
}

/** Cleans many lines. */
export function cleanText(raw: string): string {
  return raw.split("\n").map(cleanLine).join("\n");
}

function applyBackspaces(text: string): string {
  if (!text.includes("\b")) return text;
  const kept: string[] = [];
  for (const character of text) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}

/** Returns true when a line is mostly bytes that are not text. */
export function isBinary(raw: string): boolean {
  const sample = raw.length > 2000 ? raw.slice(0, 2000) : raw;
  let strange = 0;
  for (const character of sample) {
    if (character === "\ufffd" || (character < " " && !"\t\b\r\x1b".includes(character))) strange += 1;
  }
  return strange > 8 && strange > sample.length / 8;
}

/** Returns the length in UTF-8, in bytes. A lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  // Most text is ASCII, which a search passes over faster than a loop that was not compiled yet.
  const first = text.length < 100 ? 0 : text.search(/[^\x00-\x7f]/);
  if (first < 0) return bytes;
  for (let index = first; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

/** Returns the longest beginning of `text` within `maxBytes`; never half a character. */
export function headOf(text: string, maxBytes: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += utf8Length(character);
    if (used > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Returns the longest end of `text` within `maxBytes`; never half a character. */
export function tailOf(text: string, maxBytes: number): string {
  let used = 0;
  let start = text.length;
  while (start > 0) {
    const pair = isLow(text.charCodeAt(start - 1)) && isHigh(text.charCodeAt(start - 2));
    const next = start - (pair ? 2 : 1);
    used += utf8Length(text.slice(next, start));
    if (used > maxBytes) break;
    start = next;
  }
  return text.slice(start);
}

/** Formats a whole number with commas between thousands. */
export function formatInteger(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/**
 * Returns the value with every string valid Unicode: U+FFFD replaces lone surrogates, since one would make the whole
 * session invalid. Key order is kept.
 */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedValue(item)]),
  );
}
