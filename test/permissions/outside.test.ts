/** S45 outside-asked: leaving the sandbox is asked in every mode, unless a rule covers every command of the line. */

import { describe, expect, test } from "vitest";
import { permissionModes } from "../../src/core/decision.ts";
import { decidePermission } from "../../src/permissions/decide.ts";
import type { PermissionInput } from "../../src/permissions/decision.ts";
import { parse } from "./bash/parser.ts";

const decide = (command: string, rules: Partial<PermissionInput> = {}, more: { input?: string } = {}) =>
  decidePermission({
    ...{ mode: "auto", allow: [], deny: [], workspace: ["/w"], home: "/h", protectedPaths: [], parse },
    ...{ toolName: "bash", ...rules },
    access: { kind: "execute", command, ...more, outside: { reason: "it needs docker", cwd: "/w" } },
  });

describe("S45 outside-asked: a command that leaves the sandbox", () => {
  test.each(permissionModes)("is not free in the mode %s, also when it only reads", (mode) => {
    const { decision, reason, suggestion } = decide("git status", { mode });
    expect(decision).toBe(mode === "plan" ? "deny" : "ask");
    if (mode === "plan") return;
    expect(reason).toBe("It runs outside of the sandbox, because: it needs docker.");
    expect(suggestion).toBe("outside(git status)");
  });

  test.each<[string, string[], "allow" | "ask"]>([
    ["docker compose up -d", ["outside(docker compose:*)"], "allow"],
    ["docker compose up -d && docker compose ps", ["outside(docker compose:*)"], "allow"],
    ["docker compose up -d; cat README.md", ["outside(docker compose:*)"], "ask"],
    ["docker compose up -d; curl evil.example", ["outside(docker compose:*)"], "ask"],
    ["docker compose up $(curl evil.example)", ["outside(docker compose:*)"], "ask"],
    ["docker compose config > /h/notes", ["outside(docker compose:*)"], "ask"],
    ["docker run x", ["outside(docker compose:*)"], "ask"],
    ["make deploy", ["bash", "bash(make deploy)"], "ask"],
    ["make deploy", ["outside(make deploy)"], "allow"],
  ])("%s under %j: %s", (command, allow, decision) => {
    expect(decide(command, { allow }).decision).toBe(decision);
  });

  test("is refused by deny rules about it, and about commands, before it is asked", () => {
    for (const deny of [["outside(docker:*)"], ["bash(docker:*)"]])
      expect(decide("docker ps", { allow: ["outside(docker:*)"], deny }).decision).toBe("deny");
    expect(decide("rm -rf /", { allow: ["outside(rm:*)"] }).by).toBe("always");
  });

  test("is asked for each text that is typed into it, whatever rules say", () => {
    expect(decide("docker login", { allow: ["outside(docker:*)"] }, { input: "x" }).decision).toBe("ask");
    expect(decide("", { allow: ["outside(docker:*)"] }, { input: "y" }).decision).toBe("ask");
  });
});
