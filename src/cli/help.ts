/** What `sawtooth --help` prints. Pure. */

export const helpText = `Usage: sawtooth [options] [prompt]           talk in the terminal; /help there lists keys and commands
       sawtooth -p [options] [prompt]        run a task and print the answer
       sawtooth fix --check "<command>"      repair until the command passes or a limit is reached
       sawtooth batch tasks.jsonl --out dir  run many tasks, one JSON object a line; may be stopped and gone on with
       sawtooth <command> [options]

A prompt and text piped to stdin together become one message. "-" as the prompt reads stdin to its end.

Commands
  fix                   run the checks; what fails is the task, and the checks decide when it is done (see below)
  batch <file>          run each task of a file on files of its own (see below); --summary <folders…> adds results up
  report [session]      context and cost of a session (--verbose: every step and edit); --html <file> writes a page;
                        --step n prints the exact request of step n, --step summary-n that of summary call n
  replay <files|folders…>  recordings of any agent under other policies and prices (see below)
  sessions [list]       stored sessions of this folder, newest first (list --verbose: of every folder)
  sessions show|export [session]   one to read; export --format md|html|json writes it to stdout
  undo [session]        put back the files that the last turn changed; --list shows the snapshots, --to <n> goes back to
                        one, --redo takes the last undo back
  doctor                what works on this machine, and what to do about the rest; --clean ends leftover processes
  schema events|input|tasks|results   JSON Schema of the lines that stream-json writes or reads, and those of a batch
  demo                  repair a small repository in a temporary folder; needs no API key

Options
  -p, --print                  headless: never asks, prints the answer, exits
      --model <provider/id>    anthropic/claude-sonnet-5-5 (default), openai/<id>, scripted/<file>,
                               recorded/<file>
      --effort <level>         low, medium, high, xhigh, max
      --output-format <f>      text (default), json (one result object), stream-json (JSON Lines)
      --input-format <f>       text (default), stream-json (messages and control lines from a program)
      --json-schema <s>        JSON or a file: the answer as data that fits, in structured_output
      --max-turns <n>          model calls, over the whole session
      --max-budget-usd <x>     dollars, over the whole session
      --max-time <t>           90s, 10m, 1h
      --permission-mode <m>    ask (default), accept-edits, plan, auto; reading inside the workspace is free in each
      --allow <rule>           bash(npm test:*), edit(src/**), read(/data/**); repeatable
      --deny <rule>            as --allow; beats allow and mode
      --add-dir <folder>       another folder to work in; repeatable
      --context <name>         economist (default), raw, masking, summary, hybrid, focus, focus-top; economist, masking
                               and hybrid also with :short, :medium or :long (5, 10 or 18 turns stay unmasked)
      --window <tokens>        soft window: the context is kept below it
  -c, --continue               go on with the newest session of this folder
  -r, --resume [id or name]    go on with a session; without one, a list to choose from (in a terminal)
      --fork                   with -c or -r: branch off, leave the old session as it is
      --record <file>          write every model exchange to a cassette that recorded/<file> plays
      --loose                  play a cassette by order, not by request
      --bare                   no user settings, no project instructions
      --append-system-prompt <text>
      --session-dir <folder>   where sessions are stored
      --verbose                show steps on stderr
      --plain                  talk without redrawing: each row once, for screen readers
      --debug <file>           write events and requests to a file
  -h, --help    -v, --version

Options of fix
      --check <command>        what must pass; repeatable, in order
      --prompt <text>          a hint for the model
      --max-attempts <n>       3
      --patch <file>           write the repair as a diff
      --commit                 commit the repair on the current branch
      --branch <name>          commit it on a new branch
      --allow-paths <glob>     files that may change; repeatable (default: any, but tests and checks are guarded)
      --report <file>          .xml (JUnit), .sarif or .md; repeatable

Options of batch (those above count for each task whose line does not say otherwise)
      --out <folder>           results.jsonl, and patch, session and log of each task; the same again goes on
      --jobs <n>               tasks at the same time (default: processors, at most 4)
      --shard <i/n>            only every n-th task, from the i-th on: one part for each of n machines
      --max-budget-usd <x>, --max-time <t>   for the whole batch
      --task-budget-usd <x>, --task-time <t>   for each task
      --retry                  run again what ended but is not done
      --keep-trees             keep the files of each task, not only its patch

Options of replay
      --context <a,b,…>        stacks to compare with raw (default: masking, hybrid, focus-auto, economist); after a name
                               -auto folds by itself, +ingest shortens results, :maskKeep=5 sets a number of the engine
      --prices <a,b,…>         models whose prices count, or read/write as shares of the input price: .1/1.25
      --gaps <g>               recorded (default): pauses let the cache go cold; ignore: they do not
      --format <f>             table (default), json, csv; --html <file> draws the sawtooth
      --tune                   sweep the engine's numbers for one price, print the best as settings
      --jobs <n>               threads

Keys come from the environment: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL;
OPENAI_API_KEY, OPENAI_BASE_URL (any server with chat completions: Ollama, vLLM, llama.cpp, OpenRouter; no key needed).
Exit codes: 0 done, 1 could not finish, 2 usage, 3 limit reached, 4 credentials, 5 blocked by permissions,
6 model or network, 130 SIGINT, 143 SIGTERM.
`;
