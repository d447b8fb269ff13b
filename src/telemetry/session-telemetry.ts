/** Telemetry of one session: its log, observed and exported. */

import { createHash } from "node:crypto";
import type { LogEvent } from "../core/events.ts";
import type { EventLog } from "../core/ports.ts";
import { createExporter } from "./exporter.ts";
import { telemetrySettings } from "./settings.ts";
import { observer } from "./spans.ts";

type Context = {
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  /** Takes secrets out of contents. */
  redact(text: string): string;
  now(): number;
  warn(text: string): void;
};

/**
 * Follows the log from here on: what was stored before was told by an earlier run. Returns how to end it; undefined where
 * the environment switches it off, or asks for what is not spoken, which `warn` says.
 */
export function sessionTelemetry(
  log: EventLog,
  { env, version, redact, now, warn }: Context,
): { close(): Promise<void> } | undefined {
  const settings = telemetrySettings(env, version);
  if (typeof settings === "string") warn(`telemetry is off: ${settings}`);
  if (typeof settings !== "object") return undefined;
  const exporter = createExporter({
    settings,
    resource: { attributes: settings.resource, version },
    now,
    warn,
  });
  const { next } = observer({
    id: (key, digits) => createHash("sha256").update(key).digest("hex").slice(0, digits),
    ...{ parent: settings.parent, contents: settings.contents ? redact : undefined },
  });
  // Of a stored session only what stands counts: who it is and with which model.
  for (const event of log.events()) if (stands.includes(event.type)) next(event);
  const stop = log.subscribe((event) => exporter.add(next(event)));
  return {
    close(): Promise<void> {
      stop();
      return exporter.close();
    },
  };
}

/** Events that say what holds for all that follows. */
const stands: readonly LogEvent["type"][] = ["session_started", "model_changed", "context_edited"];
