/** Servers that drive a real browser: a page is opened, read and pressed, and its picture reaches the model. */

import { describe, expect, test } from "vitest";
import { mcp, withServers } from "../mcp/session.ts";
import { hasBrowser } from "../support/browser.ts";
import { live, servedPage } from "./servers.ts";

const auto = ["--permission-mode", "auto"];
const chromium = "/usr/bin/chromium";
if (!hasBrowser)
  process.stderr.write("servers: skipped: chromium is not installed, which two servers drive\n");

describe.skipIf(!hasBrowser)("with chromium", () => {
  test.each([
    {
      name: "playwright" as const,
      words: ["--executable-path", chromium, "--headless", "--no-sandbox", "--isolated"],
      calls: (url: string) => [
        mcp("playwright", "browser_navigate", { arguments: { url } }),
        mcp("playwright", "browser_snapshot"),
        mcp("playwright", "browser_click", { arguments: { element: "the button", target: "e3" } }),
        mcp("playwright", "browser_snapshot"),
        mcp("playwright", "browser_take_screenshot"),
      ],
    },
    {
      name: "chrome-devtools" as const,
      words: ["--executablePath", chromium, "--headless", "--isolated", "--chromeArg=--no-sandbox"],
      calls: (url: string) => [
        mcp("chrome-devtools", "new_page", { arguments: { url } }),
        mcp("chrome-devtools", "take_snapshot", { arguments: { pageId: 2 } }),
        mcp("chrome-devtools", "evaluate_script", {
          arguments: { pageId: 2, function: "() => document.querySelector('button').click()" },
        }),
        mcp("chrome-devtools", "take_snapshot", { arguments: { pageId: 2 } }),
        mcp("chrome-devtools", "take_screenshot", { arguments: { pageId: 2 } }),
      ],
    },
  ])(
    "$name reads a page, presses its button, and shows its picture to the model",
    async ({ name, words, calls }) => {
      const url = await servedPage();
      const turns = calls(url).map((call) => ({ calls: [call] }));
      // The page is on this machine, which a sandbox does not reach.
      const seen = await withServers([...turns, { text: "done" }], {
        [name]: live(name, words, { sandbox: false }),
      });
      const { code } = await seen.run(...auto);
      expect(code).toBe(0);
      const [opened, before, , after, picture] = seen.results();
      expect(opened).toContain(url);
      expect(before).toMatch(/button "Press"/);
      expect(after).toMatch(/button "pressed"/);
      expect(picture).toContain('"type":"image"');
      expect(seen.server.rawBodies.at(-1)).toContain('"media_type":"image/');
    },
  );
});
