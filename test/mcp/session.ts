/** Runs of the real program with servers, for tests. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LogEvent } from "../../src/core/events.ts";
import type { Turns } from "../../src/models/playback/script.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { testProgram } from "../support/programs.ts";
import { type Ended, jsonLines, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { type Served, serve } from "../support/served.ts";

/** An entry that starts the server of the tests. */
export function testServer(kind = "usual", ...words: string[]) {
  return { command: process.execPath, args: [testProgram("mcp-server"), kind, ...words] };
}

/** An entry that starts a published server. */
export function published(name: "everything" | "filesystem" | "memory", ...words: string[]) {
  return { command: process.execPath, args: [testProgram(name), ...words] };
}

/** A call for scripts. */
export const mcp = (server: string, tool: string, more: object = {}) => ({ mcp: { server, tool, ...more } });

export type Seen = Served & {
  /** Runs once more in the same workspace. */
  run(...words: string[]): Promise<Ended>;
  events(): LogEvent[];
  /** The texts of the results so far, in order. */
  results(): string[];
  /** Absolute folder of the only session. */
  folder(): string;
};

/** A workspace with these servers in its settings. */
export async function withServers(
  turns: Turns<WireBody>,
  mcpServers: object,
  settings: object = {},
): Promise<Seen> {
  const served = await serve(turns);
  const { workspace } = served;
  writeSettings(workspace, { mcpServers, ...settings });
  const folder = () => sessionFolder(workspace);
  const events = () => jsonLines(readFileSync(join(folder(), "events.jsonl"), "utf8")) as LogEvent[];
  return {
    ...served,
    run: (...words) => sawtooth(workspace, ["-p", "go", ...words]),
    ...{ events, folder },
    results: () =>
      events().flatMap((event) =>
        event.type === "tool_result"
          ? [typeof event.content === "string" ? event.content : JSON.stringify(event.content)]
          : [],
      ),
  };
}

function sessionFolder({ home }: Workspace): string {
  const [found = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: home });
  return join(home, found, "..");
}
