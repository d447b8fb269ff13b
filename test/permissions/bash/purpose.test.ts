/** The purpose of command lines: their kind, and the files that they name. */

import { describe, expect, test } from "vitest";
import { commandPurpose } from "../../../src/permissions/bash/purpose.ts";

const kindOf = (command: string) => commandPurpose(command, "/w").kind;

describe("the kind of a command", () => {
  test.each([
    ...[
      "cat a.ts",
      "cd x && cat -n a.ts",
      "sed -n '1,80p' a.ts",
      "head -50 a.ts",
      "tail -n +5 a.ts | head -20",
    ],
    ...[
      "cat a.ts | sed -n 1,9p",
      "git show HEAD:a.ts",
      "nl -ba a.ts",
      "FOO=1 env BAR=2 cat a.ts",
      "awk 'NR>3' a.ts",
    ],
    ...[
      "find . -name a.ts | xargs cat",
      "bash -c 'cat a.ts'",
      "sed -i s/a/b/ a.ts && cat a.ts",
      "cat a 2>/dev/null",
    ],
    ...["for f in a b; do cat $f; done", "mkdir x; cat a.ts"],
  ])("%s reads", (command) => {
    expect(kindOf(command)).toBe("read");
  });

  test.each([
    ...[
      "grep -rn x src",
      "rg x",
      "find . -name '*.ts'",
      "ls -la",
      "git grep x",
      "cat a.ts | grep x",
      "tree src",
    ],
    ...[
      "grep -n x a.ts | head",
      "wc -l a.ts",
      "find . -exec grep x {} +",
      "git ls-files | head",
      "cd a && ls",
    ],
  ])("%s searches", (command) => {
    expect(kindOf(command)).toBe("search");
  });

  test.each([
    ...[
      "npm test",
      "npm run test:unit",
      "npx vitest run a",
      "pytest -q | tail -5",
      "python -m pytest tests",
      "make check",
    ],
    ...[
      "cargo test",
      "go test ./...",
      "timeout 60 npm test 2>&1 | tail -30",
      "uv run pytest",
      "npx tsc --noEmit",
    ],
    ...[
      "cd pkg && npm run check",
      "node --test",
      "python manage.py test",
      "bash -c 'npm test'",
      "sh test/run.sh",
    ],
    ...[
      "cat > a.test.ts <<'E'\nx\nE\nnpm test",
      "npm test > out.log; tail out.log",
      "mise run lint",
      "./runtests.py a",
    ],
  ])("%s tests", (command) => {
    expect(kindOf(command)).toBe("test");
  });

  test.each([
    ...[
      "sed -i s/a/b/ a.ts",
      "cat > a.ts <<'E'\nconst a = 1;\nE",
      "echo x >> a.ts",
      "echo x | tee a.ts",
      "cp a b",
    ],
    ...[
      "git apply x.patch",
      "patch -p1 < x.patch",
      "perl -pi -e s/a/b/ a.ts",
      "rm a.ts",
      "printf x > a",
      "mkdir -p a/b",
    ],
    ...["cat a.ts > b.ts", "sed s/a/b/ a.ts > b.ts", "cd x && mv a b"],
  ])("%s edits", (command) => {
    expect(kindOf(command)).toBe("edit");
  });

  test.each([
    ...[
      "git status",
      "git diff",
      "git commit -m 'cat a'",
      "npm install",
      "python test_issue.py",
      "go build ./...",
    ],
    ...[
      "python -c 'print(1)'",
      "curl example.com",
      "ps aux | grep node",
      "cat > t.py <<E\nx\nE\npython t.py",
      "",
      "))(",
    ],
  ])("%s does something else", (command) => {
    expect(kindOf(command)).toBe("other");
  });
});

describe("the files that a command names", () => {
  test("are absolute, after its cd", () => {
    expect(commandPurpose("cd src && cat a.ts ../b.ts", "/w")).toEqual({
      kind: "read",
      read: ["/w/src/a.ts", "/w/b.ts"],
      wrote: [],
    });
  });

  test("are those that it writes, whatever else it does", () => {
    const { kind, wrote } = commandPurpose("sed -i s/a/b/ x.ts && cat > y.ts <<E\nz\nE\nnpm test", "/w");
    expect({ kind, wrote }).toEqual({ kind: "test", wrote: ["/w/x.ts", "/w/y.ts"] });
  });

  test("leave out what only the shell knows", () => {
    expect(commandPurpose('cat "$FILE" *.ts > /dev/null', "/w")).toEqual({
      kind: "read",
      read: [],
      wrote: [],
    });
  });
});

test("a long heredoc is no reason to misread what follows it", () => {
  const body = "line of data\n".repeat(2_000);
  expect(kindOf(`cat > a.py <<'EOF'\n${body}EOF\npytest a.py`)).toBe("test");
});
