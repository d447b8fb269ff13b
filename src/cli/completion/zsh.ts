/** The completion script for zsh. Pure. */

import type { CommandName } from "../arguments/option.ts";
import {
  type Choice,
  type Grammar,
  type GrammarCommand,
  type Offer,
  quoted,
  storedSources,
  written,
} from "./grammar.ts";

/** Returns the script: a file named `_sawtooth` in a folder of `fpath`, or text to evaluate. */
export function zshScript({ version, commands, options }: Grammar): string {
  const lists = wordLists(options);
  const names = commands.filter(({ name }) => name !== "run");
  return `#compdef sawtooth
# Completes the command line of sawtooth ${version} in zsh. Made by: sawtooth completion zsh

_sawtooth_commands() {
  local -a offered=(
${names.map(({ name, help }) => `    ${quoted(`${name}:${help}`)}`).join("\n")}
  )
  _describe -t commands command offered
}

# What only the program knows: sessions, servers, plug-ins.
_sawtooth_stored() {
  local -a found=(\${(f)"$(command sawtooth completion $1 2>/dev/null)"})
  found=(\${found//:/\\\\:})
  found=(\${found//$'\\t'/:})
  _describe -t $1 $1 found
}
${storedSources.map((source) => `_sawtooth_${source}() { _sawtooth_stored ${source} }`).join("\n")}

${[...lists].map(([words, name]) => `${name}() {\n  local -a words=(${words})\n  compadd "$@" -a words\n}`).join("\n")}

${walk(names, options)}  local -a operands=()
  case $command:$verb in
${commands.flatMap((command) => operandArms(command, lists)).join("\n")}
  esac
  local -a options=()
  case $command in
${commands.map(({ name }) => optionsArm(options, name, lists)).join("\n")}
  esac
  _arguments -s -S : $options $operands
}

if [[ $funcstack[1] == _sawtooth ]]; then _sawtooth "$@"; else compdef _sawtooth sawtooth; fi
`;
}

/** Finds the command and its first operand. */
function walk(names: readonly GrammarCommand[], options: readonly Choice[]): string {
  const skipped = (value: Choice["value"]) =>
    options
      .filter((option) => option.value === value)
      .flatMap(written)
      .join("|");
  return `_sawtooth() {
  local command=run verb= word literal= headless=
  integer i count=0
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -z $literal ]]; then
      case $word in
        --) literal=yes; continue ;;
        ${skipped("needed")}) ((i++)); continue ;;
        ${skipped("optional")}) [[ $words[i+1] == -* ]] || ((i++)); continue ;;
        -p|--print) headless=yes; continue ;;
        -*) continue ;;
      esac
    fi
    if [[ $command == run && $count == 0 && -z $headless ]]; then
      case $word in
        ${names.map(({ name }) => name).join("|")}) command=$word; continue ;;
      esac
    fi
    ((count++)) || verb=$word
  done
`;
}

type Lists = ReadonlyMap<string, string>;

/** Names a function for each longer list of words, which are many, or hold colons. */
function wordLists(options: readonly Choice[]): Lists {
  const lists = new Map<string, string>();
  for (const { offer, long } of options) {
    if (offer?.kind !== "words") continue;
    const words = offer.words.map(quoted).join(" ");
    if (!lists.has(words)) lists.set(words, `_sawtooth_${long.replaceAll("-", "_")}_words`);
  }
  return lists;
}

function operandArms({ name, verbs, operands }: GrammarCommand, lists: Lists): string[] {
  if (name === "run")
    return ["    run:*) [[ -n $headless ]] || operands=('1:command:_sawtooth_commands') ;;"];
  const command = "'1:command:_sawtooth_commands'";
  const first = `${quoted(`2:command:(${verbs.map((verb) => verb.name).join(" ")})`)}`;
  const arms = verbs.flatMap((verb) => {
    if (!verb.offer) return [];
    return [
      `    ${name}:${verb.name}) operands=(${command} ${first} ${quoted(`3: :${action(verb.offer, lists)}`)}) ;;`,
    ];
  });
  if (verbs.length > 0) return [...arms, `    ${name}:*) operands=(${command} ${first}) ;;`];
  if (!operands) return [`    ${name}:*) operands=(${command}) ;;`];
  const place = operands.kind === "files" ? "*" : "2";
  return [`    ${name}:*) operands=(${command} ${quoted(`${place}: :${action(operands, lists)}`)}) ;;`];
}

function optionsArm(options: readonly Choice[], command: CommandName, lists: Lists): string {
  const specs = options
    .filter(({ commands }) => commands.includes(command))
    .flatMap((option) => optionSpecs(option, lists));
  return `    ${command}) options=(\n${specs.map((spec) => `      ${quoted(spec)}`).join("\n")}\n    ) ;;`;
}

/** One for each way to write it; each but a repeatable one rules the others out. */
function optionSpecs(option: Choice, lists: Lists): string[] {
  const names = written(option);
  const help = option.help.replace(/[[\]\\]/g, "\\$&");
  const message = option.placeholder.replaceAll(":", "\\:");
  const colons = option.value === "optional" ? "::" : ":";
  const does = option.offer ? action(option.offer, lists, option.listed) : " ";
  const value = option.value === "none" ? "" : `${colons}${message}:${does}`;
  return names.map((name) => {
    const sign = option.value === "none" ? "" : name.startsWith("--") ? "=" : "+";
    const before = option.repeatable ? "*" : names.length > 1 ? `(${names.join(" ")})` : "";
    return `${before}${name}${sign}[${help}]${value}`;
  });
}

function action(offer: Offer, lists: Lists, listed = false): string {
  switch (offer.kind) {
    case "words": {
      const words = offer.words.map(quoted).join(" ");
      const list = lists.get(words);
      if (list === undefined) return `(${offer.words.join(" ")})`;
      return listed ? `_sequence ${list}` : list;
    }
    case "files":
      return "_files";
    case "folders":
      return "_files -/";
    case "stored":
      return `_sawtooth_${offer.source}`;
  }
}
