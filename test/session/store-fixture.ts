/** The fixture for tests of the session store: a temporary folder; its sessions and processes end with the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventBody } from "../../src/core/events.ts";
import type { ModelCard } from "../../src/core/model-card.ts";
import type { SessionChoice } from "../../src/session/listing.ts";
import { createSession, forkSession, type OpenSession, openSession } from "../../src/session/store.ts";

export const hello: EventBody = {
  type: "user_message",
  content: [{ type: "text", text: "Fix the tests, please" }],
};

export const fileOf = (session: OpenSession): string => join(session.folder, "events.jsonl");
export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
/** Warnings by their text, other events by their type. */
export const texts = (session: OpenSession): string[] =>
  session.log.events().map((event) => (event.type === "warning" ? event.text : event.type));

function startedIn(cwd: string, { id, folder }: OpenSession): EventBody {
  const fixed = { model: { id: "scripted/x" } as ModelCard, system: "s", tools: [], context: "raw" };
  return { type: "session_started", sessionId: id, cwd, folder, ...fixed };
}

export type StoreFixture = ReturnType<typeof makeStoreFixture>;

export function makeStoreFixture() {
  const base = mkdtempSync(join(tmpdir(), "store-test-"));
  const root = join(base, "sessions");
  const cwd = join(base, "project");
  mkdirSync(cwd);
  const warnings: string[] = [];
  const sessions: OpenSession[] = [];
  const children: ChildProcess[] = [];
  let now = Date.UTC(2026, 10, 20, 11, 15, 30);
  const outside = { clock: () => now++, warn: (text: string) => warnings.push(text) };
  const kept = (session: OpenSession): OpenSession => {
    sessions.push(session);
    return session;
  };
  return {
    ...{ base, root, cwd, warnings, outside },
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
    async create(folder = cwd): Promise<OpenSession> {
      const session = kept(await createSession({ root, cwd: folder, ...outside }));
      session.log.append(startedIn(folder, session));
      return session;
    },
    open: async (choice: Partial<SessionChoice> = { newest: true }) =>
      kept(await openSession({ root, ...choice, ...outside })),
    fork: async (id: string, events?: number) =>
      kept(
        await forkSession({
          root,
          id,
          ...(events === undefined ? {} : { events }),
          ...outside,
          copyState() {},
        }),
      ),
    /** Another process that runs `code` with the store at hand, after its first line of output. */
    async process(code: string, command: string[] = []): Promise<{ child: ChildProcess; line: string }> {
      const child = spawnStore({ code, command, root, cwd });
      children.push(child);
      let line = "";
      for await (const chunk of child.stdout ?? []) {
        line += chunk;
        if (line.includes("\n")) break;
      }
      return { child, line: line.trim() };
    },
    async clean(): Promise<void> {
      for (const session of sessions) {
        session.close();
        if (!session.folder.startsWith(base)) rmSync(join(session.folder, "../.."), { recursive: true });
      }
      for (const child of children) await killed(child);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

type Script = { code: string; command: string[]; root: string; cwd: string };

function spawnStore({ code, command, root, cwd }: Script): ChildProcess {
  const store = new URL("../../src/session/store.ts", import.meta.url).href;
  const script = `import * as store from ${JSON.stringify(store)};
    const root = ${JSON.stringify(root)}, cwd = ${JSON.stringify(cwd)};
    const outside = { clock: Date.now, warn: (text) => console.log("warned: " + text) };
    ${code}`;
  const [program = "", ...rest] = [
    ...command,
    process.execPath,
    "--input-type=module",
    "--no-warnings",
    "-e",
    script,
  ];
  return spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
