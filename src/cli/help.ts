/** The output of `sawtooth --help`: usage and commands as text, the options from their table. Pure. */

import { wrap } from "../report/text/columns.ts";
import { commandNames } from "./arguments/option.ts";
import { allOptions, type NamedOption, takes } from "./arguments/options.ts";

const usage = `Usage: sawtooth [options] [prompt]           talk in the terminal; /help there lists keys and commands
       sawtooth -p [options] [prompt]        run a task and print the answer
       sawtooth fix --check "<command>"      repair until the command passes or a limit is reached
       sawtooth batch tasks.jsonl --out dir  run many tasks, one JSON object a line; a stopped batch can be continued
       sawtooth <command> [options]

A prompt and text piped to stdin together become one message. "-" as the prompt reads stdin to its end.

Commands
  fix                              run the checks; what fails is the task, and the checks decide when it is done
  batch <file>                     run each task of a file on files of its own; --summary <folders…> adds results up
  report [session]                 context and cost of a session; --verbose: each step and edit; --serve: as it grows
  egress [session]                 hosts that its commands connected to, with bytes and rules, and those refused
  replay <files|folders…>          recordings of any agent under other policies and prices
  sessions [list]                  stored sessions of this folder, newest first; list --verbose: of every folder
  sessions show|export [session]   one to read; export writes it to stdout as a file
  undo [session]                   restore the files that the last turn changed
  models [search]                  models that can be used now, with window and prices; with a search, all known ones
  mcp [list|get|add|remove]        servers of tools (MCP): mcp add <name> -- <command…>, or mcp add <name> --url <url>
  mcp review                       look at the servers of this project's .mcp.json, and allow them or not
  mcp login|logout <name>          sign in with a server at an address, in a browser; and out of it
  plugin [list]                    plug-ins: plugin add <folder|git URL|npm name> shows what one brings, and asks
  plugin update|remove <name>      update shows the difference, and asks; without a name it looks at all
  doctor                           what works on this machine, and what to do about the rest
  login [provider]                 store an API key for you alone, pasted or from stdin; logout [provider] removes it
  schema events|input|tasks|results  JSON Schema of the lines that stream-json writes or reads, and those of a batch
  acp                              the agent in an editor (Zed, JetBrains, Neovim and others), which starts this itself
  demo                             repair a small repository in a temporary folder; needs no API key
`;

const environment = `Keys come from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …) or from sawtooth login; servers on
this machine (Ollama, LM Studio, llama.cpp, vLLM) need none. OPENAI_BASE_URL names any other such server.
Exit codes: 0 done, 1 could not finish, 2 usage, 3 limit reached, 4 credentials, 5 blocked by permissions,
6 model or network, 130 SIGINT, 143 SIGTERM.
`;

/** Columns before the text of an option, and of a line. */
const indent = 31;
const width = 120;

/** Returns the whole help in 120 columns. */
export function helpText(): string {
  const sections = commandNames.flatMap((command) => {
    const own = allOptions.filter((option) => option.commands && takes(option, command));
    if (own.length === 0) return [];
    const others =
      command === "batch" ? " (those above count for each task whose line does not say otherwise)" : "";
    return [section(`Options of ${command}${others}`, own)];
  });
  const shared = section(
    "Options",
    allOptions.filter(({ commands }) => !commands || commands.includes("run")),
  );
  return [usage, shared, ...sections, environment].join("\n");
}

function section(title: string, options: readonly NamedOption[]): string {
  return [title, ...options.flatMap(rows), ""].join("\n");
}

/** Returns the option in one row, with its text on as many more as it takes. */
function rows({ name, short, value, help }: NamedOption): string[] {
  const head = `  ${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`;
  const [first = "", ...more] = wrap(help, width - indent);
  const begins = head.length < indent ? [head.padEnd(indent) + first] : [head, " ".repeat(indent) + first];
  return [...begins, ...more.map((line) => " ".repeat(indent) + line)];
}
