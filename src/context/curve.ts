/** The context over the steps of a session, as numbers and as a drawing. Pure. */

import type { LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";

/** Input tokens of each answered step, as the API reported them. */
export function contextSizes(events: readonly LogEvent[]): number[] {
  return events.flatMap((event) =>
    event.type === "assistant_message" && inputTotal(event.usage) > 0 ? [inputTotal(event.usage)] : [],
  );
}

const eighths = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** The sizes as a bar chart of `height` rows, at most `width` columns; the axis names the peak in tokens. */
export function drawCurve(sizes: readonly number[], { width = 72, height = 8 } = {}): string[] {
  if (sizes.length === 0) return [];
  const columns = squeeze(sizes, width);
  const peak = Math.max(...columns);
  const label = peak.toLocaleString("en-US");
  const wide = Math.max(1, Math.min(3, Math.floor(width / columns.length)));
  const rows = Array.from({ length: height }, (_, row) => {
    const bars = columns.map((size) => {
      const filled = Math.round((size / peak) * height * 8) - (height - 1 - row) * 8;
      return (eighths[Math.max(0, Math.min(8, filled))] ?? " ").repeat(wide);
    });
    return `${(row === 0 ? label : "").padStart(label.length)} │${bars.join("").trimEnd()}`;
  });
  const axis = `${"0".padStart(label.length)} └${"─".repeat(columns.length * wide)}`;
  return [...rows, axis, `${" ".repeat(label.length)}  tokens per step, ${sizes.length} steps`];
}

/** At most `width` columns: neighbours share one, which shows the larger. */
function squeeze(sizes: readonly number[], width: number): number[] {
  const share = Math.ceil(sizes.length / width);
  return Array.from({ length: Math.ceil(sizes.length / share) }, (_, index) =>
    Math.max(...sizes.slice(index * share, (index + 1) * share)),
  );
}
