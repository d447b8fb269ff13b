/** Servers at an address: streamable HTTP in both protocols, the person's headers, and answers that go wrong. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { freePort } from "../support/free-port.ts";
import { type Asked, serveMcp } from "../support/mcp-http.ts";
import { testProgram } from "../support/programs.ts";
import { until } from "../support/until.ts";
import { mcp, withServers } from "./session.ts";

const auto = ["--permission-mode", "auto"];
const add = mcp("web", "add", { arguments: { a: 20, b: 22 } });
const calls = (...each: ReturnType<typeof mcp>[]): ScriptedReply[] => [
  ...each.map((call) => ({ calls: [call] })),
  { text: "on" },
];
const variable = (name: string) => `$${`{${name}}`}`;

/** The result of one call of a server that answers like this. */
async function resultWith(behave: Parameters<typeof serveMcp>[0], more: object = {}, call = add) {
  const { url, asked } = await serveMcp(behave);
  const seen = await withServers(calls(call), { web: { type: "http", url, ...more } });
  const { stdout } = await seen.run(...auto);
  expect(stdout).toBe("on\n");
  return { result: seen.results()[0] ?? "", asked, url, seen };
}

/** True for the request that calls a tool. */
const isCall = ({ body }: Asked) => body.includes('"tools/call"');

describe("a server at an address", () => {
  test("is called on the newest protocol with the person's headers, and asked only once which protocol it speaks", async () => {
    const { url, asked } = await serveMcp();
    const seen = await withServers([...calls(add), ...calls(add)], {
      web: { url, headers: { Authorization: `Bearer ${variable("WEB_TOKEN")}`, "X-Team": "blue" } },
    });
    seen.workspace.env.WEB_TOKEN = "token-5b2e";
    await seen.run(...auto);
    await seen.run("-c", ...auto);
    expect(seen.results()).toEqual(["42", "42"]);
    expect(asked.every(({ headers }) => headers.authorization === "Bearer token-5b2e")).toBe(true);
    expect(asked.every(({ headers }) => headers["x-team"] === "blue")).toBe(true);
    expect(asked.filter(({ body }) => body.includes('"server/discover"'))).toHaveLength(1);
    expect(asked.find(isCall)?.headers["mcp-protocol-version"]).toBe("2026-07-28");
  });

  test("the published server of the older protocol: a sum, progress, and the end of its session", async () => {
    const port = await freePort();
    const server = spawn(process.execPath, [testProgram("everything"), "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void server.kill());
    let said = "";
    server.stdout.on("data", (data) => {
      said += String(data);
    });
    await once(server.stderr, "data");
    const long = mcp("web", "trigger-long-running-operation", { arguments: { duration: 6, steps: 12 } });
    const seen = await withServers(calls(mcp("web", "get-sum", { arguments: { a: 2, b: 3 } }), long), {
      web: { type: "streamable-http", url: `http://127.0.0.1:${port}/mcp`, timeoutSeconds: 5 },
    });
    await seen.run(...auto);
    expect(seen.results()[0]).toContain("5");
    expect(seen.results()[1]).toContain("Long running operation completed");
    await until(() => said.includes("session termination"), "the end of the session");
  });
});

describe("a server at an address that fails", () => {
  test("nobody there", async () => {
    const seen = await withServers(calls(add), { web: { url: `http://127.0.0.1:${await freePort()}/mcp` } });
    await seen.run(...auto);
    expect(seen.results()[0]).toMatch(
      /^MCP server web cannot be used: it could not be reached: .*ECONNREFUSED/,
    );
  });

  test.each([
    [403, "answered with HTTP 403: go away"],
    [404, "answered with HTTP 404: go away"],
    [500, "answered with HTTP 500: go away"],
  ])("HTTP %i is told", async (status, said) => {
    const { result } = await resultWith(() => new Response("go away", { status }));
    expect(result).toContain(said);
  });

  test("HTTP 401 without a sign-in names the command for it; with a header of the person's, the header", async () => {
    const refuse = () => new Response("who are you", { status: 401 });
    const { result } = await resultWith(refuse);
    expect(result).toBe(
      "MCP server web needs a sign-in, which only the person can do: sawtooth mcp login web",
    );
    const own = await resultWith(refuse, { headers: { authorization: "Bearer wrong" } });
    expect(own.result).toContain("refused the Authorization header of its entry in the settings");
  });

  test("a redirect to another origin is not followed, and no header reaches it", async () => {
    const other = await serveMcp();
    const { result } = await resultWith(() => Response.redirect(other.url, 307), {
      headers: { "X-Key": "secret-88" },
    });
    expect(result).toContain("redirect");
    expect(other.asked).toEqual([]);
  });

  test("a redirect within the origin is followed", async () => {
    const { result } = await resultWith(({ path }) =>
      path === "/mcp" ? new Response(null, { status: 308, headers: { location: "/moved" } }) : undefined,
    );
    expect(result).toBe("42");
  });

  test("an answer that drips ends with the time of the call", async () => {
    const { result } = await resultWith(
      (asked) => (isCall(asked) ? dripping("application/json") : undefined),
      { timeoutSeconds: 2 },
    );
    expect(result).toBe("[no answer and no progress for 2 s: cancelled]");
  });

  test("a stream that breaks off is told at once, and the next call connects again", async () => {
    const { url } = await serveMcp(brokenOnce());
    const seen = await withServers(calls(add, add), { web: { url } });
    await seen.run(...auto);
    expect(seen.results()).toEqual([
      "MCP server web broke off its answer. The next call connects again.",
      "42",
    ]);
  });

  test("an answer without end is bounded", async () => {
    const { result } = await resultWith((asked) => (isCall(asked) ? endless("application/json") : undefined));
    expect(result).toContain("sent a message of more than 64 MB");
  });

  test("an event without end is bounded", async () => {
    const { result } = await resultWith((asked) =>
      isCall(asked) ? endless("text/event-stream") : undefined,
    );
    expect(result).toContain("broke off its answer");
  });

  test("a page instead of an answer is told", async () => {
    const { result } = await resultWith(
      () => new Response("<html>hello</html>", { headers: { "content-type": "text/html" } }),
    );
    expect(result).toContain("MCP server web cannot be used: it");
  });
});

function brokenOnce(): (asked: Asked) => Response | undefined {
  let isFirst = true;
  return (asked) => {
    if (!isCall(asked) || !isFirst) return undefined;
    isFirst = false;
    return new Response(": hello\n\n", { headers: { "content-type": "text/event-stream" } });
  };
}

function dripping(type: string): Response {
  const body = new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      controller.enqueue(new TextEncoder().encode(" "));
    },
  });
  return new Response(body, { headers: { "content-type": type } });
}

function endless(type: string): Response {
  const chunk = new TextEncoder().encode("x".repeat(1_000_000));
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
  return new Response(body, { headers: { "content-type": type } });
}
