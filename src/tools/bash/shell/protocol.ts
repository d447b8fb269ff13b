/**
 * The protocol between us and the shell. Commands never pass through the control channel: each lies in a file that the
 * shell sources, with its output in a file of its own. After each the shell reports its status on its standard output,
 * which no program of a command has, marked with a nonce that no program can know. Pure.
 */

import { constants } from "node:os";

/**
 * The folders of a shell. Each has one direction, because inside of a sandbox its programs could make a link where we
 * are about to write.
 */
export type ShellFolders = {
  /** Written by us, read by the shell. */
  in: string;
  /** Written by the shell; we only read it, and trust nothing of it. */
  state: string;
};

/** Files in the shell's folders: the first three in `in`, the others in `state`. */
export const files = {
  init: "init.sh",
  command: "command.sh",
  stdin: "stdin",
  /** Exports of a freshly started shell, and alternately of the shell after its last commands. */
  baseline: "baseline",
  snapshots: ["exports.0", "exports.1"],
  /** Functions and aliases that a shell left behind when it ended by itself. */
  functions: "functions.sh",
  left: "exports.left",
  debugTrap: "debug",
} as const;

export type End = { number: number; status: number; flags: string };

/**
 * The signal on which the shell abandons the rest of its command: one that neither a kernel nor a program sends, so
 * that a command that traps USR2 for itself neither loses its trap nor runs on.
 */
export const giveUpSignal: "SIGSTKFLT" | "SIGINFO" =
  constants.signals.SIGSTKFLT === undefined ? "SIGINFO" : "SIGSTKFLT";

/** Quotes a text as a word that bash reads as exactly this text. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Lines that trace nothing of themselves and keep what follows out of a trace that BASH_XTRACEFD leads to a file; the
 * status before them is in `__sawtooth_status`. Bash traces every simple command, so these have none: a definition of a
 * function stands for it, and expansions of its redirections are the test and the assignments. `__sawtooth_silent` is
 * set while such a trace, unless it is readonly, is led to /dev/null; `__sawtooth_end` leads it back.
 */
const quiet = `if { __sawtooth_none() { :; }; } 2>/dev/null 2>&$((__sawtooth_status=$?,2)) <"/dev/null\${__sawtooth_silent-\${BASH_XTRACEFD:+\${-//[!x]/}}}"; then __sawtooth_none() { :; }
elif { __sawtooth_none() { :; }; } 2>/dev/null <<<"\${__sawtooth_attributes=\${BASH_XTRACEFD@a}}" <"/dev/null\${__sawtooth_attributes//[!r]/}"
then { __sawtooth_none() { :; }; } 2>/dev/null {__sawtooth_null}>/dev/null <<<"\${__sawtooth_silent=}\${__sawtooth_trace=$BASH_XTRACEFD}" 2>&$((BASH_XTRACEFD=__sawtooth_null,2)); fi`;

/** Reports the end of a command: the snapshot of its exports, then the end mark. */
const endFunction = `__sawtooth_end() {
  __sawtooth_flags=$-
  set +x; builtin unset -v CDPATH __sawtooth_attributes 2>/dev/null || :
  if [[ -v __sawtooth_silent ]]; then
    BASH_XTRACEFD=$__sawtooth_trace
    exec {__sawtooth_null}>&-
    builtin unset -v __sawtooth_silent __sawtooth_trace __sawtooth_null
  fi
  __sawtooth_arm
  if [[ -s $__sawtooth_dir/${files.debugTrap} ]]; then __sawtooth_flags+=D; fi
  __sawtooth_save "$1" "$__sawtooth_dir/exports.$(($1 % 2))"
  builtin printf '\\e]7777;%s;%s;%s;%s\\a' "$__sawtooth_nonce" "$1" "$__sawtooth_status" "$__sawtooth_flags"
  if [[ $__sawtooth_flags != *e* ]]; then return "$__sawtooth_status"; fi
}`;

/**
 * Returns the script that a shell starts with. `giveUpSignal` makes it abandon the rest of the current command,
 * whatever became of the program it waits for: bash itself goes on unless that program died of SIGINT. It works only
 * while a command is being sourced: a trap that jumps out of bash's read of its input makes bash 5.2 run its stale
 * input buffer, and the memory behind it, as commands (`getc_with_restart` is left with a count of -1), until it dies
 * by SIGSEGV. All that it writes it opens for reading too, with `<>`: what a command put there may be a pipe, which
 * nobody reads, and to open that for writing alone waits for ever. So nothing is truncated, which ext4 would answer
 * with a write to the disk. The number of a snapshot stands at both ends, so that a half-written one is recognised;
 * other texts end with NUL, or in a file that we emptied before. The traps run within a command that may be traced:
 * their own trace is discarded. The first end mark reports the pid of the shell, as it sees itself, in place of a
 * status. CDPATH never outlives a command: with it `cd src` may lead anywhere.
 */
export function initScript(options: {
  folders: ShellFolders;
  /** Folder to begin in, where the process is not started in it. */
  cwd: string | undefined;
  nonce: string;
  terminal: string | undefined;
  restore: string;
  /** Number of the end mark that reports that the shell is ready. */
  number: number;
}): string {
  const { folders, cwd } = options;
  const file = (name: string) => quote(`${folders.state}/${name}`);
  return `${options.terminal ? `: <>${quote(options.terminal)}` : ":"}
${cwd === undefined ? "" : `builtin cd -- ${quote(cwd)}; unset OLDPWD`}
for __sawtooth_fd in /proc/$$/fd/* /dev/fd/*; do
  case \${__sawtooth_fd##*/} in 0|1|2|255|'*') ;; *) eval "exec \${__sawtooth_fd##*/}>&-" ;; esac
done 2>/dev/null
set +m +H
set +o history
unset HISTFILE TMOUT MAILCHECK PROMPT_COMMAND __sawtooth_fd
PS1= PS2=
__sawtooth_in=${quote(folders.in)}
__sawtooth_dir=${quote(folders.state)}
__sawtooth_nonce=${options.nonce}
__sawtooth_status=0
{ export -p; builtin printf '\\0'; } 1<>${file(files.baseline)}
${options.restore}
__sawtooth_save() {
  { builtin printf '%s\\0%s\\0' "$1" "\${PWD-}"; builtin export -p; builtin printf '\\0%s\\0' "$1"; } 1<>"$2" || :
}
__sawtooth_arm() {
  builtin trap '${quiet}; { if [[ "\${BASH_SOURCE[*]-}" == *"$__sawtooth_in/${files.command}" ]]; then builtin trap - INT; builtin kill -INT $$; fi; } 2>/dev/null' ${giveUpSignal}
}
${endFunction}
__sawtooth_job() {
  set +me
  export SAWTOOTH_JOB=$1
  ( set "$2"; eval "$__sawtooth_text" )
  builtin printf %s "$?" 1<>"$__sawtooth_dir/job-$1.status"
}
__sawtooth_leave() {
  if [[ -v __sawtooth_term ]]; then export TERM=$__sawtooth_term; fi
  { builtin declare -f; builtin alias -p; builtin printf '\\0'; } 1<>"$__sawtooth_dir/${files.functions}" || :
  __sawtooth_save 0 "$__sawtooth_dir/${files.left}"
}
trap '${quiet}; { __sawtooth_leave; } 2>/dev/null' EXIT
__sawtooth_arm
__sawtooth_status=$$; __sawtooth_end ${options.number}
__sawtooth_status=0
`;
}

export type CommandFiles = {
  folders: ShellFolders;
  input: string;
  output: string;
  tty: boolean;
  check: boolean;
};

/**
 * Returns the lines that run the staged command `number` and report its end. With `check` another bash reads it first:
 * bash 5.2 breaks its own memory over an unfinished `$(` and dies at the next heredoc.
 */
export function runLines(number: number, io: CommandFiles): string {
  const command = quote(`${io.folders.in}/${files.command}`);
  const check = io.check ? `BASH_ENV= "$BASH" -O extglob -n ${command} && ` : "";
  const run = `{ ${check}. ${command}; } <${quote(io.input)} >>${quote(io.output)} 2>&1\n`;
  if (!io.tty) return run + endLine(number);
  const before = `stty sane <${quote(io.input)} || :; __sawtooth_term=\${TERM-}; export TERM=xterm-256color\n`;
  return before + run + endLine(number, "export TERM=$__sawtooth_term; unset __sawtooth_term; ");
}

/** Returns true when a command may have an unfinished `$(`. */
export function hasOddParentheses(command: string): boolean {
  return command.includes("$(") && command.split("(").length !== command.split(")").length;
}

/** Puts the DEBUG trap aside: bash would run it for our lines too, and hide it from sourced files. */
export function endLine(number: number, before = ""): string {
  return `${quiet}; ${before}builtin trap -p DEBUG 1<>"$__sawtooth_dir/${files.debugTrap}" || :; builtin trap - DEBUG; __sawtooth_end ${number}\n`;
}

/**
 * Returns the lines that start the staged command `job-<number>.sh` in the background, in a process group of its own.
 * Its pid goes to `job-<number>.pid` at once, its status to `job-<number>.status` at its end. The shell itself opens
 * its input and output, so that both may be removed once the end mark is there.
 */
export function backgroundLines(
  number: number,
  io: { folders: ShellFolders; input: string; output: string; flags: string },
): string {
  const [script, pid] = [`${io.folders.in}/job-${number}.sh`, `${io.folders.state}/job-${number}.pid`];
  const strict = io.flags.includes("e") ? "-e" : "+e";
  return [
    `IFS= read -r -d '' __sawtooth_text <${quote(script)} || :`,
    `set -m; { __sawtooth_job ${number} ${strict} 2>&1 & } <${quote(io.input)} >>${quote(io.output)}; set +m`,
    `builtin printf %s "$!" 1<>${quote(pid)}; unset __sawtooth_text`,
    endLine(number),
  ].join("\n");
}

/** Wraps a staged command so that tracing and the DEBUG trap apply to the command and to nothing else. */
export function stagedCommand(command: string, flags: string, debugTrap: string): string {
  const prefix = `${debugTrap.trim() ? `${debugTrap.trim()}; ` : ""}${flags.includes("x") ? "set -x; " : ""}`;
  return `${prefix}${prefix ? "\n" : ""}${command}\n`;
}

/** Finds end marks in the shell's standard output, however it is split into chunks; remembers at most one mark. */
export function endScanner(nonce: string): (bytes: Buffer) => End[] {
  const start = `\x1b]7777;${nonce};`;
  const pattern = /^(\d+);(\d+);([a-zA-Z]*)\x07/;
  let pending = "";
  return (bytes) => {
    const ends: End[] = [];
    pending += bytes.toString("latin1");
    for (let at = pending.indexOf(start); at >= 0; at = pending.indexOf(start)) {
      const match = pattern.exec(pending.slice(at + start.length, at + start.length + 64));
      if (!match && pending.length - at < start.length + 64) {
        pending = pending.slice(at);
        return ends;
      }
      pending = pending.slice(at + start.length + (match?.[0].length ?? 0));
      if (match) ends.push({ number: Number(match[1]), status: Number(match[2]), flags: match[3] ?? "" });
    }
    pending = pending.slice(-start.length);
    return ends;
  };
}
