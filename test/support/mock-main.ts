/** The strict server as a program: `npm run mock -- script.yaml [--port n]`. */

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { parseScript, type Script } from "../../src/models/playback/script.ts";
import { type Exchange, startMockServer } from "./mock-server.ts";

const usage = "usage: npm run mock -- script.yaml [--port n] [--save folder]";

type Command = { script: Script; port: number; saveTo?: string };

/** Throws an error of one line for bad usage, an unreadable file or a broken script. */
async function readCommand(args: string[]): Promise<Command> {
  const options = { port: { type: "string" }, save: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [file, ...more] = positionals;
  const port = Number(values.port ?? 0);
  if (!file || more.length > 0) throw new Error(usage);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`not a port: ${values.port}; ${usage}`);
  const script = await parseScript(readFileSync(file, "utf8"), file);
  return { script, port, ...(values.save ? { saveTo: values.save } : {}) };
}

function line({ index, status, usage: used, error, clientClosedAt }: Exchange): string {
  const tokens = used
    ? ` read ${used.cacheReadTokens}, written ${used.cacheWrite5mTokens + used.cacheWrite1hTokens}, input ${used.inputTokens}, output ${used.outputTokens}`
    : "";
  return `${index + 1}: ${status || "cut"}${tokens}${error ? ` ${error}` : ""}${clientClosedAt ? " (client hung up)" : ""}`;
}

async function main(): Promise<void> {
  const { script, port, saveTo } = await readCommand(process.argv.slice(2));
  const { window, history, minTokens, maxOutput } = script.model ?? {};
  const given = Object.entries({ window, history, minTokens, maxOutput }).filter(
    ([, value]) => value !== undefined,
  );
  const server = await startMockServer({
    turns: script.turns,
    models: { "*": Object.fromEntries(given) },
    port,
    ...(saveTo ? { saveTo } : {}),
    onExchange: (exchange) => console.log(line(exchange)),
  });
  console.log(`listening on ${server.url}\n`);
  console.log(`export ANTHROPIC_BASE_URL=${server.url}\nexport ANTHROPIC_API_KEY=any\n`);
  process.once("SIGINT", () => void server.close());
}

try {
  await main();
} catch (error) {
  console.error(`mock: ${(error as Error).message.split("\n")[0]}`);
  process.exitCode = 2;
}
