import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Drive, type DriveOptions, drive } from "../support/pty-drive.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";
import { serve, tempWorkspace } from "../support/served.ts";

const key = "sk-ant-canary-0123456789";

/** Addresses at which no server of this machine can be. */
const noServers = Object.fromEntries(
  ["OLLAMA", "LMSTUDIO", "LLAMACPP", "VLLM"].map((name) => [`${name}_BASE_URL`, "http://127.0.0.1:1/v1"]),
);

/** The usual addresses, where a server of this machine may be. */
const usual = Object.fromEntries(Object.keys(noServers).map((name) => [name, ""]));

/** Starts the program in a home without any key. */
function begin(workspace: Workspace, words: string[] = [], options: DriveOptions = {}): Drive {
  const { ANTHROPIC_API_KEY: _, ...env } = workspace.env;
  const terminal = drive({ ...workspace, env }, words, { ...options, env: { ...noServers, ...options.env } });
  onTestFinished(() => terminal.kill());
  return terminal;
}

/** The prompt for a key, and once more below it: the screen still shows the first one. */
const twice = /Esc goes back[\s\S]*Esc goes back/;

const settingsOf = ({ home }: Workspace) => join(home, "sawtooth/config/settings.json");
const keysOf = ({ home }: Workspace) => join(home, "sawtooth/state/credentials/keys.json");

test.each([
  [40, 10],
  [80, 24],
])(
  "without a key a terminal of %i by %i shows the ways to begin, and Esc leaves with what to set",
  async (columns, rows) => {
    const workspace = tempWorkspace(makeWorkspace);
    const terminal = begin(workspace, [], { columns, rows, env: usual });
    await terminal.until(
      /choose how to begin[\s\S]*❯ 1 [\s\S]*Paste an API key[\s\S]*Try the demo[\s\S]*Esc/,
    );
    for (const row of terminal.screen()) expect(row.length).toBeLessThanOrEqual(columns);
    terminal.send("\x1b[A");
    await terminal.until(/❯ \d Try the demo/);
    terminal.send("\x1b");
    expect(await terminal.ended).toMatchObject({ code: 4 });
    // Its last words may come after the news of its end.
    await expect
      .poll(() => terminal.whole().join(" "), { timeout: 60_000 })
      .toContain("no credentials: set ANTHROPIC_API_KEY");
  },
);

test("a pasted key begins the session without a restart, and is never shown", async () => {
  const { workspace } = await serve([{ text: "Here I am." }, { text: "Again." }], { apiKey: key });
  const terminal = begin(workspace);
  await terminal.until("Paste an API key");
  terminal.send("1");
  await terminal.until("Whose key is it?");
  terminal.send("anthropic\r");
  await terminal.until("Enter; Esc goes back");
  terminal.send("sk-proj-0123456789abcdef\r");
  await terminal.until(/a key of openai, not of anthropic: nothing\s+was\s+stored/);
  expect(existsSync(keysOf(workspace))).toBe(false);
  await terminal.until("❯ 1 Paste");
  terminal.send("1");
  await terminal.until("Whose key is it?");
  terminal.send("anthropic\r");
  await terminal.until(twice);
  terminal.send(`\x1b[200~${key}\x1b[201~\r`);
  await terminal.until("/help lists keys and commands");
  terminal.send("hello\r");
  await terminal.until("Here I am.");
  expect(terminal.raw()).not.toContain("canary");
  expect(statSync(keysOf(workspace)).mode & 0o777).toBe(0o600);
  terminal.send("/exit\r");
  expect(await terminal.ended).toMatchObject({ code: 0 });
  const second = begin(workspace);
  await second.until("/help lists keys and commands");
  expect(second.raw()).not.toContain("choose how to begin");
});

test("a key of the environment is found, and the model chosen for it is the one of later starts", async () => {
  const workspace = tempWorkspace(makeWorkspace);
  const env = { GROQ_API_KEY: "gsk_0123456789abcdef" };
  const terminal = begin(workspace, [], { env });
  await terminal.until(/❯ 1 Use Groq +GROQ_API_KEY is set/);
  terminal.send("\r");
  await terminal.until(/A model of Groq[\s\S]*❯ groq\//);
  terminal.send("\x1b");
  await terminal.until("choose how to begin");
  terminal.send("1");
  await terminal.until(/A model of Groq[\s\S]*❯ groq\//);
  terminal.send("\r");
  await terminal.until("/help lists keys and commands");
  const { model } = JSON.parse(readFileSync(settingsOf(workspace), "utf8")) as { model: string };
  expect(model).toMatch(/^groq\//);
  terminal.send("/exit\r");
  await terminal.ended;
  const second = begin(workspace, [], { env });
  await second.until("/help lists keys and commands");
});

test("a server on this machine that answers is found with its models, also while it is busy", async () => {
  const server = createServer(async (request, response) => {
    await sleep(600);
    const models = { "/api/tags": [{ name: "qwen3-coder:30b" }], "/api/ps": [] }[request.url ?? ""];
    response.writeHead(models ? 200 : 404).end(JSON.stringify({ models }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo;
  const workspace = tempWorkspace(makeWorkspace);
  const terminal = begin(workspace, [], { env: { OLLAMA_BASE_URL: `http://127.0.0.1:${port}/v1` } });
  await terminal.until(/❯ 1 Use Ollama +answers with 1 model[\s\S]*ollama\/qwen3-coder:30b/);
  terminal.send("1");
  await terminal.until(/ollama\/qwen3-coder:30b[\s\S]*\/help lists keys and commands/);
  expect(JSON.parse(readFileSync(settingsOf(workspace), "utf8"))).toMatchObject({
    model: "ollama/qwen3-coder:30b",
  });
});

test("the key that a named model lacks is asked for, and the session begins with that model", async () => {
  const workspace = tempWorkspace(makeWorkspace);
  const terminal = begin(workspace, ["--model", "openai/gpt-6.1-sol"]);
  await terminal.until(/❯ 1 Paste a key of OpenAI +for the model you named/);
  terminal.send("1");
  await terminal.until("Enter; Esc goes back");
  terminal.send("\x1b");
  await terminal.until("❯ 1 Paste a key of OpenAI");
  terminal.send("1");
  await terminal.until(twice);
  terminal.send("sk-proj-0123456789abcdef\r");
  await terminal.until(/openai\/gpt-6.1-sol[\s\S]*\/help lists keys and commands/);
  expect(readFileSync(settingsOf(workspace), "utf8")).not.toContain("gpt-6.1");
});

test("--bare offers no key to store, and --plain asks by number", async () => {
  const workspace = tempWorkspace(makeWorkspace);
  const bare = begin(workspace, ["--bare"]);
  await bare.until(/choose how to begin[\s\S]*❯ 1 Try the demo/);
  bare.send("\x03");
  expect(await bare.ended).toMatchObject({ code: 2 });
  const plain = begin(workspace, ["--plain"]);
  await plain.until(/1 Paste an API key[\s\S]*Answer with a number/);
  plain.send("1\r");
  await plain.until("Whose key is it?");
  plain.send("openai\r");
  await plain.until(/1 OpenAI, OPENAI_API_KEY/);
  plain.send("1\r");
  await plain.until("Enter; Esc goes back");
  plain.send("sk-proj-canary0123456789\r");
  await plain.until("A model of OpenAI");
  plain.send("1\r");
  await plain.until("/help lists keys and commands");
  expect(plain.raw()).not.toContain("canary");
});

test("the demo runs on the same terminal, Ctrl-C ends it, and Enter goes back to the choice", async () => {
  const workspace = tempWorkspace(makeWorkspace);
  const terminal = begin(workspace, [], { rows: 30 });
  await terminal.until("3 Try the demo");
  terminal.send("3");
  await terminal.until(/A copy of examples\/shop[\s\S]* 1 +[\d.]+k tokens/);
  terminal.send("\x03");
  await terminal.until("Enter goes back:");
  terminal.send("\r");
  await terminal.until(/choose how to begin[\s\S]*❯ 1 Paste an API key/);
});

test("without a terminal it stays one line", async () => {
  const workspace = tempWorkspace(makeWorkspace);
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "hello"]);
  expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
  expect(stderr.trim().split("\n")).toHaveLength(1);
});
