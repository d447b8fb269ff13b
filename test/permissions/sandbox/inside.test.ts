import { describe, expect, test } from "vitest";
import type { PermissionMode } from "../../../src/core/decision.ts";
import type { Access } from "../../../src/core/ports.ts";
import type { SandboxPlan } from "../../../src/core/sandbox.ts";
import { decidePermission } from "../../../src/permissions/decide.ts";

const plan: SandboxPlan = {
  ...{ writable: ["/w/app"], readOnly: ["/w/app/node_modules/sawtooth"], pinned: [], withoutTokens: [] },
  ...{ hidden: ["/h/me/.aws", "/h/me/.config/sawtooth"], watched: [], hosts: [], ports: [], devices: [] },
  ...{ sockets: { mask: [], pass: [] }, environment: { pass: [], drop: [] }, why: {} },
};

function decide(
  access: Access,
  mode: PermissionMode,
  more: { full?: boolean; deny?: string[]; tracked?: () => string[] } = {},
): string {
  return decidePermission({
    ...{ mode, allow: [], deny: more.deny ?? [], workspace: ["/w/app"], home: "/h/me", protectedPaths: [] },
    ...{ toolName: access.kind === "execute" ? "bash" : "str_replace_editor", access },
    sandbox: { plan, full: more.full ?? true },
    ...{ temporary: "/s/temp", tracked: more.tracked },
  }).decision;
}

const run = (command: string, mode: PermissionMode, more = {}) =>
  decide({ kind: "execute", command }, mode, more);

describe("inside of a sandbox with every wall", () => {
  test.each<[string, PermissionMode, string]>([
    ["npm test", "ask", "ask"],
    ["npm test", "accept-edits", "allow"],
    ["npm test", "plan", "allow"],
    ["npm test", "auto", "allow"],
    ["ls", "ask", "allow"],
    ["$(unreadable) | sh", "accept-edits", "allow"],
    ["git push origin main", "accept-edits", "ask"],
    ["git -C sub push", "accept-edits", "ask"],
    ["git stash push", "accept-edits", "allow"],
    ["git commit -m push", "accept-edits", "allow"],
    ["rm -rf ~", "auto", "deny"],
    ["echo x > .git/hooks/pre-commit", "accept-edits", "deny"],
  ])("%s in %s: %s", (command, mode, decision) => {
    expect(run(command, mode)).toBe(decision);
  });

  test.each([
    ["rm -rf src", "ask"],
    ["rm -r /w/app/src/*", "ask"],
    ["rm -rf s*", "ask"],
    ["cd src && rm -f *.ts", "ask"],
    ["git rm -rq src", "ask"],
    ["git -C src rm -rq .", "ask"],
    ["find src -delete", "ask"],
    ["ls | xargs rm -rf src", "ask"],
    ["rm -rf src/1.ts build node_modules", "allow"],
    ["rm -rf docs", "allow"],
    ["git rm -rq --cached src", "allow"],
    ["mv src lib", "allow"],
  ])("deleting more than 50 files that git tracks: %s is %s in accept-edits", (command, decision) => {
    const files = (folder: string, count: number) =>
      Array.from({ length: count }, (_, index) => `/w/app/${folder}/${index}.ts`);
    const tracked = () => [...files("src", 51), ...files("docs", 50)];
    expect(run(command, "accept-edits", { tracked })).toBe(decision);
    expect(run(command, "auto", { tracked })).toBe("allow");
  });

  test("a wall that is missing leaves every question as it was", () => {
    expect(run("npm test", "accept-edits", { full: false })).toBe("ask");
    expect(run("npm test", "plan", { full: false })).toBe("deny");
  });

  test("deny rules hold; a rule on files that the kernel enforces needs no guess", () => {
    expect(run("git push", "auto", { deny: ["bash(git push:*)"] })).toBe("deny");
    expect(run("node x.js .env", "accept-edits", { deny: ["read(.env)"] })).toBe("allow");
    expect(run("node x.js .env", "accept-edits", { full: false, deny: ["edit(.env)"] })).toBe("ask");
  });
});

describe("the editor obeys the plan of the sandbox", () => {
  test.each<PermissionMode>(["ask", "accept-edits", "plan", "auto"])(
    "hidden paths are denied in %s",
    (mode) => {
      expect(decide({ kind: "read", paths: ["/h/me/.aws/credentials"] }, mode)).toBe("deny");
      expect(decide({ kind: "write", paths: ["/h/me/.aws/credentials"] }, mode)).toBe("deny");
    },
  );

  test("what commands cannot write it cannot write, what they can read it can read, temporary files are free", () => {
    expect(decide({ kind: "write", paths: ["/w/app/node_modules/sawtooth/dist/main.js"] }, "auto")).toBe(
      "deny",
    );
    expect(decide({ kind: "read", paths: ["/usr/include/stdio.h"] }, "accept-edits")).toBe("allow");
    expect(decide({ kind: "read", paths: ["/usr/include/stdio.h"] }, "ask")).toBe("ask");
    expect(decide({ kind: "write", paths: ["/s/temp/x.py"] }, "accept-edits")).toBe("allow");
    expect(decide({ kind: "read", paths: ["/s/temp/x.py"] }, "ask")).toBe("allow");
  });

  test("what other programs run is asked for, as without a sandbox", () => {
    expect(decide({ kind: "write", paths: ["/w/app/.vscode/tasks.json"] }, "accept-edits")).toBe("ask");
    expect(decide({ kind: "write", paths: ["/w/app/.vscode/tasks.json"] }, "auto")).toBe("allow");
  });
});
