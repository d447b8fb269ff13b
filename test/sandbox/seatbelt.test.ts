/** The profile for macOS, as text: it is not run here. */

import { describe, expect, test } from "vitest";
import type { SandboxPlan } from "../../src/core/sandbox.ts";
import { seatbeltProfile, seatbeltStatus, seatbeltWords } from "../../src/sandbox/seatbelt.ts";

const plan: SandboxPlan = {
  writable: ["/Users/me/app", "/private/tmp/s1"],
  readOnly: ["/Users/me/app/.git/config", "/Users/me/.ssh/known_hosts"],
  pinned: ["/Users/me/app/.git"],
  hidden: ["/Users/me/.ssh"],
  withoutTokens: ["/Users/me/.npmrc"],
  watched: ["/Users/me/app/.vscode"],
  sockets: { mask: ["/var/run/docker.sock"], pass: ["/private/tmp/agent.sock"] },
  ...{ hosts: [], ports: [], devices: [], environment: { pass: [], drop: [] }, why: {} },
};
const profile = seatbeltProfile(plan, { terminal: "/dev/ttys004", proxyPort: 3128 });

/** The rules of a profile, each with the lines of its targets. */
const rules = (text: string) => text.split(/\n(?=\()/).map((rule) => rule.replaceAll(/\s+/g, " ").trim());
const at = (beginning: string) => rules(profile).findIndex((rule) => rule.startsWith(beginning));

describe("the profile for macOS", () => {
  test("denies all that it does not name, and its parentheses and quotes are closed", () => {
    expect(rules(profile).slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    const plain = profile.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
    expect(plain).not.toContain('"');
    expect(plain.split("(").length).toBe(plain.split(")").length);
  });

  test("lets write where the plan does, and closes what is in it afterwards, in any letter case", () => {
    expect(rules(profile)).toContain(
      '(allow file-write* (subpath "/Users/me/app") (subpath "/private/tmp/s1"))',
    );
    expect(at("(deny file-write*")).toBeGreaterThan(at("(allow file-write*"));
    const denied = rules(profile)[at("(deny file-write* ")] ?? "";
    const patterns = [...denied.matchAll(/#"([^"]*)"/g)].map(([, text = ""]) => new RegExp(text));
    const isClosed = (path: string) => patterns.some((pattern) => pattern.test(path));
    for (const path of [
      "/Users/me/app/.git/config",
      "/users/ME/App/.GIT/Config",
      "/Users/me/app/.vscode/tasks.json",
      "/Users/me/app/.VSCode",
      "/Users/me/.SSH/authorized_keys",
    ])
      expect(isClosed(path)).toBe(true);
    for (const path of ["/Users/me/app/.git/config2", "/Users/me/app/xgit/config", "/Users/me/app/src"])
      expect(isClosed(path)).toBe(false);
    expect(rules(profile)).toContain('(deny file-write-unlink (literal "/Users/me/app/.git"))');
  });

  test("hides what the plan hides, but for the files that it shows", () => {
    expect(at("(deny file-read*")).toBeGreaterThan(at("(allow file-read*)"));
    expect(rules(profile)[at("(allow file-read* (subpath")]).toContain("/Users/me/.ssh/known_hosts");
    expect(at("(allow file-read* (subpath")).toBeGreaterThan(at("(deny file-read*"));
  });

  test("lets connect to our proxy and to sockets that a rule passes, and to nothing where there is neither", () => {
    expect(rules(profile)).toContain('(allow network-outbound (remote ip "localhost:3128"))');
    expect(profile).not.toContain("docker.sock");
    const closed = seatbeltProfile({ ...plan, sockets: { mask: [], pass: [] } });
    expect(closed).not.toContain("network-outbound");
    expect(seatbeltStatus(undefined).network).toBe("off");
    expect(seatbeltStatus(3128).network).toBe("proxy");
  });

  test("keeps a path with a quote, a backslash and a parenthesis in its place", () => {
    const odd = '/Users/me/a "b" (c) \\d';
    const text = seatbeltProfile({ ...plan, writable: [odd], readOnly: [odd] });
    expect(text).toContain('(subpath "/Users/me/a \\"b\\" (c) \\\\d")');
    expect(seatbeltProfile({ ...plan, writable: [] })).not.toMatch(/\(allow file-write\*\s*\)/);
  });

  test("is given to the system's own program", () => {
    expect(seatbeltWords("/s/profile.sb", ["/bin/bash", "-i"])).toEqual([
      ...["/usr/bin/sandbox-exec", "-f", "/s/profile.sb", "/bin/bash", "-i"],
    ]);
  });
});
