/** A git repository whose own files name programs to run. Each says that it ran by writing to one file. */

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type HostileRepository = {
  /** Runs git in the repository as it stands, without any settings of the machine. */
  git(...words: string[]): string;
  /** Adds `[section]` lines to `.git/config`. */
  configure(text: string): void;
  write(path: string, text: string): void;
  /** Path of the program that the repository names. */
  program: string;
  /** The arguments that the program was called with so far; undefined when it never ran. */
  ran(): string | undefined;
  forget(): void;
};

/** A repository with one commit in `folder`; the program lies in `outside`. */
export function hostileRepository(folder: string, outside: string): HostileRepository {
  const program = join(outside, "planted");
  const marker = join(outside, "ran");
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >>'${marker}'\ncat 2>/dev/null\n`);
  chmodSync(program, 0o755);
  mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env.PATH ?? "", HOME: outside, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
  const who = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
  const git = (...words: string[]): string =>
    execFileSync("git", [...who, ...words], {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  git("init", "-q", "-b", "main");
  write("a.txt", "one\n");
  write(".gitattributes", "*.txt filter=x diff=x\n");
  git("add", ".");
  git("commit", "-q", "-m", "first");
  return {
    git,
    write,
    program,
    configure: (text) => writeFileSync(join(folder, ".git/config"), text, { flag: "a" }),
    ran: () => (existsSync(marker) ? readFileSync(marker, "utf8") : undefined),
    forget: () => rmSync(marker, { force: true }),
  };
}
