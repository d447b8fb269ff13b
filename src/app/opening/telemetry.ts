/** Puts OpenTelemetry into a session, where the environment asks for it. Nothing of it is loaded otherwise. */

import type { EventLog } from "../../core/ports.ts";
import { packageVersion } from "../prompts.ts";
import type { OpenOptions, Run } from "../session.ts";

/** Returns how to end the telemetry of a session; undefined where there is none. A sub-agent is told by its parent's log. */
export async function telemetryOf(
  log: EventLog,
  { env, warn, delegate }: OpenOptions,
  redact: Run["agent"]["redact"],
): Promise<{ close(): Promise<void> } | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT || delegate) return undefined;
  const { sessionTelemetry } = await import("../../telemetry/session-telemetry.ts");
  return sessionTelemetry(log, { env, version: packageVersion(), redact, now: Date.now, warn });
}

/** Where telemetry goes, for a person; `off`: why it does not although it is asked for. Undefined where nobody asks. */
export async function telemetryState(
  env: OpenOptions["env"],
): Promise<{ to: string; contents: boolean } | { off: string } | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const { telemetrySettings } = await import("../../telemetry/settings.ts");
  const settings = telemetrySettings(env, packageVersion());
  if (settings === undefined) return { off: "OTEL_SDK_DISABLED is true" };
  if (typeof settings === "string") return { off: settings };
  const hosts = Object.values(settings.targets).map(({ url }) => new URL(url).host);
  return { to: [...new Set(hosts)].join(" and ") || "nowhere", contents: settings.contents };
}
