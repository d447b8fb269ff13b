import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockIssuer } from "../support/mock-issuer.ts";
import { startResponsesServer } from "../support/mock-responses.ts";
import { drive } from "../support/pty-drive.ts";
import { makeWorkspace, sawtooth, start } from "../support/sawtooth.ts";

/** A person who can sign in, and the API that their plan pays for. */
async function setUp(turns: Parameters<typeof startResponsesServer>[0]["turnOf"]) {
  const issuer = await startMockIssuer();
  const api = await startResponsesServer({ turnOf: turns, plan: issuer.isGood });
  const workspace = makeWorkspace();
  Object.assign(workspace.env, { SAWTOOTH_CHATGPT_ISSUER: issuer.url, CHATGPT_BASE_URL: api.url });
  onTestFinished(async () => {
    workspace.remove();
    await Promise.all([issuer.close(), api.close()]);
  });
  const signIn = async () => {
    const run = start(workspace, ["login", "chatgpt"], { input: "open" });
    await run.until("paste the address");
    const [page = ""] = /http:\S+authorize\S+/.exec(run.stdout()) ?? [];
    await fetch(await issuer.browse(page));
    expect(await run.ended).toMatchObject({ code: 0 });
  };
  const file = join(workspace.home, "sawtooth/state/credentials/chatgpt.json");
  return { issuer, api, workspace, signIn, file };
}

const words = ["-p", "go", "--model", "chatgpt/gpt-6.1-sol", "--permission-mode", "auto"];
const steps: Parameters<typeof setUp>[0] = (_, index) =>
  index % 2 === 0
    ? { thinking: "hm", text: "I look.", calls: [{ name: "bash", args: '{"command":"echo seen"}' }] }
    : { text: "Done." };

test("a session on a ChatGPT plan runs commands, by the plan's rules, and costs no dollars", async () => {
  const { api, workspace, signIn, file } = await setUp(steps);
  expect(await sawtooth(workspace, words)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("sign in with sawtooth login chatgpt"),
  });
  await signIn();
  const run = await sawtooth(workspace, [...words, "--output-format", "json"]);
  expect(JSON.parse(run.stdout)).toMatchObject({ subtype: "success", result: "Done.", total_cost_usd: 0 });
  expect(api.received.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  expect(api.received[1]?.raw).toContain("seen");
  const more = await sawtooth(workspace, [...words.filter((word) => !/model|chatgpt/.test(word)), "-c"]);
  expect(more).toMatchObject({ code: 0, stdout: "Done.\n" });
  const { tokens } = JSON.parse(readFileSync(file, "utf8")) as { tokens: { access: string } };
  const report = await sawtooth(workspace, ["report", "--step", "2"]);
  expect(report.stdout).toContain('"namespace":"sawtooth"');
  expect(report.stdout + run.stdout + run.stderr).not.toContain(tokens.access);
});

test("a token that ended, or that the API no longer takes, is refreshed before the request goes out again", async () => {
  const { issuer, api, workspace, signIn, file } = await setUp(() => ({ text: "Here." }));
  await signIn();
  const record = JSON.parse(readFileSync(file, "utf8")) as { tokens: { access: string; expires: number } };
  record.tokens.expires = Date.now() - 1000;
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
  expect(await sawtooth(workspace, words)).toMatchObject({ code: 0, stdout: "Here.\n" });
  expect(issuer.asked.filter((each) => each === "refresh")).toHaveLength(1);
  const later = JSON.parse(readFileSync(file, "utf8")) as typeof record;
  later.tokens.access = "access-that-nobody-knows";
  writeFileSync(file, JSON.stringify(later), { mode: 0o600 });
  expect(await sawtooth(workspace, words)).toMatchObject({ code: 0, stdout: "Here.\n" });
  expect(api.received.map(({ refused }) => refused)).toEqual([undefined, "token", undefined]);
  const bare = await sawtooth(workspace, [...words, "--bare"]);
  expect(bare.code).toBe(4);
  const elsewhere = await sawtooth(workspace, words, { env: { SAWTOOTH_CHATGPT_ISSUER: "" } });
  expect(elsewhere.code).toBe(4);
});

test("the first start goes through the browser into a session of the plan", async () => {
  const { issuer, workspace } = await setUp(() => ({ text: "From your plan." }));
  const terminal = drive(workspace, [], { rows: 30, columns: 100 });
  onTestFinished(() => terminal.kill());
  await terminal.until("Continue with ChatGPT");
  terminal.send("\x1b[B");
  await terminal.until("❯ 2 Continue with ChatGPT");
  terminal.send("\r");
  await terminal.until("paste the address");
  terminal.send("\x1b");
  await terminal.until(/given up[\s\S]*❯ 1 Paste an API key/);
  terminal.send("2");
  await terminal.until(/paste the address[\s\S]*paste the address/);
  const [page = ""] =
    terminal
      .whole()
      .join("\n")
      .match(/http:\S+authorize\S+/g)
      ?.slice(-1) ?? [];
  await fetch(await issuer.browse(page));
  await terminal.until(/A model of ChatGPT · 2[\s\S]*❯ chatgpt\/gpt-6.1-sol/);
  terminal.send("\r");
  await terminal.until("/help lists keys and commands");
  terminal.send("hello\r");
  await terminal.until("From your plan.");
});
