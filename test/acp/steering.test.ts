/** Prompts of an editor while a turn runs: they steer it. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { editor } from "./editor.ts";

const auto = ["--permission-mode", "auto"];

test("a second prompt steers the running turn, and both end with it", async () => {
  const { workspace, server } = await serve([
    { calls: [bash("touch begun; until [ -e heard ]; do sleep 0.1; done")] },
    { text: "with tabs" },
  ]);
  const one = await editor(workspace, auto);
  const id = await one.open();
  const first = one.say(id, "begin");
  await until(() => existsSync(join(workspace.cwd, "begun")));
  const second = one.say(id, "use tabs");
  // Answered in order: so the prompt before it was taken.
  await one.call("session/list", {});
  writeFileSync(join(workspace.cwd, "heard"), "");
  expect(await Promise.all([first, second])).toMatchObject([
    { result: { stopReason: "end_turn" } },
    { result: { stopReason: "end_turn" } },
  ]);
  expect(server.requests).toHaveLength(2);
  expect(server.rawBodies[1]).toContain("use tabs");
});

test("a prompt with a picture steers the running turn: the model sees it at its next step", async () => {
  let steps = 0;
  const { workspace, server } = await serve((body) =>
    JSON.stringify(body.messages).includes('"media_type":"image/png"')
      ? { text: "a red line" }
      : { calls: [bash(`touch begun; sleep 0.1; echo ${++steps}`)] },
  );
  const one = await editor(workspace, auto);
  const id = await one.open();
  const first = one.say(id, "begin");
  await until(() => existsSync(join(workspace.cwd, "begun")));
  const data = PNG.sync.write(new PNG({ width: 3000, height: 10 })).toString("base64");
  const second = one.say(id, [
    { type: "text", text: "look at this" },
    { type: "image", mimeType: "image/png", data },
  ]);
  expect(await Promise.all([first, second])).toMatchObject([
    { result: { stopReason: "end_turn" } },
    { result: { stopReason: "end_turn" } },
  ]);
  const content = server.requests.at(-1)?.messages.at(-1)?.content as { type: string; text?: string }[];
  const kinds = content.map(({ type, text }) => text ?? type);
  const picture = expect.stringMatching(/^block 2: png image, 3000x10, .*; shown at 2000x7$/);
  expect(kinds).toEqual(["tool_result", "look at this", picture, "image"]);
});
