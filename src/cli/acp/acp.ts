/** `sawtooth acp`: an editor talks to sessions of this program over standard input and output. */

import { type Opening, type Program, serve } from "../../acp/server.ts";
import { type Conversation, converse } from "../../app/conversation.ts";
import { checkModel } from "../../app/open-session.ts";
import { sessionRoot } from "../../app/opening/folders.ts";
import { warnOfOrphans } from "../../app/orphans.ts";
import { packageVersion } from "../../app/prompts.ts";
import { removeStoredSession, storedPage, storedPlace, storedTitle } from "../../app/stored-sessions.ts";
import { type UncaughtWatch, watchUncaught } from "../../app/uncaught.ts";
import { started } from "../../core/questions.ts";
import type { Flags } from "../arguments/options.ts";
import { writeError, writeLine, writeStack } from "../terminal-output.ts";
import { messagesOver } from "./messages.ts";

/** Bytes of a message of the client, as the SDK and the APIs of models limit it. */
const mostBytes = 32 * 1024 * 1024;
/** Sessions on a page of the list. */
const pageSize = 100;
/** Milliseconds before the machine's processes are scanned, so that the first request comes first. */
const orphanCheckMs = 1000;
/** Milliseconds for sessions to close in. Whatever runs then is killed with the process. */
const closingMs = 5000;

/** Serves until standard input ends or a signal comes; returns the exit code. */
export async function runAcp(flags: Flags): Promise<number> {
  const root = sessionRoot({ flags, env: process.env, cwd: process.cwd() });
  const open = new Set<Conversation>();
  const uncaught = watchUncaught((error) => die(open, error));
  const stream = messagesOver(process.stdin, {
    most: mostBytes,
    write: (line) => new Promise((done) => writeLine(line, done)),
  });
  const served = serve(stream, programOf(flags, { root, open, uncaught }));
  let exitCode = 0;
  const end = (code: number) => () => {
    exitCode ||= code;
    served.close();
    setTimeout(() => process.exit(exitCode), closingMs).unref();
  };
  for (const [name, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)
    process.on(name, end(code));
  process.stdin.on("error", end(0)).on("close", end(0));
  process.stdout.on("error", end(0));
  setTimeout(() => warnOfOrphans(root, "sawtooth doctor --clean ends them", warn), orphanCheckMs).unref();
  await served.ended;
  return exitCode;
}

function warn(text: string): void {
  writeError(`sawtooth: ${text}\n`);
}

/** A bug outside of the tools ends the program, with every log intact. */
function die(open: ReadonlySet<Conversation>, error: unknown): void {
  const detail = error instanceof Error ? error.message : String(error);
  for (const { run } of open) run.agent.log.append({ type: "turn_ended", reason: "error", detail });
  writeStack(error);
  process.exit(1);
}

type Parts = { root: string; open: Set<Conversation>; uncaught: UncaughtWatch };

function programOf(flags: Flags, { root, open, uncaught }: Parts): Program {
  const { env } = process;
  const openNew = async ({ cwd, addDirs, servers, resume, ask }: Opening): Promise<Conversation> => {
    const conversation = await converse({
      flags: {
        ...flags,
        addDirs: [...flags.addDirs, ...addDirs],
        sessionDir: root,
        ...(resume ? { resume } : {}),
      },
      ...{ cwd, env, servers, uncaught, ask, warn },
      onBug: writeStack,
      crashed: writeStack,
    });
    open.add(conversation);
    return { ...conversation, close: () => conversation.close().finally(() => open.delete(conversation)) };
  };
  return {
    version: packageVersion(),
    open: openNew,
    switching: ({ run, chosen }) => ({ flags, env, cwd: started(run.agent.log.events()).cwd, chosen }),
    async commands(conversation, changed) {
      const { editorCommands } = await import("./commands.ts");
      return editorCommands(conversation, { flags, root, changed });
    },
    list(cwd, from) {
      const { sessions, ...rest } = storedPage(root, cwd, { from, most: pageSize });
      return {
        sessions: sessions.map(({ id, cwd: folder, name, title, changed }) => ({
          ...{ sessionId: id, cwd: folder, title: name ?? title },
          updatedAt: new Date(changed).toISOString(),
        })),
        ...rest,
      };
    },
    placeOf: (id) => storedPlace(root, id),
    title: (folder) => storedTitle(folder),
    remove: (id) => removeStoredSession(root, id),
    checkModel: () => checkModel({ flags, env, cwd: process.cwd(), warn }),
  };
}
