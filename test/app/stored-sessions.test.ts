/** Stored sessions as the resume picker shows them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sessionsUnder } from "../../src/app/stored-sessions.ts";
import type { EventBody } from "../../src/core/events.ts";
import { hello, makeStoreFixture } from "../session/store-fixture.ts";

test("the resume picker redacts the values of .env in titles, names and the end of a session", async () => {
  const fixture = makeStoreFixture();
  onTestFinished(() => fixture.clean());
  const session = await fixture.create();
  session.log.append({
    ...hello,
    content: [{ type: "text", text: "deploy with canary-7d1f0c9a3b52 now" }],
  } as EventBody);
  session.log.append({ type: "session_named", name: "canary-7d1f0c9a3b52" });
  session.close();
  const shown = () => {
    const sessions = sessionsUnder(fixture.root, fixture.cwd);
    return JSON.stringify([sessions.list(false), sessions.find(session.id), sessions.tail(session.id)]);
  };
  expect(shown()).toContain("canary-7d1f0c9a3b52");
  writeFileSync(join(fixture.cwd, ".env"), "SERVICE_TOKEN=canary-7d1f0c9a3b52\n");
  expect(shown()).toContain("deploy with ");
  expect(shown()).not.toContain("canary-7d1f0c9a3b52");
});
