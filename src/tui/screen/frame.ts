/**
 * Ink, mounted once on a stream of ours: its frames go to the screen writer, which shares the window with the
 * scrollback.
 */

import { Writable } from "node:stream";
import { render } from "ink";
import { createElement as h } from "react";
import type { LiveView } from "../app/live.ts";
import { LiveArea } from "../components/live-area.ts";
import { Colour } from "../components/text.ts";
import type { Frame } from "./screen.ts";

export type LiveRoot = {
  /** Renders a view at once and returns its frame. */
  frame(view: LiveView): Frame;
  unmount(): void;
};

/**
 * Mounts the live area. Ink does components, layout and reconciling; it writes to no terminal. Its own writer erases
 * and redraws the lines below the cursor, which loses its place when the window is wrapped anew, and reads keys itself:
 * `screen.ts` and `input/keys.ts` do both. In `debug` mode Ink hands over each frame whole and unthrottled.
 */
export function mountLiveArea({ colour, onTick }: { colour: boolean; onTick: () => void }): LiveRoot {
  let written = "";
  const window = { columns: 80, rows: 24 };
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write(frame: string, _encoding, done) {
        written = frame;
        done();
      },
    }),
    window,
  );
  const treeOf = (view: LiveView) => h(Colour, { value: colour }, h(LiveArea, { view, onTick }));
  let ink: ReturnType<typeof render> | undefined;
  return {
    frame(view) {
      stdout.columns = view.columns;
      if (ink) ink.rerender(treeOf(view));
      else {
        const quiet = { exitOnCtrlC: false, patchConsole: false, isScreenReaderEnabled: false };
        ink = render(treeOf(view), { stdout, debug: true, interactive: false, ...quiet });
        // A component that throws is a bug, and ends the program; Ink would only stop drawing.
        ink.waitUntilExit().catch((error: Error) =>
          setImmediate(() => {
            throw error;
          }),
        );
      }
      return { lines: written.split("\n").map((line) => line.trimEnd()), caret: view.caret };
    },
    unmount: () => ink?.unmount(),
  };
}
