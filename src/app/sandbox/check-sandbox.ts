/**
 * The walls around the checks of `fix`: code of the repository, which the agent may have changed. Each run has a sandbox
 * of its own, by the same rules as the commands of the agent.
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { folders } from "../../config/folders.ts";
import { workspaceRoot } from "../../config/instructions.ts";
import { readSettings } from "../../config/settings.ts";
import type { LogEvent } from "../../core/events.ts";
import { egressNote } from "../../core/network/egress.ts";
import type { EventLog } from "../../core/ports.ts";
import type { Box, Sandbox } from "../../core/sandbox.ts";
import { shellPlaces } from "../../tools/bash/shell/shell.ts";
import { realHome, sessionRoot, workspaceOf } from "../opening/folders.ts";
import { standingRules } from "../rules.ts";
import type { OpenOptions } from "../session.ts";
import { sandboxWithNetwork } from "./sandbox-with-network.ts";

/** A sandbox for one run. Commands read in `inFolder`, and write in `outFolder`. */
export type CheckBox = { box: Box; inFolder: string; outFolder: string };

export type CheckSandbox = {
  /** Opens a sandbox; undefined where the person wants none, or none works. Throws when one has to and cannot. */
  open(env: Readonly<Record<string, string>>): Promise<CheckBox | undefined>;
  /** Returns the folder of its files, which `close` removes. */
  folder(): string;
  /** Returns the way into a sandbox for a server of tools; undefined as for `open`. */
  forServer(): Promise<Sandbox | undefined>;
  /** Returns a line for each host that was refused since the last call. */
  takeNotes(): string[];
  close(): void;
};

/** Creates the sandbox of checks in `options.cwd`. Nothing is started before a check runs. */
export function checkSandbox(options: Pick<OpenOptions, "flags" | "env" | "cwd" | "warn">): CheckSandbox {
  const { flags, env, warn } = options;
  const paths = folders(env);
  const settings = flags.bare ? {} : readSettings(join(paths.config, "settings.json"));
  const cwd = realpathSync(options.cwd);
  const log = memoryLog();
  let folder: string | undefined;
  const standing = standingRules({
    ...{ flags, settings, env, config: paths.config, root: workspaceRoot(cwd), session: [], warn },
  });
  const { sandbox, network } = sandboxWithNetwork({
    ...{
      log,
      options: { ...options, crashed() {} },
      settings,
      standing,
      workspace: workspaceOf(cwd, options),
    },
    ...{ home: realHome(env), own: { ...paths, sessions: sessionRoot(options) } },
    ...{ folders: () => [folder ?? ""], mode: () => "accept-edits", jobs: () => [], onFound() {} },
  });
  const made = (): string => {
    mkdirSync(paths.state, { recursive: true, mode: 0o700 });
    folder ??= mkdtempSync(join(paths.state, "check-"));
    return folder;
  };
  const withPlaces = () => {
    const places = shellPlaces(made());
    for (const one of [places.in, places.state, places.outFolder, join(made(), "artifacts")])
      mkdirSync(one, { recursive: true, mode: 0o700 });
    return places;
  };
  return {
    folder: made,
    async forServer() {
      if (sandbox.choice === "off") return undefined;
      withPlaces();
      return sandbox.forServer();
    },
    async open(environment) {
      if (sandbox.choice === "off") return undefined;
      const places = shellPlaces(made());
      const walls = await sandbox.forShell();
      if (!walls) return undefined;
      withPlaces();
      const box = await walls.open({ terminal: undefined, env: environment });
      return { box, inFolder: places.in, outFolder: places.outFolder };
    },
    takeNotes() {
      network.flush();
      return log.take().flatMap((event) => (event.type === "egress" ? (egressNote(event, false) ?? []) : []));
    },
    close() {
      network.close();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A log that nobody reads later: what happened is told with the check. */
function memoryLog(): EventLog & { take(): LogEvent[] } {
  let events: LogEvent[] = [];
  return {
    append(body) {
      const event: LogEvent = { seq: events.length, at: Date.now(), ...body };
      events.push(event);
      return event;
    },
    events: () => events,
    subscribe: () => () => {},
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}
