/** The guard of `fetch`: places that no page may come from, in every spelling, without a packet to them. */

import { expect, test } from "vitest";
import { http, world } from "./world.ts";

const anywhere = { allow: ["host(*)"] };

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:169.254.169.254]/latest/meta-data/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.100.100.200/latest/meta-data/",
  "http://100.64.0.1/",
  "http://10.0.0.1/",
  "http://192.168.1.1/",
  "http://172.16.0.1/",
  "http://[fd00:ec2::254]/",
  "http://[fe80::1]/",
  "http://0.0.0.0/",
  "http://①②⑦.0.0.1/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://app.localhost/",
  "http://host.sawtooth/",
])("%s is refused without a look-up and without a packet, although every host is allowed", async (url) => {
  for (const mode of ["ask", "accept-edits", "auto", "plan"] as const) {
    const { dialled, looked, results, questions } = await world({ ...anywhere, mode, answer: yes }, [
      { url },
    ]);
    expect(results[0]).toMatchObject({ isError: true, rejected: "denied" });
    expect({ dialled, looked, questions }).toEqual({ dialled: [], looked: [], questions: [] });
  }
});

const yes = () => ({ decision: "allow" as const });

test.each([
  ["ftp://ok.example/", "neither http: nor https:"],
  ["file:///etc/passwd", "neither http: nor https:"],
  ["https://user:word@ok.example/", "no credentials"],
  ["https://ok.example:22/", "ssh"],
  ["no address", "not an address"],
  ["https://ok.example:8443/", "--allow 'host(ok.example:8443)'"],
])("%s is refused in every mode: %s", async (url, words) => {
  const { dialled, texts } = await world({ ...anywhere, mode: "auto", answer: yes }, [{ url }]);
  expect(texts[0]).toContain(words);
  expect(dialled).toEqual([]);
});

test.each([
  ["127.0.0.1"],
  ["169.254.169.254"],
  ["100.100.100.200"],
  ["::ffff:10.0.0.1"],
  ["::1"],
  ["fe80::1"],
])("a name that leads to %s is refused after its look-up, without a packet", async (address) => {
  const names = { "ok.example": [[address]] };
  const { dialled, texts, egress } = await world({ ...anywhere, names }, [{ url: "http://ok.example/" }]);
  expect(texts[0]).toContain("its name leads to this machine or to a private network");
  expect(dialled).toEqual([]);
  expect(egress).toMatchObject([{ host: "ok.example", decision: "deny", reason: "inner_address" }]);
});

test("a name that answers public first and 127.0.0.1 then is looked up once for each connection, and checked each time", async () => {
  const port = await http((request, response) => {
    if (request.url === "/") response.writeHead(302, { location: "/next" }).end();
    else response.end("inside");
  });
  const names = { "ok.example": [["203.0.113.5"], ["127.0.0.1"]] };
  const places = { "203.0.113.5:80": port, "127.0.0.1:80": port };
  const { dialled, looked, texts } = await world({ ...anywhere, names, places }, [
    { url: "http://ok.example/" },
  ]);
  expect(looked).toEqual(["ok.example", "ok.example"]);
  expect(dialled).toEqual(["203.0.113.5:80"]);
  expect(texts[0]).toContain("its name leads to this machine or to a private network");
  expect(texts[0]).not.toContain("inside");
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://[::ffff:169.254.169.254]/",
  "http://10.0.0.1/",
  "http://localhost/",
  "http://localhost:3000/",
  "http://inner.example/",
  "http://other.example:8080/",
  "http://user:word@ok.example/",
  "file:///etc/passwd",
  "http://%zz/",
])("a redirect to %s is not followed", async (location) => {
  const port = await http((_, response) => response.writeHead(302, { location }).end());
  const names = {
    "ok.example": [["203.0.113.5"]],
    "inner.example": [["10.0.0.7"]],
    "other.example": [["203.0.113.6"]],
  };
  const places = { "203.0.113.5:80": port };
  const { dialled, results, questions } = await world({ ...anywhere, names, places, answer: yes }, [
    { url: "http://ok.example/" },
  ]);
  expect(dialled).toEqual(["203.0.113.5:80"]);
  expect(results[0]?.isError).toBe(true);
  expect(questions).toEqual([]);
});

test("a redirect to a host that no rule names is asked about, denied where nobody is there, and closed in plan mode", async () => {
  const port = await http((request, response) => {
    if (request.headers.host === "ok.example")
      response.writeHead(302, { location: "http://login.example/?next=1" }).end();
    else response.setHeader("content-type", "text/plain").end("Please sign in\n");
  });
  const names = { "ok.example": [["203.0.113.5"]], "login.example": [["203.0.113.6"]] };
  const places = { "203.0.113.5:80": port, "203.0.113.6:80": port };
  const options = { allow: ["host(ok.example)"], names, places };
  const step = [{ url: "http://ok.example/private" }];

  const headless = await world(options, step);
  expect(headless.texts[0]).toContain("[redirected to http://login.example/?next=1]");
  expect(headless.texts[0]).toContain("--allow 'host(login.example)'");
  expect(headless.dialled).toEqual(["203.0.113.5:80"]);

  const plan = await world({ ...options, mode: "plan", answer: yes }, step);
  expect(plan.questions).toEqual([]);
  expect(plan.texts[0]).toContain("plan mode connects only to hosts on the list");

  const asked = await world({ ...options, answer: yes }, step);
  expect(asked.questions.map(({ connection }) => connection?.title)).toEqual([
    "login.example:80: connect to it?",
  ]);
  expect(asked.texts[0]).toContain('<web_page url="http://login.example/?next=1">\nPlease sign in');
  expect(asked.egress.map(({ host, rule }) => [host, rule])).toEqual([
    ["ok.example", "host(ok.example)"],
    ["login.example", "asked: once"],
  ]);
});

test("the sixth redirect is not followed", async () => {
  let count = 0;
  const port = await http((_, response) => response.writeHead(302, { location: `/${++count}` }).end());
  const names = { "ok.example": [["203.0.113.5"]] };
  const { texts } = await world({ ...anywhere, names, places: { "203.0.113.5:80": port } }, [
    { url: "http://ok.example/" },
  ]);
  expect(texts[0]).toContain("more than 5 redirects");
  expect(count).toBe(6);
});

test("a server of this machine is read by a rule that names it, and by no other", async () => {
  const port = await http((_, response) => response.end("mine"));
  const url = `http://localhost:${port}/api?x=1`;
  const names = { localhost: [["127.0.0.1"]] };
  const places = { [`127.0.0.1:${port}`]: port };
  for (const rule of ["host(*)", `host(*:${port})`, "host(localhost)", "host(host.sawtooth:3000)"]) {
    const refused = await world({ allow: [rule], names, places, answer: yes }, [{ url }]);
    expect(refused.dialled).toEqual([]);
    expect(refused.texts[0]).toContain(`host(localhost:${port})`);
  }
  const read = await world({ allow: [`host(localhost:${port})`], names, places, prompt: "go" }, [{ url }]);
  expect(read.texts[0]).toContain("mine");
});

test("an address with a secret in it goes nowhere", async () => {
  const names = { "ok.example": [["203.0.113.5"]] };
  const steps = [{ url: "https://ok.example/?k=sk-abc%2F1" }];
  const { dialled, texts } = await world({ ...anywhere, names, secret: "sk-abc/1" }, steps);
  expect(dialled).toEqual([]);
  expect(texts[0]).toContain("has a secret in it");
});
