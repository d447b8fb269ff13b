/** Notices for a person whose eyes are elsewhere: the bytes that make a terminal show one. Pure. */

import { cleanLine } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";

export type Notice = { title: string; body: string };

/** `unknown`: the terminal may not report it. */
export type Focus = "here" | "away" | "unknown";

export type Notifier = {
  /** The focus while the terminal has not reported any. */
  atFirst: Focus;
  /** Shows a notice. Returns bytes for the terminal; none where a program shows it. */
  show(notice: Notice): string;
};

/** Ways to show one: the bell, and the sequences of iTerm2 (9), of urxvt and VTE (777), and of kitty (99). */
export const noticeWays = ["bell", "osc9", "osc777", "osc99"] as const;
export type NoticeWay = (typeof noticeWays)[number];

/** Facts about a terminal. `reportsFocus`: it says when it loses the focus, so that silence means it has it. */
export type NoticeTerminal = { way: NoticeWay; reportsFocus: boolean; inTmux: boolean };

type Environment = Readonly<Record<string, string | undefined>>;

/** Terminals by a variable that each sets for its programs. The first that fits counts. */
const terminals: readonly { variable: string; value: RegExp; way: NoticeWay }[] = [
  { variable: "KITTY_WINDOW_ID", value: /./, way: "osc99" },
  { variable: "TERM_PROGRAM", value: /^(ghostty|WezTerm|rio)$/, way: "osc777" },
  { variable: "TERM_PROGRAM", value: /^iTerm\.app$/, way: "osc9" },
  { variable: "LC_TERMINAL", value: /^iTerm2$/, way: "osc9" },
  { variable: "TERM", value: /^foot/, way: "osc777" },
  { variable: "TERM", value: /^xterm-(kitty|ghostty)$/, way: "osc99" },
  { variable: "VTE_VERSION", value: /./, way: "bell" },
  { variable: "ALACRITTY_WINDOW_ID", value: /./, way: "bell" },
  { variable: "WT_SESSION", value: /./, way: "bell" },
  { variable: "XTERM_VERSION", value: /./, way: "bell" },
  { variable: "TERM_PROGRAM", value: /^vscode$/, way: "bell" },
];

/** Returns what the variables say about the terminal. An unknown one gets the bell. */
export function noticeTerminal(env: Environment): NoticeTerminal {
  const found = terminals.find(({ variable, value }) => value.test(env[variable] ?? ""));
  const inTmux = Boolean(env.TMUX);
  // tmux says nothing of the focus unless it is told to, and has no sequence of its own.
  return { way: found?.way ?? "bell", reportsFocus: found !== undefined && !inTmux, inTmux };
}

/** Most characters of a title and of a body. */
const [mostTitle, mostBody] = [60, 200];

/** Returns the notice without what could control a terminal or hide in it, on one line each. */
export function plainNotice({ title, body }: Notice): Notice {
  return { title: plain(title, mostTitle), body: plain(body, mostBody) };
}

function plain(text: string, most: number): string {
  const line = showHidden(cleanLine(text.replaceAll(/\s+/g, " "))).trim();
  return line.length <= most
    ? line
    : `${Array.from(line)
        .slice(0, most - 1)
        .join("")}…`;
}

/**
 * Returns the bytes that show a notice, without what the text could do to the terminal. In tmux a sequence is passed on
 * to the terminal outside, which tmux does where `allow-passthrough` is on, and the bell, which it knows, comes first.
 */
export function noticeBytes(notice: Notice, { way, inTmux }: Pick<NoticeTerminal, "way" | "inTmux">): string {
  const sequence = sequenceOf(plainNotice(notice), way);
  if (!inTmux || way === "bell") return sequence;
  return `\x07\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\`;
}

function sequenceOf({ title, body }: Notice, way: NoticeWay): string {
  switch (way) {
    case "bell":
      return "\x07";
    case "osc9":
      return `\x1b]9;${title}: ${body}\x1b\\`;
    case "osc777":
      // A semicolon ends the title.
      return `\x1b]777;notify;${title.replaceAll(";", ",")};${body}\x1b\\`;
    case "osc99": {
      // The terminal, which knows best, shows it only without the focus; a new one replaces the last.
      const part = (words: string, text: string) =>
        `\x1b]99;i=sawtooth:o=unfocused:e=1:${words};${Buffer.from(text).toString("base64")}\x1b\\`;
      return part("d=0:p=title", title) + part("d=1:p=body", body);
    }
  }
}
