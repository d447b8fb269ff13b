/** A connection to a server, by the SDK. Loaded with the first server that is started. */

import {
  type CallToolResult,
  Client,
  deserializeMessage,
  type JsonSchemaValidator,
  type PriorDiscovery,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type Tool,
} from "@modelcontextprotocol/client";
import { type Catalogue, mostTools, type RemoteTool } from "./catalogue.ts";
import type { ServerProcess } from "./process.ts";
import { type LineTransport, lineTransport } from "./transport.ts";

export type Connection = {
  catalogue: Catalogue;
  /** Calls a tool. Throws `CallFailed`. */
  call(name: string, input: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>;
  close(): Promise<void>;
};

export type CallOptions = {
  signal: AbortSignal;
  /** Milliseconds without progress. */
  timeoutMs: number;
  onProgress(text: string): void;
};

/** `invalid`: the arguments; `ended`: the server is gone, and the next call starts it again. */
export type CallFailure = "invalid" | "ended" | "timeout" | "cancelled" | "other";

export class CallFailed extends Error {
  readonly kind: CallFailure;
  constructor(kind: CallFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type ConnectOptions = {
  start(): Promise<ServerProcess>;
  /** How the server was connected to before. */
  prior: unknown;
  version: string;
  /** Called with the tools each time the server says that they changed. */
  onTools(tools: RemoteTool[]): void;
  /** Called when the server has ended. */
  onEnded(): void;
};

/** Milliseconds for the first answer, and of them for the question which protocol the server speaks. */
const limits = { connect: 30_000, probe: 3000 };

/** Starts a server and asks for its tools. Throws an Error that says why it cannot. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const prior = options.prior as PriorDiscovery | undefined;
  if (prior) return attempt(options, prior);
  try {
    return await attempt(options, undefined);
  } catch {
    // Some servers of the older protocol end at a question that they do not know.
    return attempt(options, { kind: "legacy" });
  }
}

async function attempt(options: ConnectOptions, prior: PriorDiscovery | undefined): Promise<Connection> {
  const process = await options.start();
  const transport = lineTransport(process, deserializeMessage);
  const client = clientOf(options);
  client.onerror = () => {};
  try {
    await client.connect(transport, { timeout: limits.connect, ...(prior ? { prior } : {}) });
    const tools = await toolsOf(client);
    client.onclose = options.onEnded;
    const discover = client.getDiscoverResult();
    return {
      catalogue: {
        instructions: client.getInstructions() ?? "",
        tools,
        prior: discover ? { kind: "modern", discover } : { kind: "legacy" },
      },
      call: (name, input, call) => callTool(client, transport, { name, arguments: input }, call),
      close: () => closed(client, process),
    };
  } catch (error) {
    await closed(client, process);
    throw new Error(transport.trouble().replace(/^was closed(; )?/, "") || messageOf(error));
  }
}

/** Closes the connection, and ends the process where the SDK did not get that far. */
async function closed(client: Client, process: ServerProcess): Promise<void> {
  await client.close().catch(() => {});
  await process.end();
}

function clientOf({ version, onTools }: ConnectOptions): Client {
  return new Client(
    { name: "sawtooth", version },
    {
      capabilities: {},
      versionNegotiation: { mode: "auto", probe: { timeoutMs: limits.probe } },
      // A result is never lost because it does not fit what the server itself said of it.
      jsonSchemaValidator: {
        getValidator:
          <T>(): JsonSchemaValidator<T> =>
          (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
      },
      listChanged: {
        tools: { onChanged: (_error, tools) => tools && onTools(tools.slice(0, mostTools).map(toolOf)) },
      },
    },
  );
}

async function toolsOf(client: Client): Promise<RemoteTool[]> {
  if (!client.getServerCapabilities()?.tools) return [];
  const { tools } = await client.listTools(undefined, { timeout: limits.connect });
  return tools.slice(0, mostTools).map(toolOf);
}

function toolOf({ name, description = "", inputSchema, annotations }: Tool): RemoteTool {
  return { name, description, inputSchema, readOnly: annotations?.readOnlyHint === true };
}

async function callTool(
  client: Client,
  transport: LineTransport,
  params: { name: string; arguments: Record<string, unknown> },
  { signal, timeoutMs, onProgress }: CallOptions,
): Promise<CallToolResult> {
  try {
    return await client.callTool(params, {
      signal,
      timeout: timeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress, total, message }) =>
        onProgress(`${message ?? ""} ${progress}${total === undefined ? "" : ` of ${total}`}`.trim()),
    });
  } catch (error) {
    throw new CallFailed(kindOf(error, signal), transport.trouble() || messageOf(error));
  }
}

function kindOf(error: unknown, signal: AbortSignal): CallFailure {
  if (signal.aborted) return "cancelled";
  if (error instanceof ProtocolError)
    return error.code === ProtocolErrorCode.InvalidParams ? "invalid" : "other";
  if (!(error instanceof SdkError)) return "ended";
  if (error.code === SdkErrorCode.RequestTimeout) return "timeout";
  const gone = error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected;
  return gone ? "ended" : "other";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
