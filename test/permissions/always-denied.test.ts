/** Refusals that hold in every mode (T04, T33), as a pure function: nothing here runs a command. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import type { Access } from "../../src/core/ports.ts";
import { decidePermission, type PermissionMode } from "../../src/permissions/decide.ts";
import type { PermissionInput } from "../../src/permissions/decision.ts";
import { growthOver4 } from "../support/growth.ts";
import { parse } from "./bash/parser.ts";

const home = "/home/u";
const modes: PermissionMode[] = ["ask", "accept-edits", "plan", "auto"];

function decide(access: Access, options: Partial<PermissionInput> = {}) {
  return decidePermission({
    ...{ mode: "auto", allow: [], deny: [], toolName: "bash", access, home },
    workspace: ["/home/u/app"],
    protectedPaths: [`${home}/.config/sawtooth`],
    parse,
    ...options,
  });
}

const run = (command: string, options: Partial<PermissionInput> = {}) =>
  decide({ kind: "execute", command }, options);

describe("deleting the home, the root or a .git", () => {
  test.each([
    "rm -rf ~",
    "rm -rf ~/",
    'rm -rf "$HOME"',
    'rm -rf "${HOME}/"',
    "rm -rf ${HOME}",
    "rm -rf /home/u",
    "rm -rf /home/u/.",
    "rm -rf /home/u/app/..",
    "rm -rf /home//u//",
    "rm -rf ..",
    "rm -rf ../*",
    "rm -rf /home",
    "rm -rf /home/*",
    "rm -rf /h*",
    "rm -rf ~/*",
    "rm -rf ~/.*",
    "rm -rf ~/{*,.*}",
    "rm -rf {~,x}",
    "rm -rf ~u",
    "rm -fr -- ~",
    "rm ~ -r -f",
    "rm -rf /",
    "rm -rf /*",
    "rm -rf //",
    "rm -rf /.",
    "rm -rf --no-preserve-root /",
    "rm -rf /etc /usr",
    "cd / && rm -rf *",
    "cd /; rm -rf ./*",
    "cd ~ && rm -rf *",
    "cd && rm -rf *",
    "(cd ~; rm -rf *)",
    "cd $NOWHERE && rm -rf *",
    'X=; rm -rf "$X"/*',
    'rm -rf "$X"/*',
    "rm -rf $X/",
    "X=~; rm -rf $X",
    "X=$HOME rm -rf ~",
    "export D=/; rm -rf $D",
    "for d in ~; do rm -rf $d; done",
    "for d in build ~; do rm -rf $d; done",
    'for d in build dist ~; do rm -rf "$d"/*; done',
    "true >& - | rm -rf ~",
    ">&-rm -rf ~",
    "r\\\nm -rf ~",
    "rm -rf \\\n~",
    "rm -rf $(echo ~)",
    "find ~ -delete",
    "find / -type f -delete",
    "find ~ -mindepth 1 -delete",
    "find ~ -name '*' -delete",
    "find ~ ! -name keep -delete",
    "find . -delete",
    "find -delete",
    "find ~ -exec rm -rf {} +",
    "echo ~ | xargs rm -rf",
    "echo 'rm -rf ~' | sh",
    "sh -c 'rm -rf ~'",
    'bash -c "rm -rf $HOME"',
    "eval 'rm -rf ~'",
    "sudo rm -rf /",
    "env -i rm -rf ~",
    "/bin/rm -rf ~",
    "\\rm -rf ~",
    "'rm' -rf ~",
    "command rm -rf ~",
    "true && { rm -rf ~; }",
    "x=`rm -rf ~`",
    "cat <<EOF | sh\nrm -rf ~\nEOF",
    "mv ~ /tmp/x",
    "chmod -R 000 /",
    "chown -R nobody ~",
    "rsync -a --delete empty/ ~/",
    "shred -u ~/*",
    "rm -rf .git",
    "rm -rf ./.git/",
    "rm -rf sub/.git",
    "rm -rf .gi*",
    "rm -rf .*",
    "rm -rf .git/*",
    "rm -rf .git/objects",
    "cd .git && rm -rf *",
    "mv .git /tmp",
    "find . -name .git -exec rm -rf {} +",
    "rm -rf /home/u/app",
    "dd if=/dev/zero of=/dev/sda",
    "dd of=/dev/sda",
    "cat x > /dev/sda",
    "mkfs.ext4 /dev/sdb1",
  ])("is refused in every mode and against every rule: %s", (command) => {
    for (const mode of modes) {
      const decided = run(command, { mode, allow: ["bash", `bash(${command})`] });
      expect(decided).toMatchObject({ decision: "deny", by: "always", rule: "refused always" });
      expect(decided.reason).toMatch(/^Refused in every mode: .+\.$/);
    }
  });

  test.each([
    ["sh", "rm -rf ~"],
    ["bash -s", "cd /\nrm -rf *"],
    ["cat | sh", "rm -rf ~"],
    ["", "rm -rf ~\n"],
  ])("is refused in what is typed to %j", (command, input) => {
    expect(decide({ kind: "execute", command, input }, { allow: ["bash"] })).toMatchObject({ by: "always" });
    expect(decide({ kind: "execute", command: "python3 notes.py", input }).decision).toBe("allow");
  });

  test("is seen through a link", () => {
    const realPath = (path: string) => path.replace(/^\/home\/u\/app\/out(?=\/|$)/, "/home/u");
    for (const command of ["rm -rf out/*", "rm -rf out/.git", "echo x > out/.bashrc", "cp x out/.ssh/config"])
      expect(run(command, { realPath })).toMatchObject({ decision: "deny", by: "always" });
    for (const command of ["rm out", "rm -rf out/build", "echo x > out/x"])
      expect(run(command, { realPath }).decision).toBe("allow");
    const reads = (command: string) => run(command, { realPath, mode: "accept-edits" }).decision;
    expect([reads("cat out/x"), reads("cat < out/x"), reads("cat x")]).toEqual(["ask", "ask", "allow"]);
  });

  test("is seen whatever the home is called", () => {
    for (const odd of ["", "/", "/root", "/home/u/"])
      expect(run("rm -rf ~/*", { home: odd })).toMatchObject({ decision: "deny", by: "always" });
  });

  test("of the folder itself is refused where the agent works in the home", () => {
    const atHome = { workspace: [home] };
    for (const command of ["rm -rf ./*", "rm -rf *", "rm *", "cd app; rm -rf *", "find . -delete"])
      expect(run(command, atHome)).toMatchObject({ decision: "deny", by: "always" });
    expect(run("rm -rf *", { cwd: home })).toMatchObject({ decision: "deny", by: "always" });
    expect(run("cd app && rm -rf *", atHome).decision).toBe("allow");
  });

  test.each([
    "rm -r './~'",
    "rm -rf '~'",
    "rm -rf \\~",
    "rm -rf ./*",
    "rm -rf node_modules dist/*",
    "rm -rf ~/app/build",
    "rm -rf ~/old*",
    "rm -rf /tmp/x",
    "rm -rf .github .gitignore",
    "rm -f .git/index.lock",
    "rm -rf .git/rebase-merge",
    'rm -rf "${X:?}"/*',
    'tmp=$(mktemp -d); rm -rf "$tmp"',
    "find . -name '*.pyc' -delete",
    "find . -name '*.pyc' -not -path './.git/*' -delete",
    "find /tmp/x -mtime +3 -delete",
    "cd build && rm -rf *",
    "echo rm -rf /",
    "git commit -m 'no more rm -rf /'",
    "grep -rn 'rm -rf ~' .",
    "cat > doc.md <<'EOF'\nnever run `rm -rf ~`\nEOF",
    "git clean -fdx",
    "git reset --hard HEAD~1",
    "git rm -rf .",
    "chmod -R u+w build",
    "dd if=/dev/urandom of=x count=1",
    "cp -r ~/app/.git /tmp/backup",
  ])("is not seen where it is not: %s", (command) => {
    expect(run(command).decision).toBe("allow");
  });
});

describe("writing what makes others run things", () => {
  const paths = [
    `${home}/.config/sawtooth/settings.json`,
    `${home}/.config/sawtooth/AGENTS.md`,
    `${home}/app/.git/hooks/pre-commit`,
    `${home}/app/vendor/sub/.git/hooks/x`,
    `${home}/app/.git/modules/sub/hooks/post-checkout`,
    `${home}/app/.GIT/hooks/x`,
    `${home}/app/.git/config`,
    `${home}/.bashrc`,
    `${home}/.profile`,
    `${home}/.zshenv`,
    `${home}/.config/fish/config.fish`,
    `${home}/.ssh/authorized_keys`,
    `${home}/.gitconfig`,
  ];

  test.each(paths)("is refused to the editor in every mode: %s", (path) => {
    for (const mode of modes) {
      const decided = decide(
        { kind: "write", paths: [path] },
        { mode, allow: ["edit", "str_replace_editor"], toolName: "str_replace_editor" },
      );
      expect(decided).toMatchObject({ decision: "deny", by: "always" });
    }
  });

  test.each(paths)("is refused to commands in every mode: %s", (path) => {
    for (const command of [
      `echo x >> ${path}`,
      `echo x | tee -a ${path}`,
      `cp x ${path}`,
      `sed -i s/a/b/ ${path}`,
      `dd if=x of=${path}`,
      `./tool ${path}`,
    ])
      for (const mode of modes)
        expect(run(command, { mode, allow: ["bash"] })).toMatchObject({ decision: "deny", by: "always" });
  });

  test.each([
    "mv prepared .git/hooks",
    "cp -r hooks .git/",
    "cp -t .git/hooks a b",
    "ln -s ../evil .git/hooks",
    "cd .git/hooks && cp ../../x pre-commit",
    "cd .git && mv x hooks",
    "echo x > .git/hoo''ks/a",
    "chmod +x .git/hooks/pre-commit",
    "git config core.hooksPath evil",
    "git config --global alias.st '!x'",
    "echo x >> ~/.bashrc",
    'echo x >> "$HOME"/.bashrc',
    "sh -c 'echo x >> ~/.bashrc'",
    "> .git/hooks/x",
    "curl -o ~/.bashrc x",
    "dd if=x of=~/.bashrc",
    "wget --output-document=/home/u/.bashrc x",
    "echo x | sudo tee ~/.bashrc",
  ])("is refused by other ways too: %s", (command) => {
    expect(run(command, { allow: ["bash"] })).toMatchObject({ decision: "deny", by: "always" });
  });

  test.each([
    "source ~/.bashrc",
    "cat ~/.bashrc",
    "cat .git/hooks/pre-commit",
    "ls .git/hooks",
    "cp .git/hooks/a.sample /tmp/x",
    "git config core.hooksPath",
    "git config user.name x",
    "diff ~/.bashrc a",
    "mkdir src/hooks && touch src/hooks/a.ts",
  ])("is not seen in reading: %s", (command) => {
    expect(run(command).decision).toBe("allow");
  });
});

const longLines: [what: string, line: (size: number) => string, size: number][] = [
  ["many words", (size) => `echo ${"a ".repeat(size)}`, 5_000],
  ["words that a rule may forbid", (size) => `./x ${"a ".repeat(size)}`, 1_250],
  ["brackets and substitutions that are never closed", (size) => "(".repeat(size) + "$(".repeat(size), 500],
  ["a here-document of substitutions", (size) => `cat <<EOF\n${"line `x` $(y)\n".repeat(size)}EOF`, 125],
  ["globs and braces that stand for a million words", (size) => `rm *a*b ${"{a,b}".repeat(size)}`, 20],
  ["stars in one word", (size) => `rm ${"*a".repeat(size)}b`, 10],
];

test.each(longLines)(
  "the cost of judging a line grows with its length, not faster: %s",
  (_what, line, size) => {
    const work = (length: number) => run(line(length), { deny: ["bash(rm:*)"] });
    expect(growthOver4(work, size, 10)).toBeLessThan(10);
  },
);
