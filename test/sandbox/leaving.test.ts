/** S47: the dialog before a command leaves the sandbox names the files that it runs, and those that were changed. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { notesOnLeaving } from "../../src/app/sandbox/leaving.ts";
import { openSnapshots } from "../../src/undo/snapshots.ts";
import { memoryLog, reply, started, text } from "../support/logs.ts";

test("S47 outside-edited-script: a script is named with the step that changed it, by an edit or a command, also through a link", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "leaving-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const work = join(root, "work");
  mkdirSync(join(work, "scripts"), { recursive: true });
  writeFileSync(join(work, "Makefile"), "all:\n");
  writeFileSync(join(work, "scripts", "deploy.sh"), "echo deploy\n");
  symlinkSync("scripts/deploy.sh", join(work, "go"));
  const log = memoryLog([started()]);
  const clock = () => log.events().at(-1)?.at ?? 0;
  const snapshots = openSnapshots({
    ...{ folder: join(root, "session", "snapshots"), roots: [work], except: [], clock, warn: () => {} },
  });
  onTestFinished(() => snapshots.close());
  for (const [step, name] of [
    [1, "README.md"],
    [2, "scripts/deploy.sh"],
  ] as const) {
    log.append(reply(text("on it")));
    await snapshots.take({ turn: 1, step, label: `sed -i s/a/b/ ${name}`, named: [] });
    writeFileSync(join(work, name), `changed in ${step}\n`);
  }
  const notes = notesOnLeaving({ log }, { snapshots }, [work]);
  const outside = (command: string) =>
    notes({ kind: "execute", command, outside: { reason: "r", cwd: work } });
  const changed = "scripts/deploy.sh was changed by the agent in step 2";
  expect(await outside('sh "scripts/deploy.sh" --all')).toEqual([changed, `runs in ${work}`]);
  expect(await outside("./go && make all")).toEqual([
    changed,
    `runs in ${work}`,
    `names ${join(work, "Makefile")}`,
  ]);
  expect(await outside("docker ps")).toEqual([`runs in ${work}`]);
  expect(await notes({ kind: "execute", command: "sh scripts/deploy.sh" })).toBeUndefined();
});
