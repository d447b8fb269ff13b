/** The environment that the programs of a session get. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { childEnvironment } from "../../../src/tools/bash/shell/environment.ts";

test("secrets are left out, and one that is let through by name is not", () => {
  const env = { PATH: "/bin", STRIPE_KEY: "rk_1", DATABASE_URL: "postgres://a:b@c/d" };
  expect(childEnvironment(env)).not.toHaveProperty("STRIPE_KEY");
  expect(childEnvironment(env)).not.toHaveProperty("DATABASE_URL");
  expect(childEnvironment(env, undefined, new Set(["STRIPE_KEY"]))).toHaveProperty("STRIPE_KEY", "rk_1");
});

test("git works although a setting that the user gave it by the environment is a secret", () => {
  const env = childEnvironment({
    ...{ PATH: process.env.PATH, HOME: "/nowhere", GIT_CONFIG_COUNT: "2" },
    ...{ GIT_CONFIG_KEY_0: "http.proxy", GIT_CONFIG_VALUE_0: "http://u:p4ss@proxy.example" },
    ...{ GIT_CONFIG_KEY_1: "user.name", GIT_CONFIG_VALUE_1: "someone" },
  });
  const list = execFileSync("git", ["config", "--list"], { cwd: "/", env, encoding: "utf8" });
  expect(list).toContain("user.name=someone");
  expect(list).not.toContain("p4ss");
});

test("git takes no bare repository that it finds among files, unless it is named", () => {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-bare-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = childEnvironment({ PATH: process.env.PATH, HOME: folder, LC_ALL: "C" });
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  git("init", "--quiet", "--bare");
  expect(() => git("rev-parse", "--git-dir")).toThrow("safe.bareRepository");
  expect(git("--git-dir=.", "rev-parse", "--is-bare-repository")).toBe("true\n");
});

test("programs are told that an agent runs them, whatever the environment said before", () => {
  const mark = { sessionId: "s", stateFolder: "/s", agent: "1" };
  expect(childEnvironment({ AGENT: "other", AI_AGENT: "other" }, mark)).toMatchObject({
    AGENT: "sawtooth",
    AI_AGENT: "sawtooth",
  });
});
