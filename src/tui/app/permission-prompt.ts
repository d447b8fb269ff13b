/** Asks the user on the screen, and waits for the answer. */

import type { Answer, Confirmation, Question } from "../ports/session.ts";
import { type App, dispatch } from "./app.ts";

/**
 * Asks a question. It is withdrawn, and answered with no, when the signal fires. `onShown`: called when it is first
 * drawn, as others may stand before it.
 */
export function ask(
  app: App,
  question: Question | Confirmation,
  signal: AbortSignal,
  onShown: () => void = () => {},
): Promise<Answer> {
  const id = ++app.questions.lastId;
  return new Promise<Answer>((resolve) => {
    const settle = (answer: Answer) => {
      signal.removeEventListener("abort", withdraw);
      app.questions.answers.delete(id);
      app.questions.unseen.delete(id);
      resolve(answer);
    };
    const withdraw = () => {
      dispatch(app, { type: "withdrawn", id });
      settle({ decision: "deny", say: "" });
    };
    if (signal.aborted) return withdraw();
    signal.addEventListener("abort", withdraw);
    app.questions.answers.set(id, settle);
    app.questions.unseen.set(id, onShown);
    dispatch(app, { type: "asked", id, question });
  });
}
