/** Tells a person who looks elsewhere that a turn ended or that a question waits. */

import type { LogEvent } from "../../core/events.ts";
import { lastText } from "../../core/questions.ts";
import { questionLine } from "../dialogs/dialog-view.ts";
import type { Confirmation, Question } from "../ports/session.ts";
import type { App } from "./app.ts";
import { rowContextOf } from "./state.ts";

/** Milliseconds without a key after which a person is told where the terminal says nothing of its focus. */
const goneMs = 10_000;

/** Tells that a question waits. Of several at once only the first is told. */
export function tellQuestion(app: App, question: Question | Confirmation): void {
  if (!app.state || app.state.questions.length > 1) return;
  tell(app, `Asks: ${questionLine(question, rowContextOf(app.state))}`);
}

/** Tells that a command of the model waits for input. */
export function tellWaiting(app: App, command: string): void {
  tell(app, `Waits for input: ${command}`);
}

/** Tells how a turn ended, unless the person ended it, or it goes on with what they typed meanwhile. */
export function tellTurnEnd(
  app: App,
  { events, end }: { events: readonly LogEvent[]; end: TurnEnded },
): void {
  if (end.reason === "interrupted" || (app.state?.queue.length ?? 0) > 0) return;
  const said = lastText(events).trim().split("\n")[0] ?? "";
  if (end.reason === "completed") tell(app, said === "" ? "Done" : `Done: ${said}`);
  else tell(app, `Stopped: ${end.reason.replaceAll("_", " ")}`);
}

type TurnEnded = Extract<LogEvent, { type: "turn_ended" }>;

function tell(app: App, body: string): void {
  const { notifier, attention, state } = app;
  const isAway =
    attention.focus === "away" || (attention.focus === "unknown" && Date.now() - attention.keyAt >= goneMs);
  if (!notifier || !isAway || app.closed) return;
  const bytes = notifier.show({ title: `Sawtooth in ${state?.location.shortCwd ?? ""}`, body });
  // Another program may be in the middle of a sequence of its own.
  if (bytes !== "" && !app.display.terminalLent) app.terminal.write(bytes);
}

/** Notes that keys came, as from somebody who is here; or that the terminal was taken again, after the person used it. */
export function noteKeys(app: App): void {
  app.attention.keyAt = Date.now();
  if (app.attention.focus === "away") app.attention.focus = "here";
}
