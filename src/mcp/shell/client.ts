/**
 * The program `mcp` on the shell's PATH: hands its words to us over a socket beside it, and prints what it gets. A second
 * Node would take most of the time of a short call, so it is a few lines of Perl, else Python, and Node only where
 * neither is there.
 */

import { interpreterIn } from "../../disk/interpreter.ts";

/** Name of the socket in the folder of the program. */
export const socketName = "socket";

/*
 * To us: the number of words, the words, the length of the standard input (0 unless a word is `-`), each ended by a zero
 * byte, then that input. From us: pieces, each a line `o<bytes>` (standard output) or `e<bytes>` (standard error) with
 * the bytes behind it; `p`: another program of this name may know these words; `x<code>`: the end. A socket has a short
 * path only from its own folder.
 */

const perl = `use strict; my ($dir) = $0 =~ m{^(.*)/} or die; my $text = "";
sub lost { print STDERR "mcp: $_[0]\\n"; exit 1 }
opendir(my $here, "."); chdir $dir; socket(my $s, 1, 1, 0) or lost("no socket: $!");
connect($s, pack($^O eq "linux" ? "Sa*" : "xCa*", 1, "${socketName}\\0")) or lost("its session has ended, or no longer has servers");
chdir $here; my $in = ""; if (grep { $_ eq "-" } @ARGV) { local $/; binmode STDIN; $in = <STDIN> // "" }
my $said = join("", map { "$_\\0" } scalar @ARGV, @ARGV, length $in) . $in;
while ($said ne "") { my $n = syswrite($s, $said) // lost("the session does not listen: $!"); substr($said, 0, $n, "") }
sub more { sysread($s, $text, 65536, length $text) or lost("the session ended") }
while (1) { my $end; more() while ($end = index($text, "\\n")) < 0;
  my ($kind, $n) = substr($text, 0, $end + 1, "") =~ /^(.)(\\d*)/;
  if ($kind eq "x") { close STDOUT or exit 1; exit $n }
  if ($kind eq "p") { for (split /:/, $ENV{PATH}) { exec "$_/mcp", @ARGV if $_ ne $dir && -f "$_/mcp" && -x _ } next }
  while ($n > 0) { more() if $text eq ""; my $part = substr($text, 0, $n, ""); $n -= length $part;
    if ($kind eq "o") { print STDOUT $part or exit 1 } else { print STDERR $part } } }
`;

const python = `import os, signal, socket, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL); signal.signal(signal.SIGINT, signal.SIG_DFL)
folder, words = os.path.dirname(sys.argv[0]), [os.fsencode(word) for word in sys.argv[1:]]
def lost(why): sys.stderr.write("mcp: " + why + "\\n"); sys.exit(1)
s = socket.socket(socket.AF_UNIX)
here = os.open(".", os.O_RDONLY); os.chdir(folder)
try: s.connect("${socketName}")
except OSError: lost("its session has ended, or no longer has servers")
os.chdir(here)
given = sys.stdin.buffer.read() if b"-" in words else b""
s.sendall(b"".join(word + b"\\0" for word in [b"%d" % len(words), *words, b"%d" % len(given)]) + given)
pieces = s.makefile("rb")
while True:
    line = pieces.readline()
    if not line: lost("the session ended")
    kind, n = line[:1], int(line[1:].strip() or b"0")
    if kind == b"x": sys.stdout.flush(); sys.exit(n)
    if kind == b"p":
        for one in os.environ.get("PATH", "").split(":"):
            program = one + "/mcp"
            if one != folder and os.path.isfile(program) and os.access(program, os.X_OK): os.execv(program, [program, *sys.argv[1:]])
    else:
        out = sys.stdout if kind == b"o" else sys.stderr
        out.buffer.write(pieces.read(n)); out.flush()
`;

const node = `const { connect } = require("node:net"), { dirname, join } = require("node:path"), { spawnSync } = require("node:child_process"), fs = require("node:fs");
const folder = dirname(process.argv[1]), words = process.argv.slice(2), here = process.cwd();
const lost = (why) => { fs.writeSync(2, "mcp: " + why + "\\n"); process.exit(1); };
const given = words.includes("-") ? fs.readFileSync(0) : Buffer.alloc(0);
process.chdir(folder);
const s = connect("${socketName}", () => s.write(Buffer.concat([Buffer.from([words.length, ...words, given.length].map((one) => one + "\\0").join("")), given])));
process.chdir(here);
s.on("error", () => lost("its session has ended, or no longer has servers")).on("close", () => lost("the session ended"));
process.stdout.on("error", () => process.exit(1));
let text = Buffer.alloc(0);
s.on("data", (bytes) => { text = Buffer.concat([text, bytes]);
  for (let end; (end = text.indexOf(10)) >= 0; ) {
    const kind = String.fromCharCode(text[0]), n = Number(text.subarray(1, end).toString());
    if (kind === "x") { s.pause(); s.removeAllListeners("close"); return void process.stdout.write("", () => process.exit(n)); }
    if (kind === "p") { text = text.subarray(end + 1);
      for (const one of (process.env.PATH ?? "").split(":")) { const program = join(one, "mcp"); if (one === folder || !fs.existsSync(program)) continue;
        process.exit(spawnSync(program, words, { stdio: "inherit" }).status ?? 1); } continue; }
    if (text.length < end + 1 + n) return;
    const part = text.subarray(end + 1, end + 1 + n); text = text.subarray(end + 1 + n);
    (kind === "o" ? process.stdout : process.stderr).write(part); } });
`;

/** Returns the text of the program. `folders`: where Perl and Python are looked for. */
export function clientProgram(folders?: readonly string[]): string {
  const [program] = interpreterIn({ perl, python }, folders) ?? [];
  if (program === undefined) return `#!${process.execPath}\n${node}`;
  return program.endsWith("perl") ? `#!${program}\n${perl}` : `#!${program} -I\n${python}`;
}
