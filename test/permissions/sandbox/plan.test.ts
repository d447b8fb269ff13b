import { describe, expect, test } from "vitest";
import type { SandboxPlan } from "../../../src/core/sandbox.ts";
import { parseRule } from "../../../src/permissions/parse-rule.ts";
import {
  type Found,
  type PlanInput,
  protectionOf,
  sandboxPlan,
} from "../../../src/permissions/sandbox/plan.ts";
import { withoutTokens } from "../../../src/permissions/sandbox/protected-paths.ts";

const home = "/h/me";
const existing = [
  "/w/app/.git/hooks/",
  "/w/app/.git/config",
  "/w/app/.git/modules/m/hooks/",
  "/w/app/.git/modules/m/HEAD",
  "/w/app/.git/modules/lib/deep/config",
  "/w/app/.git/modules/lib/deep/HEAD",
  "/w/app/.git/worktrees/tree/commondir",
  "/w/app/.git/worktrees/tree/HEAD",
  "/w/app/.vscode/",
  "/w/app/src/a.ts",
  "/w/app/.env",
  "/w/app/vendor/sub/.git/hooks/",
  "/w/app/vendor/sub/.git/config",
  "/w/app/node_modules/sawtooth/",
  `${home}/.ssh/id_rsa`,
  `${home}/.ssh/known_hosts`,
  `${home}/.aws/credentials`,
  `${home}/Library/Application Support/Google/Chrome/Default/Cookies`,
  `${home}/.npmrc`,
  `${home}/.bashrc`,
  `${home}/.cargo/registry/x`,
  `${home}/.config/sawtooth/settings.json`,
  `${home}/.local/state/sawtooth/sessions/s1/shell/state/`,
  `${home}/.local/state/sawtooth/sessions/s1/artifacts/`,
];

/** Answers as a disk with these paths would; a path that ends in a slash is a folder, as are those above any. */
function disk(paths: readonly string[]): Pick<Found, "kind" | "realPath" | "matches" | "names"> {
  const isFolder = (path: string) => paths.some((one) => one.startsWith(`${path}/`));
  return {
    kind: (path) => (isFolder(path) ? "folder" : paths.includes(path) ? "file" : undefined),
    realPath: (path) => path,
    matches: (glob) =>
      paths.filter((path) => new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(path)),
    names: (folder) => [
      ...new Set(
        paths
          .filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1).split("/")[0] ?? ""),
      ),
    ],
  };
}

function plan(
  input: Partial<Omit<PlanInput, "allow" | "deny">> & { allow?: string[]; deny?: string[] } = {},
): SandboxPlan {
  const { allow = [], deny = [], ...rest } = input;
  const session = `${home}/.local/state/sawtooth/sessions/s1`;
  return sandboxPlan({
    mode: "accept-edits",
    allow: allow.map(parseRule),
    deny: deny.map(parseRule),
    workspace: ["/w/app"],
    home,
    own: [`${home}/.config/sawtooth`, `${home}/.local/state/sawtooth`],
    session: { readable: [`${session}/artifacts`], writable: [`${session}/shell/state`] },
    found: {
      ...disk(existing),
      repositories: [
        { folder: "/w/app", gitFolders: ["/w/app/.git"], vouched: true },
        { folder: "/w/app/vendor/sub", gitFolders: ["/w/app/vendor/sub/.git"], vouched: false },
      ],
      programs: ["/w/app/node_modules/sawtooth"],
      sockets: ["/var/run/docker.sock", "/srv/db.sock"],
      namedSockets: { docker: ["/var/run/docker.sock"] },
    },
    ...rest,
  });
}

describe("the plan of a session's sandbox", () => {
  test.each([
    ["/w/app/src/a.ts", "writable"],
    ["/w/app/.git/index", "writable"],
    ["/w/app/.git/hooks/pre-commit", "readOnly"],
    ["/w/app/.git/config", "readOnly"],
    ["/w/app/.git/modules/m/hooks/x", "readOnly"],
    ["/w/app/.git/modules/lib/deep/config", "readOnly"],
    ["/w/app/.git/worktrees/tree/commondir", "readOnly"],
    ["/w/app/.git/worktrees/tree/HEAD", "writable"],
    ["/w/app/vendor/sub/.git/hooks/x", "readOnly"],
    ["/w/app/.vscode/tasks.json", "readOnly"],
    ["/w/app/node_modules/sawtooth/dist/main.js", "readOnly"],
    ["/w/app-evil/a", "open"],
    ["/etc/passwd", "open"],
    [`${home}/.ssh/id_rsa`, "hidden"],
    [`${home}/.ssh/known_hosts`, "readOnly"],
    [`${home}/.aws/credentials`, "hidden"],
    [`${home}/Library/Application Support/Google/Chrome/Default/Cookies`, "hidden"],
    [`${home}/.npmrc`, "hidden"],
    [`${home}/.config/sawtooth/settings.json`, "hidden"],
    [`${home}/.local/state/sawtooth/sessions/s2/log.jsonl`, "hidden"],
    [`${home}/.local/state/sawtooth/sessions/s1/artifacts/1.txt`, "readOnly"],
    [`${home}/.local/state/sawtooth/sessions/s1/shell/state/exports.0`, "writable"],
  ])("treats %s as %s", (path, protection) => {
    expect(protectionOf(plan(), path)).toBe(protection);
  });

  test("pins every folder that could be renamed away with its wall", () => {
    expect(plan().pinned).toEqual(
      expect.arrayContaining(["/w/app/.git", "/w/app/vendor", "/w/app/vendor/sub", "/w/app/vendor/sub/.git"]),
    );
    expect(plan().pinned).not.toContain("/w/app");
  });

  test("S14 read-rule-parity: a file that a rule denies is hidden, and a rule shows what is hidden by default", () => {
    expect(protectionOf(plan({ deny: ["read(.env*)"] }), "/w/app/.env")).toBe("hidden");
    expect(protectionOf(plan({ allow: ["read(~/.aws/**)"] }), `${home}/.aws/credentials`)).toBe("open");
    expect(protectionOf(plan({ allow: ["read(~/.ssh/id_rsa)"] }), `${home}/.ssh/id_rsa`)).toBe("readOnly");
    expect(protectionOf(plan({ allow: ["read(~/.aws)"] }), `${home}/.aws/credentials`)).toBe("open");
    expect(plan({ deny: ["read(.env*)"] }).why["/w/app/.env"]).toBe("the rule read(.env*)");
  });

  test("S22 roots-by-call: writable are the workspace and what a rule of the person names, nothing else", () => {
    const session = `${home}/.local/state/sawtooth/sessions/s1/shell/state`;
    expect(plan().writable).toEqual(["/w/app", session]);
    expect(plan({ allow: ["edit(~/.cargo/registry/**)"] }).writable).toContain(`${home}/.cargo/registry`);
    expect(plan({ allow: ["edit(@cargo)"] }).writable).toContain(`${home}/.cargo/registry`);
    expect(plan({ allow: ["edit", "edit(src/**)", "bash"] }).writable).toEqual(["/w/app", session]);
    expect(protectionOf(plan({ workspace: [home] }), `${home}/.bashrc`)).toBe("readOnly");
    expect(protectionOf(plan({ deny: ["edit(src/**)"] }), "/w/app/src/a.ts")).toBe("readOnly");
  });

  test("S21 plan-mode: the workspace is read-only", () => {
    expect(protectionOf(plan({ mode: "plan" }), "/w/app/src/a.ts")).toBe("open");
  });

  test("watches the names that do not exist yet, and masks every socket but those of a rule", () => {
    expect(plan().watched).toEqual(expect.arrayContaining(["/w/app/.envrc", "/w/app/vendor/sub/.vscode"]));
    expect(plan().watched).not.toContain("/w/app/.vscode");
    expect(plan().sockets).toEqual({ mask: ["/var/run/docker.sock", "/srv/db.sock"], pass: [] });
    expect(plan({ allow: ["socket(docker)"] }).sockets.mask).toEqual(["/srv/db.sock"]);
  });

  test("git data outside of the workspace is writable only when it names this work tree", () => {
    const repositories = (vouched: boolean) => [
      { folder: "/w/app", gitFolders: ["/srv/repo/.git"], vouched },
    ];
    const with_ = (vouched: boolean) =>
      plan({
        found: {
          ...disk([...existing, "/srv/repo/.git/hooks/"]),
          ...{ repositories: repositories(vouched), programs: [], sockets: [], namedSockets: {} },
        },
      });
    expect(protectionOf(with_(true), "/srv/repo/.git/objects")).toBe("writable");
    expect(protectionOf(with_(true), "/srv/repo/.git/hooks/x")).toBe("readOnly");
    expect(protectionOf(with_(false), "/srv/repo/.git/objects")).toBe("open");
  });
});

describe("rules about the sandbox", () => {
  test.each([
    "host(@npm)",
    "host(db.example:5432 full)",
    "socket(ssh-agent)",
    "socket(/run/x.sock)",
    "env(DATABASE_URL)",
    "port(3000)",
    "device(gpu)",
    "outside(docker compose:*)",
    "edit(@go)",
  ])("%s is one", (rule) => {
    expect(parseRule(rule).text).toBe(rule);
  });

  test.each([
    ["socket(postgres)", /write socket\(\/absolute\/path\) or one of socket\(ssh-agent\)/],
    ["env(A*)", /write env\(NAME\)/],
    ["port(70000)", /write port\(3000\), a number from 1 to 65535/],
    ["port", /write port/],
    ["device(/dev/sda)", /write device\(gpu\)/],
    ["edit(@maven)", /names no known cache: write one of edit\(@npm-cache\)/],
  ])("%s is refused with how to write it", (rule, message) => {
    expect(() => parseRule(rule)).toThrow(message);
  });
});

test("the settings of a package manager are shown without the lines of their tokens", () => {
  const npmrc =
    "registry=https://registry.example/\n//registry.example/:_authToken=npm_123\nsave-exact=true\n";
  expect(withoutTokens(npmrc)).toBe("registry=https://registry.example/\nsave-exact=true\n");
  expect(withoutTokens("[pypi]\nusername = u\npassword = p\n[x]\nrepository = https://u:p@host/")).toBe(
    "[pypi]\n[x]",
  );
});
