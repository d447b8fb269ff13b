/** The live page of a real session with two sub-agents, in a real browser; and whether everybody can read it. */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasBrowser, type Page, startBrowser } from "../support/browser.ts";
import { sessionLog } from "../support/report-log.ts";
import { start } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { servedLog } from "../support/served-log.ts";
import { until } from "../support/until.ts";
import { costIn, delegate, offered, report, sessionsOf, turnsOf } from "./delegates.ts";

const axe = axeFile();

/** Returns the file of axe-core; undefined where the packages were installed before it was one of them. */
function axeFile(): string | undefined {
  try {
    return fileURLToPath(import.meta.resolve("axe-core/axe.min.js"));
  } catch {
    return undefined;
  }
}

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

/** The violations of WCAG 2.2 AA and of good practice that axe finds on the page. */
async function violations(page: Page): Promise<string[]> {
  await page.run(`${readFileSync(axe ?? "", "utf8")}; undefined`);
  const found = await page.run<Violation[]>(
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

describe.skipIf(!hasBrowser)("in a browser (package chromium)", () => {
  test("a session with two sub-agents grows as they work, to the tree and the bill at its end", async () => {
    const { workspace } = await serve(
      turnsOf({
        parent: [{ calls: [delegate("brief one"), delegate("brief two")] }, { text: "both are known" }],
        child: (brief, step) =>
          step === 0 ? { calls: [bash(`cat {{cwd}}/${brief.slice(6)}.pipe`)] } : report(`of ${brief}`),
      }),
    );
    const pipe = (name: string) => join(workspace.cwd, `${name}.pipe`);
    for (const name of ["one", "two"]) execFileSync("mkfifo", [pipe(name)]);
    const session = start(workspace, ["-p", "go", ...offered, "--sandbox", "off"]);
    await until(() => sessionsOf(workspace).children.length === 2, "both sub-agents");
    const served = start(workspace, ["report", "--serve"]);
    onTestFinished(async () => {
      for (const { child, ended } of [session, served]) {
        child.kill("SIGKILL");
        await ended;
      }
    });
    await served.until("Ctrl-C");
    const browser = startBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.open(served.stdout().split("\n")[0] ?? "");
    const tree = () =>
      page.run<string[]>(
        `[...document.querySelectorAll('[data-rows="delegates"] tr')].map((row) => row.innerText.replace(/\\s+/g, " "))`,
      );
    const untilTree = (...wanted: RegExp[]): Promise<void> =>
      until(async () => {
        const rows = await tree();
        return rows.length === wanted.length && wanted.every((want, at) => want.test(rows[at] ?? ""));
      }, "the tree");
    await untilTree(/this session/, /brief one 1 .*not ended/, /brief two 1 .*not ended/);
    writeFileSync(pipe("two"), "found\n");
    await untilTree(/this session/, /brief one 1 .*not ended/, /brief two 2 .*reported/);
    writeFileSync(pipe("one"), "found\n");
    await untilTree(/this session/, /brief one 2 .*reported/, /brief two 2 .*reported/);
    expect((await session.ended).code).toBe(0);
    const bill = costIn(sessionsOf(workspace).parent);
    const said = () => page.run<string>(`document.getElementById("live").innerText`);
    await until(async () => (await said()).includes("The session has ended"), "the end");
    expect(await page.run<string>(`document.querySelector(".facts").innerText`)).toContain(
      `$${bill.toFixed(4)}`,
    );
    expect(page.complaints).toEqual([]);
    expect(await served.ended).toMatchObject({ code: 0 });
  });

  test.skipIf(!axe)(
    "breaks no rule of WCAG 2.2 AA and has names and landmarks, dark and light",
    { timeout: 300_000 },
    async () => {
      const { url, end } = await servedLog(await sessionLog());
      onTestFinished(end);
      const browser = startBrowser();
      onTestFinished(() => browser.close());
      const page = await browser.open(url);
      for (const value of ["light", "dark"]) {
        await page.command("Emulation.setEmulatedMedia", {
          features: [{ name: "prefers-color-scheme", value }],
        });
        await page.run(`document.querySelectorAll("details").forEach((one) => { one.open = true; })`);
        expect([value, ...(await violations(page))]).toEqual([value]);
      }
    },
  );
});
