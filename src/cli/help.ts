/** What `sawtooth --help` prints. Pure. */

export const helpText = `Usage: sawtooth -p [options] [prompt]        run a task and print the answer
       sawtooth <command> [options]

A prompt and text piped to stdin together become one message. "-" as the prompt reads stdin to its end.

Commands
  report [session]      context and cost of a session; --step n prints the exact request of step n
  sessions [list]       stored sessions of this folder, newest first (list --verbose: of every folder)
  demo                  repair a small repository in a temporary folder; needs no API key

Options
  -p, --print                  headless: never asks, prints the answer, exits
      --model <provider/id>    anthropic/claude-sonnet-5-5 (default), scripted/<file>, recorded/<file>
      --effort <level>         low, medium, high, xhigh, max
      --output-format <f>      text (default), json (one result object), stream-json (JSON Lines)
      --max-turns <n>          model calls, over the whole session
      --max-budget-usd <x>     dollars, over the whole session
      --max-time <t>           90s, 10m, 1h
      --permission-mode <m>    ask (default), accept-edits, plan, auto
      --allow <rule>           bash(npm test:*), edit(src/**); repeatable
      --deny <rule>            as --allow; beats allow and mode
      --add-dir <folder>       another folder to work in; repeatable
      --context <name>         economist (default), raw, masking, summary, hybrid, focus, focus-top
      --window <tokens>        soft window: the context is kept below it
  -c, --continue               go on with the newest session of this folder
  -r, --resume [id]            go on with a session; without an id the newest of this folder
      --fork                   with -c or -r: branch off, leave the old session as it is
      --record <file>          write every model exchange to a cassette that recorded/<file> plays
      --loose                  play a cassette by order, not by request
      --bare                   no user settings, no project instructions
      --append-system-prompt <text>
      --session-dir <folder>   where sessions are stored
      --verbose                show steps on stderr
      --debug <file>           write events and requests to a file
  -h, --help    -v, --version

Keys come from the environment: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL.
Exit codes: 0 done, 1 could not finish, 2 usage, 3 limit reached, 4 credentials, 5 blocked by permissions,
6 model or network, 130 SIGINT, 143 SIGTERM.
`;
