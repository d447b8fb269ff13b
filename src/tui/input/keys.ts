/** Parses the bytes of a terminal into keys, text and pastes. Pure but for its own memory of incomplete input. */

/** `key`: `enter`, `ctrl-c`, `alt-left`, `shift-tab` … */
export type Key =
  | { type: "key"; key: string }
  | { type: "text"; text: string }
  | { type: "paste"; text: string };

export type KeyReader = {
  push(chunk: string): Key[];
  /** Returns the pending input when nothing more came for a moment: a lone Escape, the end of a paste. */
  flush(): Key[];
  /** Returns true when `flush` must be called if nothing comes within a moment. */
  isWaiting(): boolean;
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";
/** Matches a line feed followed by text in one read: pasted into a terminal without bracketed paste. */
const burst = /[\r\n][^\x00-\x1f\x7f]/;
/** Matches text and Enter in one read: the beginning of a burst, if more follows at once. */
const perhapsBurst = /^[^\x00-\x1f\x7f]+[\r\n]$/;

const finals: Record<string, string> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "shift-tab",
};
const numbered: Record<string, string> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};
const codes: Record<number, string> = { 9: "tab", 13: "enter", 27: "escape", 32: "space", 127: "backspace" };
const controls: Record<string, string> = {
  "\r": "enter",
  "\n": "ctrl-j",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b": "escape",
  "\0": "ctrl-space",
  "\x1f": "ctrl-_",
  "\x1c": "ctrl-\\",
  "\x1d": "ctrl-]",
  "\x1e": "ctrl-^",
};

/** Reports of a terminal. `located`: the row of the cursor, from 0. `focused`: false when it lost the focus. */
export type Reports = { located(row: number): void; focused(isHere: boolean): void };

/** Creates a reader for one terminal. */
export function createKeyReader({ located, focused }: Partial<Reports> = {}): KeyReader {
  let pending = "";
  /** The open paste; kept for a moment after its end mark, which may have been part of it. */
  let paste: { chunks: string[]; tail: string; ended: boolean } | undefined;
  let inBurst = false;
  const closePaste = (): Key[] => {
    const whole = paste?.chunks.join("") ?? "";
    paste = undefined;
    const end = whole.lastIndexOf(pasteEnd);
    const next = whole.indexOf(pasteStart);
    // A second paste may have followed at once; everything before it is complete.
    const stop = next >= 0 && next < end ? whole.lastIndexOf(pasteEnd, next) : end;
    const body = whole.slice(0, stop).replaceAll(pasteEnd, "");
    return [{ type: "paste", text: lineFeeds(body) }, ...push(whole.slice(stop + pasteEnd.length))];
  };
  const push = (chunk: string): Key[] => {
    if (paste) {
      paste.chunks.push(chunk);
      paste.ended ||= (paste.tail + chunk).includes(pasteEnd);
      paste.tail = (paste.tail + chunk).slice(-pasteEnd.length);
      return [];
    }
    const text = pending + chunk;
    pending = "";
    const start = text.indexOf(pasteStart);
    if (start < 0) return keysIn(text);
    const before = keysIn(text.slice(0, start));
    paste = { chunks: [], tail: "", ended: false };
    return [...before, ...push(text.slice(start + pasteStart.length))];
  };
  const keysIn = (given: string): Key[] => {
    const text = given.replaceAll(/\x1b\[(?:(\d+);\d+R|([IO]))/g, (_, row?: string, focus?: string) => {
      if (row === undefined) focused?.(focus === "I");
      else located?.(Number(row) - 1);
      return "";
    });
    const isBurst = !text.includes("\x1b") && (inBurst || burst.test(text));
    inBurst = isBurst && text !== "";
    if (isBurst) return text === "" ? [] : [{ type: "paste", text: lineFeeds(text) }];
    const { keys, rest } = split(perhapsBurst.test(text) ? text.slice(0, -1) : text);
    pending = perhapsBurst.test(text) ? text.slice(-1) : rest;
    return keys;
  };
  return {
    push,
    flush() {
      inBurst = false;
      if (paste) return paste.ended ? closePaste() : [];
      const { keys } = split(pending, true);
      pending = "";
      return keys;
    },
    isWaiting: () => inBurst || pending !== "" || paste?.ended === true,
  };
}

function lineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n");
}

/** Splits text into keys. `final`: nothing more comes, so an Escape is the key. */
function split(text: string, final = false): { keys: Key[]; rest: string } {
  const keys: Key[] = [];
  let at = 0;
  while (at < text.length) {
    const run = /^[^\x00-\x1f\x7f]+/.exec(text.slice(at))?.[0];
    if (run !== undefined) {
      keys.push({ type: "text", text: run });
      at += run.length;
      continue;
    }
    const char = text[at] ?? "";
    if (char !== "\x1b") {
      keys.push({
        type: "key",
        key: controls[char] ?? `ctrl-${String.fromCharCode(char.charCodeAt(0) + 96)}`,
      });
      at += 1;
      continue;
    }
    const sequence = sequenceAt(text.slice(at));
    if (sequence === undefined && !final) return { keys, rest: text.slice(at) };
    const key = sequence && keyOf(sequence);
    if (key) keys.push({ type: "key", key });
    at += sequence?.length ?? 1;
    if (sequence === undefined) keys.push({ type: "key", key: "escape" });
  }
  return { keys, rest: "" };
}

/** Returns the escape sequence that a text begins with; undefined while it is incomplete. */
function sequenceAt(text: string): string | undefined {
  if (text[1] === "\x1b") return "\x1b";
  if (text[1] === "[") return /^\x1b\[\[?[0-?]*[ -/]*[@-~]/.exec(text)?.[0];
  if (text[1] === "O") return /^\x1bO[0-9;]*[@-~]/.exec(text)?.[0];
  if (text.length < 2) return undefined;
  return String.fromCodePoint(27, text.codePointAt(1) ?? 0);
}

/** Returns the key's name; undefined for other input: a terminal's report, the mouse. */
function keyOf(sequence: string): string | undefined {
  if (sequence === "\x1b") return "escape";
  const csi = /^\x1b(?:\[|O)([\d;:]*)([A-Za-z~])$/.exec(sequence);
  if (csi) return controlKey(csi[1] ?? "", csi[2] ?? "");
  const name = sequence.slice(1);
  return [...name].length === 1 && name !== "[" && name !== "O" ? `alt-${controls[name] ?? name}` : undefined;
}

/** Names keys as terminals have sent them since the VT100, and as kitty (`u`) and xterm (`27;…~`) send the others. */
function controlKey(parameters: string, final: string): string | undefined {
  const [number = "", modifier = "1", third = ""] = parameters.split(";");
  const coded = (code: string) => {
    const point = Number.parseInt(code, 10);
    return withModifiers(codes[point] ?? letter(point), modifier);
  };
  if (final === "u") return coded(number);
  if (number === "27" && final === "~") return coded(third);
  return withModifiers(final === "~" ? numbered[number] : finals[final], modifier);
}

function letter(code: number): string | undefined {
  return code > 32 && code < 0x110000 ? String.fromCodePoint(code) : undefined;
}

/** Adds modifiers: their number is one more than the sum of shift 1, alt 2, control 4. */
function withModifiers(name: string | undefined, modifier: string): string | undefined {
  const bits = Math.max(0, Number.parseInt(modifier, 10) - 1);
  if (name === undefined) return undefined;
  const words = [bits & 4 ? "ctrl" : "", bits & 2 ? "alt" : "", bits & 1 ? "shift" : ""].filter(Boolean);
  return [...words, name].join("-");
}
