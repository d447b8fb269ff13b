/** Permissions over recordings: the calls of a log judged again, under any rules and modes. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importRecordings } from "../../../src/lab/recordings/import.ts";
import { hostsNamed } from "../../../src/lab/replay/hosts.ts";
import { recordingsIn } from "../../../src/lab/replay/jobs.ts";
import { figuresOf, policyJson, policyTable } from "../../../src/lab/replay/permission-table.ts";
import {
  judgeCalls,
  type Policy,
  type RecordedCall,
  recordedCalls,
} from "../../../src/lab/replay/permissions.ts";
import { parse } from "../../permissions/bash/parser.ts";

const machine = { home: "/home/user", parse };
const policy = (changes: Partial<Policy> = {}): Policy => ({
  ...{ mode: "accept-edits", sandbox: true, allow: [], deny: [] },
  ...changes,
});
const run = (command: string): RecordedCall => ({
  ...{ toolUseId: command, toolName: "bash", access: { kind: "execute", command }, workspace: ["/w"] },
});
const figures = (calls: readonly RecordedCall[], changes: Partial<Policy> = {}) =>
  figuresOf(policy(changes), judgeCalls(calls, policy(changes), machine));

const folder = join(import.meta.dirname, "../../../../shared/trajectories");

describe.skipIf(!existsSync(folder))("recordings (skipped where ../shared/trajectories is not there)", () => {
  const { recordings } = importRecordings(existsSync(folder) ? recordingsIn([folder]) : []);
  const calls = recordings.flatMap(({ events }) => recordedCalls(events));

  const judged = (changes: Partial<Policy>) => judgeCalls(calls, policy(changes), machine);

  test("S65 replay: the same rules give the same bytes twice, and a rule that is added changes only its own lines", {
    timeout: 300_000,
  }, () => {
    const [once, again, ruled] = [judged({}), judged({}), judged({ allow: ["host(@pypi)"] })];
    const [before, same, after] = [once, again, ruled].map((all) => figuresOf(policy(), all));
    if (!before || !same || !after) throw new Error("nothing was judged");
    expect(policyTable([before])).toBe(policyTable([same]));
    expect(policyJson([before])).toBe(policyJson([same]));
    const changed = calls.filter((_, index) => once[index]?.decision !== ruled[index]?.decision);
    const names = changed.map(({ access }) => (access.kind === "execute" ? access.command : ""));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((command) => !/\bpip3? install\b/.test(command))).toEqual([]);
    const rest = (one: typeof before) =>
      policyTable([one])
        .split("\n")
        .slice(2)
        .filter((line) => !line.includes("@pypi"));
    expect(rest(after)).toEqual(rest(before));
    expect((100 * before.asked) / calls.length).toBeLessThanOrEqual(2);
  });

  test("ask for less without a sandbox than they once did", () => {
    const asked = (mode: Policy["mode"]) => figuresOf(policy(), judged({ mode, sandbox: false })).asked;
    // Before: 1,608 and 700 of 1,911 calls.
    expect(asked("ask")).toBeLessThanOrEqual(1_105);
    expect(asked("accept-edits")).toBeLessThanOrEqual(682);
  });
});

describe("a policy", () => {
  const calls = ["npm test", "pip install x", "pip install y", "git push origin main", "rm -rf /"].map(run);

  test("asks in a sandbox only for hosts and says which rule would answer", () => {
    const { asked, refused, questions, hosts, perHost } = figures(calls);
    expect({ asked, refused, perHost }).toEqual({ asked: 3, refused: 1, perHost: 2 });
    expect(questions).toEqual([
      { calls: 2, rule: "host(@pypi)", reason: "It names the host @pypi.", example: "pip install x" },
      {
        ...{ calls: 1, rule: "bash(git push origin main)", example: "git push origin main" },
        reason: "This command may write or run something.",
      },
    ]);
    expect(hosts.map(({ host, grant, calls }) => [host, grant, calls])).toEqual([
      ["@pypi", "fetch", 2],
      ["(a git remote)", "full", 1],
    ]);
  });

  test("with rules allows and refuses hosts, where sending needs more than fetching", () => {
    const commands = ["curl https://a.example/x", "curl -d @f https://a.example", "wget b.example/y"].map(
      run,
    );
    const rules = { allow: ["host(a.example)"], deny: ["host(b.example)"] };
    expect(judgeCalls(commands, policy(rules), machine).map(({ decision }) => decision)).toEqual([
      "allow",
      "ask",
      "deny",
    ]);
    expect(figures(commands, rules).refusals).toEqual([
      {
        calls: 1,
        rule: "host(b.example)",
        reason: "It names the host b.example.",
        example: "wget b.example/y",
      },
    ]);
  });

  test("without a sandbox asks as it does today, and shows no hosts", () => {
    expect(figures(calls, { sandbox: false })).toMatchObject({ asked: 4, refused: 1, hosts: [] });
  });
});

test.each([
  ["npm run build", []],
  ["npm ci", ["@npm"]],
  ["npx tsc", ["@npm"]],
  ["python3 -m pip install -r r.txt", ["@pypi"]],
  ["cargo build", []],
  ["git status", []],
  ["git clone https://code.example/a/b.git", ["code.example:443"]],
  ["git fetch git@code.example:a/b", ["code.example:22"]],
  ["curl -s localhost:3000/health", []],
  ["curl https://user:pw@API.Example:8443/x", ["api.example:8443"]],
  ["ssh me@host.example ls", ["host.example:22"]],
  ["apt-get install -y jq", ["(packages of apt-get)"]],
])("the hosts that `%s` names are known", (command, hosts) => {
  const named = hostsNamed(command.split(" "));
  const shown = named.map(({ host, port }) => (/^[@(]/.test(host) ? host : `${host}:${port}`));
  expect(shown).toEqual(hosts);
});
