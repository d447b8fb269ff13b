/** Compares whole texts that people read (help, doctor, report) with the files of `test/golden`. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { reportText, summaryText } from "../../src/report/text/report.ts";
import { matchesGolden, scrub } from "../support/golden.ts";
import { longLog, sessionLog } from "../support/report-log.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

test("the help is the golden text", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const { stdout, stderr, code } = await sawtooth(workspace, ["--help"]);
  expect([stderr, code]).toEqual(["", 0]);
  matchesGolden("help", stdout);
});

test("the report of a session is the golden text, short, long and in one line at the end of a run", async () => {
  const events = await sessionLog();
  matchesGolden("report", scrub(reportText(events)));
  matchesGolden("report-verbose", scrub(reportText(events, { verbose: true })));
  matchesGolden("report-long-session", scrub(reportText(longLog(300))));
  matchesGolden("summary", scrub(summaryText(events)));
});

/** The paths are part of what is wrapped: only where the folder for temporary files is `/tmp` are the rows the same. */
test.runIf(process.platform === "linux").each([
  [
    "doctor",
    { bash: "GNU bash, version 5.2.21(1)-release", git: "git version 2.43.0", rg: "ripgrep 14.1.0" },
  ],
  ["doctor-without-tools", { bash: "GNU bash, version 3.2.57(1)-release" }],
])("doctor says the golden text on the machine %s", async (name, programs) => {
  const root = mkdtempSync("/tmp/sawtooth-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ["bin", "work", "home"]) mkdirSync(join(root, folder));
  for (const [program, version] of Object.entries(programs)) {
    writeFileSync(join(root, "bin", program), `#!/bin/sh\necho "${version}"\n`);
    chmodSync(join(root, "bin", program), 0o755);
  }
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  const env = { PATH: join(root, "bin"), HOME: home, SAWTOOTH_HOME: home, TERM: "xterm-256color" };
  const keys = name === "doctor" ? { LANG: "C.UTF-8", OPENAI_BASE_URL: "no address" } : {};
  const workspace = { home, cwd, env: { ...env, ...keys }, remove: () => {} };
  const { stdout, stderr } = await sawtooth(workspace, ["doctor"]);
  expect(stderr).toBe("");
  const machine = { node: process.versions.node, platform: `${process.platform} ${process.arch}` };
  // The sandbox is the machine's own; with this bash, which only tells its version, none can start.
  const text = stdout.replace(/^( {2}note {2}sandbox +).*\n(?: {20}.*\n)*/m, "$1<none can start here>\n");
  matchesGolden(name, scrub(text, { ...machine, version: packageJson.version, root }));
});
