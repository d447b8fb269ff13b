/** Who named an address: what only the model has written is asked about, as it could carry data away. */

import { expect, test } from "vitest";
import type { PermissionMode } from "../../../src/core/decision.ts";
import { http, type Step, type WorldOptions, world } from "./world.ts";

const names = { "ok.example": [["203.0.113.5"]], "new.example": [["203.0.113.5"]] };
const secret = "http://ok.example/?k=abc";

async function read(steps: readonly Step[], options: WorldOptions = {}) {
  const port = await http((request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(
      `<main><p>${request.url} <a href="/linked?a=1">next</a> http://ok.example/plain.</p></main>`,
    );
  });
  return world(
    { allow: ["host(ok.example)"], names, places: { "203.0.113.5:80": port }, prompt: "go", ...options },
    steps,
  );
}

const yes = () => ({ decision: "allow" as const });

test("an address of the person, with or without its scheme, and one of a fetched page need no question", async () => {
  const steps = [
    { url: "http://ok.example/a" },
    { url: "http://ok.example/linked?a=1#part" },
    { url: "http://ok.example/plain" },
  ];
  for (const prompt of [
    "Read http://ok.example/a.",
    "Read (ok.example/a), please",
    "See [this](http://ok.example/a)!",
  ]) {
    const { results } = await read(steps, { prompt });
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
  }
});

test("the front page of a host that a rule names needs no question, that of a wildcard does", async () => {
  const url = "http://ok.example/";
  expect((await read([{ url }])).results[0]?.isError).toBe(false);
  expect((await read([{ url }], { allow: ["host(*)"] })).results[0]).toMatchObject({ rejected: "denied" });
});

test("an address of a command's output counts, unless the command or the model named it first", async () => {
  const found = { bash: (command: string) => (command === "cat links" ? `see ${secret}` : command) };
  const counted = await read([{ bash: "cat links" }, { url: secret }], found);
  expect(counted.results[1]?.isError).toBe(false);
  const echoed = await read([{ bash: `echo ${secret}` }, { url: secret }], found);
  expect(echoed.results[1]).toMatchObject({ rejected: "denied" });
  const joined = await read([{ bash: "H=ok.example; cat links" }, { url: secret }], { bash: () => secret });
  expect(joined.results[1]).toMatchObject({ rejected: "denied" });
  const refusedFirst = await read(
    [{ url: secret }, { url: secret }, { bash: "cat links" }, { url: secret }],
    found,
  );
  expect(refusedFirst.dialled).toEqual([]);
  expect(refusedFirst.texts[0]).toContain("--allow 'host(ok.example full)'");
});

test.each<[PermissionMode, number]>([
  ["ask", 1],
  ["accept-edits", 1],
  ["auto", 1],
  ["plan", 0],
])("in the mode %s an address of the model is asked about %i times", async (mode, count) => {
  const { questions, dialled } = await read([{ url: secret }], { mode, answer: yes });
  expect(questions.map(({ toolName, reason }) => [toolName, reason])).toEqual(
    Array.from({ length: count }, () => ["fetch", expect.stringContaining("made this address up")]),
  );
  expect(dialled).toHaveLength(count);
});

test("plan mode reads hosts of the list", async () => {
  const { results } = await read([{ url: "http://ok.example/a" }], {
    mode: "plan",
    prompt: "http://ok.example/a",
  });
  expect(results[0]?.isError).toBe(false);
});

test("a host that no rule names is asked about once a call, and a deny rule is heard first", async () => {
  const step = [{ url: "http://new.example/a" }];
  const prompt = "http://new.example/a";
  const asked = await read(step, { prompt, answer: yes });
  expect(asked.questions).toMatchObject([{ toolName: "fetch", suggestion: "host(new.example)" }]);
  expect(asked.egress).toMatchObject([{ host: "new.example", rule: "asked: once", decision: "allow" }]);
  const no = await read(step, { prompt, answer: () => ({ decision: "deny", say: "" }) });
  expect(no.dialled).toEqual([]);
  const headless = await read(step, { prompt });
  expect(headless.texts[0]).toContain("It would be allowed by --allow 'host(new.example)'");
  for (const deny of [["host(new.example)"], ["fetch"]]) {
    const denied = await read(step, { prompt, deny, allow: ["host(*)"], answer: yes });
    expect([denied.questions, denied.dialled]).toEqual([[], []]);
  }
});

test("a page counts as text from outside: an address of the model then needs a yes even where the host is `full`", async () => {
  const allow = ["host(ok.example full)"];
  const steps = [{ url: "http://ok.example/a" }, { url: secret }];
  const alone = await read([{ url: secret }], { allow });
  expect(alone.results[0]?.isError).toBe(false);
  const headless = await read(steps, { allow, prompt: "http://ok.example/a" });
  expect(headless.texts[1]).toContain("the session has read private data and text from outside");
  expect(headless.dialled).toHaveLength(1);
  const asked = await read(steps, { allow, prompt: "http://ok.example/a", answer: yes });
  expect(asked.questions).toMatchObject([{ connection: { title: "ok.example:80: send to it?" } }]);
  const trusted = await read(steps, {
    allow: ["host(ok.example full trusted)"],
    prompt: "http://ok.example/a",
  });
  expect(trusted.results[1]?.isError).toBe(false);
});

test("what addresses carry in a turn is within the budget of the host", async () => {
  const steps = Array.from({ length: 4 }, (_, index) => ({
    url: `http://ok.example/?${"x".repeat(600)}${index}`,
  }));
  const prompt = steps.map(({ url }) => url).join(" ");
  const { texts } = await read(steps, { prompt, egress: { budgetKb: 2, budgetPercent: 0 } });
  expect(texts[1]).not.toContain("only fetched from");
  expect(texts[3]).toContain("more was sent than a host may get that is only fetched from");
});

test("a yes to a call holds for the redirects of its host", async () => {
  const port = await http((request, response) => {
    if (request.url === "/a") response.writeHead(301, { location: "/b" }).end();
    else response.end("moved here");
  });
  const url = "http://new.example/a";
  const places = { "203.0.113.5:80": port };
  const { questions, texts } = await world({ names, places, prompt: url, answer: yes }, [{ url }]);
  expect(questions).toHaveLength(1);
  expect(texts[0]).toContain("moved here");
});
