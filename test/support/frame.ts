/** The live area as lines, by the components that draw it. */

import type { LiveView } from "../../src/tui/app/live.ts";
import { mountLiveArea } from "../../src/tui/screen/frame.ts";
import type { Frame } from "../../src/tui/screen/screen.ts";

const roots = [false, true].map((colour) => mountLiveArea({ colour, onTick: () => {} }));

/** The frame of a view; with its styles unless `bare`. */
export function frameOf(view: LiveView, { colour = false, bare = true } = {}): Frame {
  const root = roots[Number(colour)];
  const { lines, caret } = root?.frame({ ...view, running: false }) ?? { lines: [], caret: view.caret };
  return { lines: bare ? lines.map((line) => line.replaceAll(/\x1b\[[\d;]*m/g, "")) : lines, caret };
}
