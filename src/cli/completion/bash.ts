/** The completion script for bash. Pure. */

import { type Choice, type Grammar, type GrammarCommand, type Offer, quoted, written } from "./grammar.ts";

/** Returns the script. It needs bash 4.4 and nothing besides. */
export function bashScript(grammar: Grammar): string {
  const { version, commands, options } = grammar;
  return `# Completes the command line of sawtooth ${version} in bash 4.4 or newer. Made by: sawtooth completion bash

${helpers}
_sawtooth_value() {
  case $1 in
${options.flatMap(valueArm).join("\n")}
  esac
}

_sawtooth_operand() {
  case $1 in
${commands.flatMap(operandArms).join("\n")}
  esac
}

_sawtooth_options() {
  case $1 in
${commands.map(({ name }) => `    ${name}) _sawtooth_words ${optionWords(options, name)} ;;`).join("\n")}
  esac
}

${joining}${walk(grammar)}${answer}`;
}

const helpers = `_sawtooth_words() {
  local word
  for word in "$@"; do
    if [[ $word == "$value"* ]]; then COMPREPLY+=("$head$word"); fi
  done
}

# Words of a list that is separated by commas.
_sawtooth_list() {
  local before=\${value%"\${value##*,}"}
  head+=$before value=\${value##*,}
  _sawtooth_words "$@"
}

_sawtooth_paths() {
  local path
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do COMPREPLY+=("$head$path"); done < <(compgen "$1" -- "$value")
}

# What only the program knows: sessions, servers, plug-ins.
_sawtooth_stored() {
  local -a found
  mapfile -t found < <(command sawtooth completion "$1" 2>/dev/null | cut -f 1)
  _sawtooth_words "\${found[@]}"
}

`;

/** The beginning of the function that bash calls. */
const joining = `_sawtooth() {
  COMPREPLY=()
  # Bash splits words at = and : too: here they are whole again, up to the cursor.
  local -a line=()
  local rest=\${COMP_LINE:0:COMP_POINT} word gap piece i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    gap=\${rest%%[![:space:]]*}
    rest=\${rest#"$gap"}
    word=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then word=$rest; fi
    rest=\${rest#"$word"}
    if ((i > 0)) && [[ -z $gap ]]; then line[\${#line[@]}-1]+=$word; else line+=("$word"); fi
    piece=$word
  done
`;

/** Finds the command, its operands so far, and an option that waits for its value. */
function walk({ commands, options }: Grammar): string {
  const names = commands.flatMap(({ name }) => (name === "run" ? [] : [name]));
  const values = (value: Choice["value"]) => options.filter((option) => option.value === value);
  return `  local last=$((\${#line[@]} - 1))
  local current=\${line[last]} command=run verb= count=0 pending= literal= headless=
  if [[ $piece == [=:] ]]; then piece=; fi
  for ((i = 1; i < last; i++)); do
    word=\${line[i]}
    if [[ -z $literal ]]; then
      case $word in
        --) literal=yes; continue ;;
        ${values("needed").flatMap(written).join("|")})
          i=$((i + 1))
          if ((i == last)); then pending=$word; fi
          continue
          ;;
        ${values("optional").flatMap(written).join("|")})
          if [[ \${line[i + 1]} != -* ]]; then i=$((i + 1)); fi
          if ((i == last)); then pending=$word; fi
          continue
          ;;
        -p|--print) headless=yes; continue ;;
        -*) continue ;;
      esac
    fi
    if [[ $command == run && $count == 0 && -z $headless ]]; then
      case $word in
        ${names.join("|")}) command=$word; continue ;;
      esac
    fi
    count=$((count + 1))
    if ((count == 1)); then verb=$word; fi
  done
`;
}

/** The end of that function. */
const answer = `  local value=$current head=
  if [[ -n $pending ]]; then
    _sawtooth_value "$command:$pending"
  elif [[ -z $literal && $current == --*=* ]]; then
    head=\${current%%=*}=
    value=\${current#*=}
    _sawtooth_value "$command:\${head%=}"
  elif [[ -z $literal && $current == -* ]]; then
    _sawtooth_options "$command"
  elif ((count == 1)); then
    _sawtooth_operand "$command:1:$verb"
  elif [[ -z $headless ]]; then
    _sawtooth_operand "$command:$count"
  fi
  # Readline replaces only the last piece.
  local before=\${current%"$piece"}
  for i in "\${!COMPREPLY[@]}"; do COMPREPLY[i]=\${COMPREPLY[i]#"$before"}; done
}

complete -F _sawtooth sawtooth
`;

function operandArms(
  { name, verbs, operands }: GrammarCommand,
  _: number,
  all: readonly GrammarCommand[],
): string[] {
  const words = name === "run" ? all.slice(1) : verbs;
  return [
    ...(words.length > 0
      ? [`    ${name}:0) _sawtooth_words ${words.map((one) => one.name).join(" ")} ;;`]
      : []),
    ...verbs.flatMap((verb) => arm(`${name}:1:${verb.name}`, verb.offer)),
    ...arm(`${name}:${operands?.kind === "files" ? "*" : "0"}`, operands),
  ];
}

function optionWords(options: readonly Choice[], command: string): string {
  return options
    .filter(({ commands }) => commands.some((name) => name === command))
    .flatMap(written)
    .join(" ");
}

function arm(pattern: string, offer: Offer | undefined): string[] {
  return offer === undefined ? [] : [`    ${pattern}) ${offering(offer, "_sawtooth_words")} ;;`];
}

/** An option of some commands has one meaning there; the same name may have another one elsewhere. */
function valueArm(option: Choice): string[] {
  if (option.offer === undefined) return [];
  const patterns = option.commands.flatMap((command) => written(option).map((name) => `${command}:${name}`));
  const way = option.listed ? "_sawtooth_list" : "_sawtooth_words";
  return [`    ${patterns.join("|")}) ${offering(option.offer, way)} ;;`];
}

function offering(offer: Offer, way: string): string {
  switch (offer.kind) {
    case "words":
      return `${way} ${offer.words.map(quoted).join(" ")}`;
    case "files":
      return "_sawtooth_paths -f";
    case "folders":
      return "_sawtooth_paths -d";
    case "stored":
      return `_sawtooth_stored ${offer.source}`;
  }
}
