/** The current activity: a turning mark, a description, and the time. */

import { createElement as h, type ReactNode, useEffect } from "react";
import { Line, Span } from "./text.ts";

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** Milliseconds per frame. */
const frameMs = 400;

export type SpinnerProps = { text: string; now: number };

export function Spinner({ text, now }: SpinnerProps): ReactNode {
  const glyph = frames[Math.floor(now / frameMs) % frames.length];
  return h(Line, null, h(Span, { tone: "accent" }, `  ${glyph}`), h(Span, { tone: "dim" }, ` ${text}`));
}

/** Calls `onTick` for each frame while something runs; without a turn there is no timer. */
export function useTicker(running: boolean, onTick: () => void): void {
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(onTick, frameMs);
    return () => clearInterval(timer);
  }, [running, onTick]);
}
