import { get, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import { createSession, type OpenSession } from "../../src/session/store.ts";
import { hasBrowser, startBrowser } from "../support/browser.ts";
import { longLog, sessionLog } from "../support/report-log.ts";
import { makeWorkspace, type Started, start, type Workspace } from "../support/sawtooth.ts";
import { until } from "../support/until.ts";

let workspace: Workspace;
let session: OpenSession;
let program: Started;
let url = "";

beforeEach(async () => {
  workspace = makeWorkspace();
  session = await createSession({
    root: join(workspace.home, "sessions"),
    cwd: workspace.cwd,
    clock: Date.now,
    warn: () => {},
  });
});
afterEach(async () => {
  program.child.kill("SIGKILL");
  await program.ended;
  session.close();
  workspace.remove();
});

function append({ seq: _, at: __, ...body }: EventBody & { seq?: number; at?: number }): void {
  const { id, folder } = session;
  const own = body.type === "session_started" ? { sessionId: id, folder, cwd: workspace.cwd } : {};
  session.log.append({ ...body, ...own } as EventBody);
}

async function serve(env: Record<string, string> = {}): Promise<void> {
  program = start(
    workspace,
    ["report", session.id, "--session-dir", join(workspace.home, "sessions"), "--serve"],
    { env },
  );
  await program.until("Ctrl-C");
  url = program.stdout().split("\n")[0] ?? "";
}

type Reply = { status: number; headers: IncomingHttpHeaders; text: string };

function ask(
  address: string,
  options: { headers?: Record<string, string>; method?: string } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(address, { ...options, agent: false }, async (response) => {
      let text = "";
      for await (const part of response.setEncoding("utf8")) text += part;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.on("error", reject).end();
  });
}

/** A page that follows: what it was sent until now. */
async function follow(path: string): Promise<{ status: number; heard(): string; response: IncomingMessage }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}${path}`, { agent: false }, resolve).on("error", reject);
  });
  let heard = "";
  response.setEncoding("utf8").on("data", (text: string) => {
    heard += text;
  });
  response.on("error", () => {});
  return { status: response.statusCode ?? 0, heard: () => heard, response };
}

const idIn = (page: string) => /"live":\{"from":"([\d.]+)"/.exec(page)?.[1] ?? "";

describe("sawtooth report --serve", () => {
  test("gives nothing to whoever lacks the secret, comes by another name or from another site", async () => {
    for (const event of longLog(12)) append(event);
    await serve();
    const { origin, host, port } = new URL(url);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{43}\/$/);
    const refused: [string, Parameters<typeof ask>[1], number][] = [
      [`${origin}/`, {}, 404],
      [`${origin}/favicon.ico`, {}, 404],
      [url.slice(0, -1), {}, 404],
      [url.slice(0, -2), {}, 404],
      [`${url.slice(0, -2)}A_/updates`, {}, 404],
      [`${origin}//`, {}, 404],
      [url, { headers: { host: `evil.example:${port}` } }, 403],
      [url, { headers: { host: "127.0.0.1" } }, 403],
      [url, { headers: { origin: "http://evil.example" } }, 403],
      [url, { headers: { origin: "null" } }, 403],
      [`${url}updates`, { headers: { "sec-fetch-site": "cross-site" } }, 403],
      [url, { method: "POST" }, 405],
    ];
    for (const [address, options, status] of refused) {
      const reply = await ask(address, options);
      expect([address, reply.status, reply.text]).toEqual([address, status, ""]);
    }
    for (const name of [host, `localhost:${port}`]) {
      const reply = await ask(url, { headers: { host: name, origin: `http://${name}` } });
      expect(reply.status).toBe(200);
      expect(reply.text).toContain(session.id);
      expect(reply.headers["content-security-policy"]).toMatch(
        /^default-src 'none'; .*script-src 'sha256-[^']+'; connect-src 'self'; .*frame-ancestors 'none'$/,
      );
      expect(reply.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    }
    expect(await ask(`${url}step/2`)).toMatchObject({
      status: 200,
      text: expect.stringContaining('"messages"'),
    });
    for (const path of ["step/99", "step/0", "step/../x", "summary/1", "nothing"])
      expect((await ask(`${url}${path}`)).status).toBe(404);
  });

  test("sends what was appended, to a page that comes back what it missed, and the farewell at the end", async () => {
    const events = longLog(40);
    for (const event of events.slice(0, 20)) append(event);
    await serve();
    const from = idIn((await ask(url)).text);
    const page = await follow(`updates?from=${from}`);
    for (const event of events.slice(20, 30)) append(event);
    await until(() => page.heard().includes('"steps/9"'), "the tenth step");
    page.response.destroy();
    for (const event of events.slice(30)) append(event);
    const [, newest = ""] =
      page
        .heard()
        .match(/^id: (.*)$/gm)
        ?.at(-1)
        ?.split(" ") ?? [];
    const again = await follow(`updates?from=${newest}`);
    await until(() => again.heard().includes('"steps/12"'), "the last step");
    expect(again.heard()).not.toContain('"steps/2"');
    const old = await follow("updates?from=7.1");
    await until(() => old.heard().includes("event: reload"), "the page to be asked anew");
    session.close();
    expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
    await until(() => again.heard().includes("event: ended"), "the farewell");
    expect(again.heard()).toContain("The session has ended: this page grows no more.");
  });

  test("shows no secret, neither in the page nor in an update nor in a request", async () => {
    const [first, ...events] = longLog(20);
    if (first) append(first);
    append({ type: "user_message", content: [{ type: "text", text: "use sk-canary-4711-aaaa" }] });
    for (const event of events.slice(1)) append(event);
    await serve({ SOME_API_KEY: "sk-canary-4711-aaaa" });
    const { text } = await ask(url);
    const page = await follow(`updates?from=${idIn(text)}`);
    append({ type: "warning", text: "the key is sk-canary-4711-aaaa" });
    await until(() => page.heard().includes("the key is"), "the warning");
    const { text: body } = await ask(`${url}step/1`);
    expect(body).toContain("[redacted:");
    for (const said of [text, page.heard(), body]) expect(said).not.toContain("canary");
  });

  test("50 pages: 16 follow, the others are told why not, and one that goes makes room", async () => {
    for (const event of longLog(12)) append(event);
    await serve();
    const from = idIn((await ask(url)).text);
    const pages: Awaited<ReturnType<typeof follow>>[] = [];
    for (let count = 0; count < 50; count++) pages.push(await follow(`updates?from=${from}`));
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(16);
    expect(pages.filter(({ status }) => status === 503)).toHaveLength(34);
    await until(() => pages.at(-1)?.heard() !== "", "the reason");
    expect(pages.at(-1)?.heard()).toContain("16 pages follow this session already: close one of them");
    pages[0]?.response.destroy();
    await until(async () => (await follow(`updates?from=${from}`)).status !== 503, "room for a page");
    for (const page of pages) page.response.destroy();
  });

  test("Ctrl-C ends it, though a page reads nothing of what it is sent", async () => {
    for (const event of longLog(300)) append(event);
    await serve();
    const { port, host, pathname } = new URL(url);
    const slow = connect(Number(port), "127.0.0.1");
    slow.on("error", () => {});
    slow.write(`GET ${pathname}updates?from=1.0 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    slow.pause();
    for (let count = 0; count < 200; count++) append({ type: "warning", text: `${count} `.repeat(50) });
    await ask(url);
    program.child.kill("SIGINT");
    expect(await program.ended).toMatchObject({ code: 0, stderr: "" });
    slow.destroy();
  });

  test("a log that is replaced makes the page begin anew", async () => {
    for (const event of longLog(12)) append(event);
    await serve();
    const page = await follow(`updates?from=${idIn((await ask(url)).text)}`);
    const { readFileSync, renameSync, writeFileSync } = await import("node:fs");
    const file = join(session.folder, "events.jsonl");
    writeFileSync(`${file}.new`, readFileSync(file, "utf8").split("\n").slice(0, 4).concat("").join("\n"));
    renameSync(`${file}.new`, file);
    await until(() => page.heard().includes("event: reload"), "the page to be asked anew");
    expect(idIn((await ask(url)).text)).toMatch(/^2\./);
  });
});

describe.skipIf(!hasBrowser)("in a browser (package chromium)", () => {
  test("the page grows: curve, edits, tables and requests, without a complaint of its policy", async () => {
    const events = await sessionLog();
    const half = events.findIndex(({ type }) => type === "context_edited") - 4;
    for (const event of events.slice(0, half)) append(event);
    await serve();
    const browser = startBrowser();
    try {
      const page = await browser.open(url);
      const text = (id: string) =>
        page.run<string>(`document.getElementById(${JSON.stringify(id)}).textContent`);
      const rows = (list: string) =>
        page.run<number>(`document.querySelector('[data-rows="${list}"]').children.length`);
      const bars = () =>
        page.run<number>(`document.querySelector("#bars .read").getAttribute("d").split("M").length`);
      const before = [await rows("steps"), await bars()];
      expect(await rows("edits")).toBe(0);
      for (const event of events.slice(half)) append(event);
      await until(async () => (await text("last")) === "62", "the last step");
      await until(async () => (await text("session")).includes("completed"), "the end of the turn");
      await until(async () => (await rows("edits")) >= 4, "the edits");
      expect(await rows("steps")).toBe(62);
      expect(await rows("marks")).toBe(4);
      expect(await bars()).toBeGreaterThan(before[1] ?? 0);
      expect(await text("live")).toContain("Live");
      await page.run(`document.querySelector('[data-edit="1"]').focus()`);
      expect(await text("readout")).toMatch(
        /^Before step \d+, economist: .* Worth [+-]\$0\.\d+ in hindsight\.$/,
      );
      await page.run("show(62)");
      await until(async () => (await text("request")).includes("the exact body"), "the request");
      const grown = await page.run<string>(`document.querySelector(".facts").textContent`);
      await page.run("window.isOld = true");
      await page.run("location.reload()").catch(() => {});
      // Until the new page is there, the old one answers.
      const live = `window.isOld ? "" : (document.getElementById("live")?.textContent ?? "")`;
      const growing = "Live: this page grows while the session works.";
      await until(async () => (await page.run<string>(live).catch(() => "")) === growing, "the new page");
      expect(await page.run(`document.querySelector(".facts").textContent`)).toBe(grown);
      session.close();
      await until(async () => (await text("live")).includes("The session has ended"), "the end");
      expect(page.complaints).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
