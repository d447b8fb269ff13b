/** The completion script for fish. Pure. */

import { type Choice, type Grammar, type GrammarCommand, type Offer, written } from "./grammar.ts";

/** Returns the script: a file `sawtooth.fish` in a folder of `fish_complete_path`, or text for `source`. */
export function fishScript(grammar: Grammar): string {
  const { version, commands, options } = grammar;
  return `# Completes the command line of sawtooth ${version} in fish 3.4 or newer. Made by: sawtooth completion fish

${walk(grammar)}${conditions}complete -c sawtooth -f
${[
  ...commands
    .filter(({ name }) => name !== "run")
    .map(({ name, help }) => `complete -c sawtooth -n '__sawtooth_after run 0' -a ${name} -d ${word(help)}`),
  ...commands.flatMap(operandLines),
  ...options.map((option) => optionLine(option, commands.length)),
].join("\n")}
`;
}

function walk({ commands, options }: Grammar): string {
  const skipped = (value: Choice["value"]) =>
    options
      .filter((option) => option.value === value)
      .flatMap(written)
      .join(" ");
  const names = commands.flatMap(({ name }) => (name === "run" ? [] : [name]));
  return `# The command before the cursor, how many operands follow it, and the first of them.
function __sawtooth_place
    set -l words (commandline -opc)
    set -l command run
    set -l count 0
    set -l verb ''
    set -l literal ''
    set -l headless ''
    set -l i 2
    while test $i -le (count $words)
        set -l word $words[$i]
        set i (math $i + 1)
        if test -z "$literal"
            switch $word
                case --
                    set literal yes
                    continue
                case ${skipped("needed")}
                    set i (math $i + 1)
                    continue
                case ${skipped("optional")}
                    if not string match -q -- '-*' "$words[$i]"
                        set i (math $i + 1)
                    end
                    continue
                case -p --print
                    set headless yes
                    continue
                case '-*'
                    continue
            end
        end
        if test $command = run -a $count = 0 -a -z "$headless"
            if contains -- $word ${names.join(" ")}
                set command $word
                continue
            end
        end
        set count (math $count + 1)
        test $count = 1; and set verb $word
    end
    if test $command = run -a -n "$headless"
        set command print
    end
    printf '%s\\n' $command $count $verb
end

`;
}

const conditions = `# In one of these commands. What runs a prompt with -p is run too.
function __sawtooth_in
    set -l place (__sawtooth_place)
    contains -- (string replace -r '^print$' run -- $place[1]) $argv
end

# After a command, with so many operands, and with one of these as the first.
function __sawtooth_after
    set -l place (__sawtooth_place)
    test $place[1] = $argv[1]; or return 1
    test $argv[2] = any; or test $place[2] = $argv[2]; or return 1
    test (count $argv) = 2; or contains -- $place[3] $argv[3..]
end

# What only the program knows: sessions, servers, plug-ins.
function __sawtooth_stored
    command sawtooth completion $argv[1] 2>/dev/null
end

`;

function operandLines({ name, verbs, operands }: GrammarCommand): string[] {
  const line = (condition: string, given: string) => `complete -c sawtooth -n '${condition}' ${given}`;
  const offered = verbs.map((verb) => verb.name).join(" ");
  return [
    ...(verbs.length > 0 ? [line(`__sawtooth_after ${name} 0`, `-a ${word(offered)}`)] : []),
    ...verbs.flatMap((verb) =>
      verb.offer ? [line(`__sawtooth_after ${name} 1 ${verb.name}`, offering(verb.offer))] : [],
    ),
    ...(operands
      ? [line(`__sawtooth_after ${name} ${operands.kind === "files" ? "any" : "0"}`, offering(operands))]
      : []),
  ];
}

function optionLine(option: Choice, count: number): string {
  const { long, short, help, commands, value, offer, listed } = option;
  const condition = commands.length === count ? "" : ` -n '__sawtooth_in ${commands.join(" ")}'`;
  const given = offer ? ` ${offering(offer, listed)}` : "";
  const exclusive = value === "none" ? "" : offer?.kind === "files" ? " -r" : " -x";
  const names = `${short === undefined ? "" : ` -s ${short}`} -l ${long}`;
  return `complete -c sawtooth${condition}${names}${exclusive}${given} -d ${word(help)}`;
}

function offering(offer: Offer, listed = false): string {
  switch (offer.kind) {
    case "words":
      return `-a ${word(listed ? `(__fish_append , ${offer.words.join(" ")})` : offer.words.join(" "))}`;
    case "files":
      return "-F";
    case "folders":
      return "-a '(__fish_complete_directories (commandline -ct))'";
    case "stored":
      return `-a '(__sawtooth_stored ${offer.source})'`;
  }
}

/** Quotes as fish does: a backslash before a quote or a backslash. */
function word(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
