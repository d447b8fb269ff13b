/** The commands as data: their rows in the help, and what a shell offers after them. Pure. */

import type { NamedCommand, Source } from "./option.ts";

/** Ways to start it, and what each does. */
export const usages: readonly (readonly [typed: string, help: string])[] = [
  ["sawtooth [options] [prompt]", "talk in the terminal; /help there lists keys and commands"],
  ["sawtooth -p [options] [prompt]", "run a task and print the answer"],
  ['sawtooth fix --check "<command>"', "repair until the command passes or a limit is reached"],
  [
    "sawtooth batch tasks.jsonl --out dir",
    "run many tasks, one JSON object a line; a stopped batch can be continued",
  ],
  ["sawtooth <command> [options]", ""],
];

export const aboutPrompt =
  'A prompt and text piped to stdin together become one message. "-" as the prompt reads stdin to its end.';

export const aboutKeys =
  "Keys come from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, …) or from sawtooth login; servers on this machine (Ollama, LM Studio, llama.cpp, vLLM) need none. OPENAI_BASE_URL names any other such server.";

/** Exit codes with their meaning. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, "done"],
  [1, "could not finish"],
  [2, "usage"],
  [3, "limit reached"],
  [4, "credentials"],
  [5, "blocked by permissions"],
  [6, "model or network"],
  [130, "SIGINT"],
  [143, "SIGTERM"],
];

type CommandRow = {
  /** Rows of the help: what is typed, and what it does. The first begins with the name. */
  rows: readonly [typed: string, help: string][];
  /** First operands by name, with what follows each; undefined: nothing that is known. */
  verbs?: Record<string, Source | undefined>;
  /** All operands, where no verb comes first. */
  operands?: Source;
};

/** One entry a command. */
export const commandTable: Record<NamedCommand, CommandRow> = {
  fix: {
    rows: [["fix", "run the checks; what fails is the task, and the checks decide when it is done"]],
  },
  batch: {
    rows: [
      ["batch <file>", "run each task of a file on files of its own; --summary <folders…> adds results up"],
      ["batch compare <a> <b>", "which of two batches of the same tasks solved more, and at what cost"],
    ],
    operands: "files",
  },
  report: {
    rows: [
      [
        "report [session]",
        "context and cost of a session; --verbose: each step and edit; --serve: as it grows",
      ],
    ],
    operands: "sessions",
  },
  egress: {
    rows: [
      ["egress [session]", "hosts that its commands connected to, with bytes and rules, and those refused"],
    ],
    operands: "sessions",
  },
  replay: {
    rows: [["replay <files|folders…>", "recordings of any agent under other policies and prices"]],
    operands: "files",
  },
  sessions: {
    rows: [
      ["sessions [list]", "stored sessions of this folder, newest first; list --verbose: of every folder"],
      ["sessions show|export [session]", "one to read; export writes it to stdout as a file"],
    ],
    verbs: { list: undefined, show: "sessions", export: "sessions" },
  },
  undo: {
    rows: [["undo [session]", "restore the files that the last turn changed"]],
    operands: "sessions",
  },
  models: {
    rows: [
      [
        "models [search]",
        "models that can be used now, with window and prices; with a search, all known ones",
      ],
    ],
    operands: "providers",
  },
  mcp: {
    rows: [
      [
        "mcp [list|get|add|remove]",
        "servers of tools (MCP): mcp add <name> -- <command…>, or mcp add <name> --url <url>",
      ],
      ["mcp review", "look at the servers of this project's .mcp.json, and allow them or not"],
      ["mcp login|logout <name>", "sign in with a server at an address, in a browser; and out of it"],
    ],
    verbs: {
      list: undefined,
      get: "servers",
      add: undefined,
      remove: "servers",
      review: undefined,
      login: "servers",
      logout: "servers",
    },
  },
  plugin: {
    rows: [
      ["plugin [list]", "plug-ins: plugin add <folder|git URL|npm name> shows what one brings, and asks"],
      [
        "plugin update|remove <name>",
        "update shows the difference, and asks; without a name it looks at all",
      ],
    ],
    verbs: { list: undefined, add: "folders", update: "plugins", remove: "plugins" },
  },
  doctor: {
    rows: [["doctor", "what works on this machine, and what to do about the rest"]],
  },
  login: {
    rows: [
      [
        "login [provider]",
        "store an API key for you alone, pasted or from stdin; logout [provider] removes it",
      ],
    ],
    operands: "providers",
  },
  logout: { rows: [], operands: "providers" },
  schema: {
    rows: [
      [
        "schema events|input|tasks|results",
        "JSON Schema of the lines that stream-json writes or reads, and those of a batch",
      ],
    ],
    verbs: { events: undefined, input: undefined, tasks: undefined, results: undefined },
  },
  acp: {
    rows: [["acp", "the agent in an editor (Zed, JetBrains, Neovim and others), which starts this itself"]],
    verbs: { login: "providers" },
  },
  completion: {
    rows: [
      [
        "completion bash|zsh|fish",
        "a script that lets Tab complete all this; docs/shell.md says where it goes",
      ],
    ],
    verbs: { bash: undefined, zsh: undefined, fish: undefined },
  },
  update: {
    rows: [["update", "whether there is a newer version, and what to type for it; changes nothing"]],
  },
  demo: {
    rows: [["demo", "repair a small repository in a temporary folder; needs no API key"]],
  },
};
