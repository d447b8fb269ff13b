/** Fills in the prompts of servers, which a person starts as `/server:prompt`. */

import type { GetPromptResult } from "@modelcontextprotocol/client";
import type { UserBlock } from "../core/blocks.ts";
import type { Artifacts } from "../core/ports.ts";
import { enclosed } from "../core/text/tags.ts";
import { type CallIo, type Failed, getPrompt, reachServer } from "./call.ts";
import { argumentHint, commandWord, readPromptArguments, type TypedPrompt } from "./prompt-words.ts";
import { resultOf } from "./results.ts";
import type { SessionServers } from "./servers.ts";
import { shownLine } from "./shown.ts";

/** Signals, and where data and long texts are kept. */
export type PromptIo = CallIo & { artifacts: Artifacts };

/** Returns the message that a prompt makes, and starts its server if need be; or why there is none. */
export async function fillPrompt(
  { server, name, argument }: TypedPrompt,
  servers: SessionServers,
  io: PromptIo,
): Promise<{ content: UserBlock[] } | Failed> {
  const find = () =>
    servers.promptsOf(server)?.find((one) => commandWord(server, one) === `${server}:${name}`);
  if (!find()) {
    const reached = await reachServer(server, servers, io.signal);
    if ("failure" in reached) return reached;
  }
  const prompt = find();
  if (!prompt) return { failure: noSuchPrompt(server, name, servers) };
  const given = readPromptArguments(argument, prompt);
  const usage = `/${server}:${name} ${argumentHint(prompt)}`.trim();
  if ("wrong" in given) return { failure: `/${server}:${name} ${given.wrong}. Usage: ${usage}` };
  const { values } = given;
  const answer = await getPrompt({ server, prompt: prompt.name, values }, servers, io);
  if (!("messages" in answer)) return answer;
  const content = await contentOf(answer, `${server}/${prompt.name}`, io);
  return { content: framed(content, { server, name: prompt.name, values }) };
}

function noSuchPrompt(server: string, name: string, servers: SessionServers): string {
  const names = servers.promptsOf(server)?.map((one) => `/${commandWord(server, one)}`) ?? [];
  return `MCP server ${server} has no prompt ${name}. Its prompts: ${names.slice(0, 40).join(", ") || "none"}`;
}

/** Tokens of a prompt's text in the message; the whole is in an artifact. */
const budgetTokens = 7500;

/** Returns what the messages say. Where the server gives the model words too, each part says whose it is. */
async function contentOf({ messages }: GetPromptResult, name: string, io: PromptIo): Promise<UserBlock[]> {
  const isDialogue = messages.some(({ role }) => role !== "user");
  const parts = messages.flatMap(({ role, content }) => [
    ...(isDialogue ? [{ type: "text" as const, text: `[${role}]` }] : []),
    content,
  ]);
  const context = { artifacts: io.artifacts, signal: io.signal, budgetTokens };
  const { content } = await resultOf({ content: parts }, { context, want: undefined, name });
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Says before the text whose it is, and who started it. */
function framed(
  content: readonly UserBlock[],
  { server, name, values }: { server: string; name: string; values: Record<string, string> },
): UserBlock[] {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const given = Object.keys(values).length > 0 ? ` arguments=${JSON.stringify(values)}` : "";
  const who = ` server=${JSON.stringify(server)} name=${JSON.stringify(shownLine(name, 200))}${given}`;
  const head = `I start this prompt of the MCP server ${server}, which wrote the text in the tag.`;
  return [
    { type: "text", text: `${head}\n\n${enclosed("mcp_prompt", text.trim(), who)}` },
    ...content.filter(({ type }) => type === "image"),
  ];
}
