/** A connection to a server, by the SDK. Loaded with the first server that is started. */

import {
  type CallToolResult,
  Client,
  deserializeMessage,
  type ElicitRequest,
  type ElicitResult,
  type GetPromptResult,
  type JsonSchemaValidator,
  type PriorDiscovery,
  type ReadResourceResult,
  type RequestOptions,
} from "@modelcontextprotocol/client";
import type { Catalogue } from "./catalogue.ts";
import type { Channel } from "./channel.ts";
import type { HttpServer } from "./configuration.ts";
import { type Elicit, elicitationOf } from "./elicitation.ts";
import { CallFailed, ConnectFailed } from "./failures.ts";
import { httpChannel } from "./http/http-channel.ts";
import { lineChannel } from "./lines.ts";
import { noteMissingRights, storedTokens } from "./oauth/stored-tokens.ts";
import { type Offers, offersOf } from "./offers.ts";
import { patienceFor } from "./patience.ts";
import type { ServerProcess } from "./process.ts";
import { callFailure, connectFailure, pagesNeeded, wordsOf } from "./sdk-errors.ts";

export type Connection = {
  catalogue: Catalogue;
  /** Calls a tool. Throws `CallFailed`. */
  call(name: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>;
  /** Reads a resource. Throws `CallFailed`. */
  read(uri: string, options: CallOptions): Promise<ReadResourceResult>;
  /** Fills in a prompt. Throws `CallFailed`. */
  prompt(name: string, input: Record<string, string>, options: CallOptions): Promise<GetPromptResult>;
  close(): Promise<void>;
};

export type CallOptions = {
  signal: AbortSignal;
  /** Milliseconds without an answer and without progress. */
  timeoutMs: number;
  onProgress(text: string): void;
};

/** A way to a server: a program to start, or an address with the folder that keeps its sign-in. */
export type Target =
  | { kind: "program"; start(): Promise<ServerProcess> }
  | { kind: "http"; server: HttpServer; credentials: string };

export type ConnectOptions = {
  target: Target;
  /** How the server was connected to before. */
  prior: unknown;
  version: string;
  /** Answers what the server asks a person. */
  elicit: Elicit;
  /** Called with everything on offer each time the server says that a part changed. */
  onChanged(offers: Offers): void;
  /** Called when the server has ended. */
  onEnded(): void;
};

/** A remembered answer to the question which protocol a server speaks. `since`: milliseconds since 1970. */
type Verdict = PriorDiscovery & { since?: number };

/**
 * Milliseconds for the first answer, and of them for the question which protocol a program speaks: silence means the
 * older one. At an address silence is a failure.
 */
const limits = { connect: 30_000, probe: 10_000 };
/** Milliseconds after which a server of the older protocol is asked anew: it may have learned the newer one. */
const verdictMs = 30 * 86_400_000;
/** The longest delay of a timer: our own patience ends a call. */
const unlimited = 2 ** 31 - 1;

/** Connects to a server and asks for what it offers. Throws `ConnectFailed`. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const prior = stillGood(options.prior as Verdict | undefined);
  try {
    return await attempt(options, prior);
  } catch (error) {
    if (!(error instanceof ConnectFailed)) throw error;
    // It was replaced by one that speaks the other protocol.
    if (prior && error.kind === "refused") return attempt(options, undefined);
    // Some servers of the older protocol end at a question that they do not know.
    if (!prior && error.kind === "ended") return attempt(options, { kind: "legacy" });
    throw error;
  }
}

function stillGood(verdict: Verdict | undefined): PriorDiscovery | undefined {
  if (verdict?.kind !== "legacy") return verdict;
  return Date.now() - (verdict.since ?? 0) < verdictMs ? { kind: "legacy" } : undefined;
}

async function attempt(options: ConnectOptions, prior: PriorDiscovery | undefined): Promise<Connection> {
  const channel = await open(options);
  const asking = askingBy(options.elicit);
  const client = clientOf(options, asking);
  client.onerror = () => {};
  const close = async (): Promise<void> => {
    await channel.end();
    await client.close().catch(() => {});
  };
  try {
    await client.connect(channel.transport, { timeout: limits.connect, ...(prior ? { prior } : {}) });
    const offers = await offersOf(client, limits.connect);
    client.onclose = options.onEnded;
    const discover = client.getDiscoverResult();
    const verdict: Verdict = discover ? { kind: "modern", discover } : { kind: "legacy", since: Date.now() };
    const protocol = client.getNegotiatedProtocolVersion();
    return {
      catalogue: {
        instructions: client.getInstructions() ?? "",
        ...offers,
        ...(protocol ? { protocol } : {}),
        prior: verdict,
      },
      ...callsOf(client, { channel, asking, onEnded: options.onEnded }),
      close,
    };
  } catch (error) {
    const kind = connectFailure(error, channel.hasEnded());
    channel.heard?.(error);
    await close();
    throw new ConnectFailed(kind, channel.trouble() || wordsOf(error));
  }
}

async function open({ target }: ConnectOptions): Promise<Channel> {
  if (target.kind === "http") {
    const { server, credentials } = target;
    const channel = httpChannel(server, storedTokens(server, credentials));
    return { ...channel, heard: (error) => noteMissingRights(server, credentials, error) };
  }
  try {
    return lineChannel(await target.start(), deserializeMessage);
  } catch (error) {
    throw new ConnectFailed("other", wordsOf(error));
  }
}

/** Asks the person. While a question is open, the time of a call does not run. */
type Asking = {
  ask(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
  isOpen(): boolean;
  /** Called after each answer: the time of a call begins anew. */
  onAnswer: Set<() => void>;
};

function askingBy(elicit: Elicit): Asking {
  let open = 0;
  const onAnswer = new Set<() => void>();
  return {
    async ask(params, signal) {
      open += 1;
      try {
        return await elicitationOf(params, elicit, signal);
      } finally {
        open -= 1;
        for (const renew of onAnswer) renew();
      }
    },
    isOpen: () => open > 0,
    onAnswer,
  };
}

function clientOf({ target, version, onChanged }: ConnectOptions, asking: Asking): Client {
  const changed = {
    autoRefresh: false,
    onChanged: () =>
      void offersOf(client, limits.connect).then(onChanged, () => {
        // The next call will tell.
      }),
  };
  const client: Client = new Client(
    { name: "sawtooth", version },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: {
        mode: "auto",
        probe: { timeoutMs: target.kind === "http" ? limits.connect : limits.probe },
      },
      // A result is never lost because it does not fit what the server itself said of it.
      jsonSchemaValidator: {
        getValidator:
          <T>(): JsonSchemaValidator<T> =>
          (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
      },
      listChanged: { tools: changed, resources: changed, prompts: changed },
    },
  );
  client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
    asking.ask(params, mcpReq.signal),
  );
  return client;
}

/** A call is made again this often after pages were opened for it. */
const mostPages = 3;

/** Makes a call; one that a server refuses until pages were opened is made again once the person has done so. */
async function afterPages<T>(run: () => Promise<T>, asking: Asking, signal: AbortSignal): Promise<T> {
  for (let left = mostPages; ; left--) {
    try {
      return await run();
    } catch (error) {
      const pages = left > 0 ? pagesNeeded(error) : [];
      if (pages.length === 0) throw error;
      for (const page of pages) if ((await asking.ask(page, signal)).action !== "accept") throw error;
    }
  }
}

type Calls = Pick<Connection, "call" | "read" | "prompt">;

function callsOf(
  client: Client,
  { channel, asking, onEnded }: { channel: Channel; asking: Asking; onEnded(): void },
): Calls {
  const made = async <T>(call: CallOptions, run: (options: RequestOptions) => Promise<T>): Promise<T> => {
    const { signal, timeoutMs, onProgress } = call;
    const patience = patienceFor(timeoutMs, signal, asking.isOpen);
    asking.onAnswer.add(patience.renew);
    try {
      const sdk: RequestOptions = {
        signal: patience.signal,
        timeout: unlimited,
        onprogress({ progress, total, message }) {
          patience.renew();
          onProgress(`${message ?? ""} ${progress}${total === undefined ? "" : ` of ${total}`}`.trim());
        },
      };
      return await afterPages(() => run(sdk), asking, patience.signal);
    } catch (error) {
      const kind = signal.aborted ? "cancelled" : patience.isOver() ? "timeout" : callFailure(error);
      channel.heard?.(error);
      if (kind === "ended") {
        onEnded();
        void channel.end();
      }
      throw new CallFailed(kind, channel.trouble() || (kind === "timeout" ? "" : wordsOf(error)));
    } finally {
      asking.onAnswer.delete(patience.renew);
      patience.end();
    }
  };
  return {
    call: (name, input, options) => made(options, (sdk) => client.callTool({ name, arguments: input }, sdk)),
    read: (uri, options) => made(options, (sdk) => client.readResource({ uri }, sdk)),
    prompt: (name, input, options) =>
      made(options, (sdk) => client.getPrompt({ name, arguments: input }, sdk)),
  };
}
