/** A session that may fetch pages: real HTTP servers, and a resolver of our own that names them. */

import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { runTurn } from "../../../src/agent/loop.ts";
import { fetchParts } from "../../../src/app/network/fetch-parts.ts";
import { createSessionNetwork } from "../../../src/app/network/session-network.ts";
import { permitAsking, permitHeadless } from "../../../src/app/permissions.ts";
import type { EgressSettings } from "../../../src/config/settings.ts";
import type { PermissionMode } from "../../../src/core/decision.ts";
import { allOf } from "../../../src/core/questions.ts";
import type { Outside } from "../../../src/network/dial.ts";
import type { FetchLimits } from "../../../src/tools/fetch/parts.ts";
import { fetchTool } from "../../../src/tools/fetch/tool.ts";
import type { Answer, Question } from "../../../src/tui/ports/session.ts";
import { fakeTool, testAgent } from "../../support/agents.ts";

/** Listens on a free port of this machine until the test ends. */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const http = (listener: RequestListener): Promise<number> => listen(createServer(listener));
export const tcp = (listener: (socket: Socket) => void): Promise<number> => listen(createTcp(listener));

export type Fetch = { url: string; want?: string };
export type WorldOptions = {
  allow?: string[];
  deny?: string[];
  mode?: PermissionMode;
  prompt?: string;
  /** The answers of the resolver for a name, one for each look-up; the last one stays. */
  names?: Record<string, string[][]>;
  /** The port of this machine behind an `address:port`. */
  places?: Record<string, number>;
  answer?: (question: Question) => Answer;
  limits?: Partial<FetchLimits>;
  egress?: EgressSettings;
  /** Output of the tool `bash`. */
  bash?: (command: string) => string;
  secret?: string;
  engine?: Record<string, number>;
  context?: string;
};
export type Step = Fetch | { bash: string };

type Seen = { dialled: string[]; looked: string[]; sockets: Socket[] };

function outside({ names = {}, places = {} }: WorldOptions, { dialled, looked, sockets }: Seen): Outside {
  return {
    async resolve(name) {
      looked.push(name);
      const answers = names[name] ?? [];
      const found = answers.length > 1 ? answers.shift() : answers[0];
      if (!found) throw new Error("ENOTFOUND");
      return found;
    },
    connect(address, port) {
      dialled.push(`${address}:${port}`);
      const at = places[`${address}:${port}`] ?? 1;
      const socket = connect({ host: "127.0.0.1", port: at, allowHalfOpen: true });
      sockets.push(socket);
      return socket;
    },
    ownAddresses: () => [],
    proxyFor: () => undefined,
  };
}

/** Runs the calls one after the other, each in a step of its own. */
export async function world(
  options: WorldOptions,
  steps: readonly Step[],
  signal = new AbortController().signal,
) {
  const { answer, mode = "ask", allow = [], deny = [] } = options;
  const questions: Question[] = [];
  const seen: Seen = { dialled: [], looked: [], sockets: [] };
  const calls = steps.map((step) => ("bash" in step ? { bash: { command: step.bash } } : { fetch: step }));
  const { agent, log } = testAgent({
    turns: [...calls.map((call) => ({ calls: [call] })), { text: "done" }],
    tools: [fakeTool("bash", ({ command }) => ({ content: options.bash?.(String(command)) ?? "" }))],
    context: options.context ?? "raw",
    prompt: options.prompt ?? `read ${steps.flatMap((step) => ("url" in step ? [step.url] : [])).join(" ")}`,
    ...(options.engine ? { engine: options.engine } : {}),
  });
  const standing = {
    add: (rule: string) => void allow.push(rule),
    locations: { session: "", project: "", user: "" },
    list: () => [],
    subscribe: () => () => {},
  };
  const ask = async (question: Question, _signal: AbortSignal, onShown?: () => void): Promise<Answer> => {
    questions.push(question);
    onShown?.();
    return answer?.(question) ?? { decision: "deny", say: "" };
  };
  const network = createSessionNetwork({
    log,
    settings: { egress: options.egress ?? {} },
    ...{ env: {}, workspace: ["/w"], jobs: () => [], warn: () => {} },
    ...{ rules: () => ({ allow, deny }), mode: () => mode, standing },
    ...(answer ? { person: { ask } } : {}),
    outside: outside(options, seen),
  });
  const rules = () => ({
    ...{ mode, allow, deny, workspace: ["/w"], home: "/h", protectedPaths: [], standing },
  });
  agent.permit = answer ? permitAsking(rules, ask, standing) : permitHeadless(rules);
  const parts = fetchParts({
    log,
    network: { load: async () => network, flush: network.flush },
    redact: (text) => (options.secret ? text.replaceAll(options.secret, "[redacted]") : text),
  });
  agent.tools.push(
    fetchTool({ ...parts, description: "", ...(options.limits ? { limits: options.limits } : {}) }),
  );
  const ended = await runTurn(agent, signal);
  network.close();
  const events = log.events();
  const results = allOf(events, "tool_result");
  return {
    ...seen,
    ...{ questions, events, results, ended },
    decisions: allOf(events, "permission_decided"),
    egress: allOf(events, "egress"),
    texts: results.map(({ content }) => String(content)),
  };
}
