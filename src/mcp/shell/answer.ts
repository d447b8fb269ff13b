/** Does what a command `mcp` of the shell asks for: lists servers and tools, shows a schema, or calls a tool. */

import type { ServerCalled } from "../../core/events.ts";
import type { Artifacts } from "../../core/ports.ts";
import { callServer, isFailed, schemaText } from "../call.ts";
import { fileText, type RemoteTool } from "../catalogue.ts";
import type { SessionServers } from "../servers.ts";
import { shownLine } from "../shown.ts";
import type { AnswerCommand, Printed, Started } from "./listener.ts";
import { printedResult } from "./output.ts";
import { readArguments, readWords, usage, type Words } from "./words.ts";

export type AnswerParts = {
  servers: SessionServers;
  artifacts: Artifacts;
  /** Returns true while a command runs that may call the tool, because it names it. */
  isNamed(server: string, tool: string): boolean;
  onCall(ended: ServerCalled): void;
};

/** Returns the answer to commands of a session. */
export function answerCommands(parts: AnswerParts): AnswerCommand {
  return async (started, signal) => {
    const words = readWords(started.words);
    try {
      if (words.kind !== "servers" && !parts.servers.configuration(words.server))
        return unknownServer(words.server, parts);
      if (words.kind === "call") return await called(words, started, signal, parts);
      return { out: await listed(words, parts), errors: "", code: 0 };
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  };
}

function failed(text: string): Printed {
  return { out: "", errors: `mcp: ${text}\n`, code: 1 };
}

/** Another program of this name may know the word. */
function unknownServer(name: string, { servers }: AnswerParts): Printed {
  const names = servers.names.join(", ");
  return { ...failed(`there is no MCP server ${shownLine(name, 100)}. Servers: ${names}`), pass: true };
}

type CallWords = Extract<Words, { kind: "call" }>;

async function called(
  words: CallWords,
  { input }: Started,
  signal: AbortSignal,
  parts: AnswerParts,
): Promise<Printed> {
  const { server, tool } = words;
  const began = Date.now();
  const [outcome, printed] = await outcomeOf(words, input, signal, parts);
  const bytes = Buffer.byteLength(printed.out) + Buffer.byteLength(printed.errors);
  parts.onCall({ server, tool, outcome, durationMs: Date.now() - began, bytes });
  return printed;
}

async function outcomeOf(
  { server, tool: name, words }: CallWords,
  input: string,
  signal: AbortSignal,
  { servers, artifacts, isNamed }: AnswerParts,
): Promise<[ServerCalled["outcome"], Printed]> {
  if (!isNamed(server, name)) return ["refused", failed(notNamed(server, name))];
  const tool = await knownTool(servers, server, name);
  const read = readArguments(words, input, tool?.inputSchema);
  if ("wrong" in read) {
    const schema = tool ? `\n${schemaText(tool)}` : "";
    return ["error", failed(`${read.wrong}. Usage: ${usage}${schema}`)];
  }
  const call = { server, tool: name, arguments: read.values };
  const answer = await callServer(call, servers, { signal, onProgress() {} });
  if (signal.aborted) return ["cancelled", failed("cancelled")];
  if (isFailed(answer)) return ["error", failed(answer.failure)];
  return [answer.isError ? "error" : "ok", printedResult(answer, artifacts)];
}

function notNamed(server: string, tool: string): string {
  const call = `mcp ${shownLine(server, 100)} ${shownLine(tool, 100)}`;
  return `refused: the command that runs does not name this call. Write \`${call} …\` in the command itself; in a script, a variable, or a function of an earlier command it is not seen, and nobody has allowed it`;
}

/** Returns a tool, of whose server nothing may be known before it is connected to. */
async function knownTool(
  servers: SessionServers,
  server: string,
  name: string,
): Promise<RemoteTool | undefined> {
  if (!servers.toolOf(server, name)) await servers.connection(server).catch(() => {});
  return servers.toolOf(server, name);
}

async function listed(words: Exclude<Words, CallWords>, { servers }: AnswerParts): Promise<string> {
  if (words.kind === "servers") {
    const lines = servers.names.map((name) => `${name}: schemas in ${servers.folderOf(name)}/`);
    return [
      ...lines,
      `Usage: ${usage}`,
      "mcp SERVER lists its tools; --help after a tool shows its schema",
      "",
    ].join("\n");
  }
  const { server } = words;
  // An offer that a person has yet to see is not shown.
  if (!servers.toolsOf(server)) await servers.connection(server);
  const tools = servers.toolsOf(server) ?? [];
  if (words.kind === "tools")
    return tools
      .map((tool) => `${shownLine(tool.name, 100)}  ${shownLine(tool.description, 200)}\n`)
      .join("");
  const tool = tools.find(({ name }) => name === words.tool);
  if (!tool) throw new Error(`MCP server ${server} has no tool ${shownLine(words.tool, 100)}`);
  return `Usage: ${usage}\n${fileText(tool)}`;
}
