/** A question to the user, with the possible answers. */

import { createElement as h, type ReactNode } from "react";
import type { DialogView, ListedChoice } from "../dialogs/dialog-view.ts";
import { Line, Lines, RowLine, Span } from "./text.ts";

export function PermissionDialog({ title, subject, links, why, choices, typed }: DialogView): ReactNode {
  return [
    h(Lines, { key: "title", rows: title }),
    h(Lines, { key: "subject", rows: subject }),
    h(Lines, { key: "links", rows: links }),
    h(Lines, { key: "why", rows: why }),
    choices.type === "row"
      ? h(RowLine, { key: "choices", row: choices.row })
      : choices.choices.map((choice, index) =>
          h(ChoiceRow, { key: `way ${index}`, number: index + 1, ...choice }),
        ),
    h(Lines, { key: "typed", rows: typed }),
  ];
}

function ChoiceRow({ number, label, where, marked }: ListedChoice & { number: number }): ReactNode {
  return h(
    Line,
    null,
    h(Span, { tone: "accent" }, marked ? "  ❯ " : "    "),
    h(Span, marked ? { tone: "strong" } : {}, `${number} ${label}`),
    where !== undefined && h(Span, { tone: "dim" }, `  ${where}`),
  );
}
