/**
 * The live area below the transcript, from top to bottom. Its state is the reducer's (`state.ts`); these are its views.
 */

import { Box } from "ink";
import { createElement as h, type ReactNode } from "react";
import type { LiveView, Open } from "../app/live.ts";
import { CallDetails } from "./call-details.ts";
import { TakenTerminal, TerminalOffer } from "./command-terminal.ts";
import { CompletionMenu } from "./completion-menu.ts";
import { HistorySearch, InputBox } from "./input-box.ts";
import { PaintedRows } from "./painted-rows.ts";
import { PermissionDialog } from "./permission-dialog.ts";
import { PickerList } from "./picker-list.ts";
import { QueuedMessages } from "./queued-messages.ts";
import { RunningCalls } from "./running-calls.ts";
import { Spinner, useTicker } from "./spinner.ts";
import { StatusLine } from "./status-line.ts";
import { TaskList } from "./task-list.ts";
import { Line, Section } from "./text.ts";

/** Props. `onTick`: called while a turn runs, for the next frame of the spinner. */
export type LiveAreaProps = { view: LiveView; onTick: () => void };

export function LiveArea({ view, onTick }: LiveAreaProps): ReactNode {
  const { columns, gap, tail, calls, offer, tasks, queue, spinner, open, rest } = view;
  const { input, search, completion, status } = view;
  useTicker(view.running, onTick);
  return h(
    Box,
    { flexDirection: "column", width: columns },
    h(Section, null, tail.above && h(Line), h(PaintedRows, { rows: tail.rows })),
    calls && h(Section, { gap }, h(RunningCalls, calls)),
    offer && h(Section, { gap }, h(TerminalOffer, offer)),
    tasks && h(Section, { gap }, h(TaskList, tasks)),
    queue.length > 0 && h(Section, null, h(QueuedMessages, { messages: queue })),
    spinner && h(Section, { gap }, h(Spinner, spinner)),
    open && h(Section, { gap: Number(rest) }, h(OpenPart, open)),
    search && h(Section, null, h(HistorySearch, search)),
    input && h(Section, null, h(InputBox, input)),
    completion && h(Section, null, h(CompletionMenu, completion)),
    status && h(Section, null, h(StatusLine, status)),
  );
}

function OpenPart(open: Open): ReactNode {
  switch (open.type) {
    case "dialog":
      return h(PermissionDialog, open.props);
    case "picker":
      return h(PickerList, open.props);
    case "terminal":
      return h(TakenTerminal, open.props);
    case "details":
      return h(CallDetails, open.props);
  }
}
