/** The built program converts a large page on a thread of its own. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sawtooth } from "../../support/sawtooth.ts";
import { serve } from "../../support/served.ts";
import { http } from "./world.ts";

test("a page of 1 MB with a log of one piece is Markdown, whole in its artifact", async () => {
  const log = Array.from(
    { length: 40_000 },
    (_, line) => `12:00:00 line ${line} ${line === 31_234 ? "needle " : ""}&lt;ok&gt;`,
  ).join("\n");
  const port = await http((_, response) =>
    response.setHeader("content-type", "text/html").end(`<main><h1>Log</h1><pre>${log}</pre></main>`),
  );
  const call = { fetch: { url: `http://127.0.0.1:${port}/log`, want: "needle" } };
  const { workspace, server } = await serve([{ calls: [call] }, { text: "read" }]);
  const { code } = await sawtooth(workspace, [
    "-p",
    `read http://127.0.0.1:${port}/log`,
    "--allow",
    `host(127.0.0.1:${port})`,
  ]);
  expect(code).toBe(0);
  expect(server.rawBodies[1]?.includes("line 31234 needle <ok>")).toBe(true);
  const [kept = ""] = globSync("sawtooth/state/sessions/*/*/artifacts/*.md", { cwd: workspace.home });
  expect(readFileSync(join(workspace.home, kept), "utf8").match(/line \d+ (?:needle )?<ok>/g)).toHaveLength(
    40_000,
  );
});
