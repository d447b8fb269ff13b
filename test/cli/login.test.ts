import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockIssuer } from "../support/mock-issuer.ts";
import { drive } from "../support/pty-drive.ts";
import { jsonLines, makeWorkspace, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";

const key = "sk-ant-canary-0123456789";

/** A workspace whose environment has the address of the server, and no key. */
async function withoutKey(...given: Parameters<typeof serve>) {
  const { server, workspace } = await serve(...given);
  const { ANTHROPIC_API_KEY: _, ...env } = workspace.env;
  return { server, workspace: { ...workspace, env } };
}

const keysFile = ({ home }: Workspace) => join(home, "sawtooth/state/credentials/keys.json");

async function stored(workspace: Workspace): Promise<string> {
  const { code, stdout } = await sawtooth(workspace, ["login", "anthropic"], { input: `${key}\n` });
  expect(code).toBe(0);
  return stdout;
}

/** Every file below a folder but the outputs of commands, which are kept as they came, as one text. */
function everything(folder: string, except: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => path !== except && !path.includes("/artifacts/") && statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");
}

test("a stored key runs a session, and nothing else ever shows it", async () => {
  const { server, workspace } = await withoutKey([
    {
      calls: [
        bash('env; cat "$SAWTOOTH_HOME/state/credentials/keys.json" ~/sawtooth/state/credentials/keys.json'),
      ],
    },
    { text: "done" },
  ]);
  const said = await stored(workspace);
  expect(said).not.toContain("canary");
  const { mode } = statSync(keysFile(workspace));
  expect(mode & 0o777).toBe(0o600);
  expect(statSync(join(keysFile(workspace), "..")).mode & 0o777).toBe(0o700);
  const words = ["-p", "go", "--output-format", "stream-json", "--verbose", "--debug", "debug.txt"];
  const run = await sawtooth(workspace, [...words, "--permission-mode", "auto"]);
  expect(run).toMatchObject({ code: 0 });
  expect(jsonLines(run.stdout).at(-1)).toMatchObject({ subtype: "success", result: "done" });
  expect(JSON.stringify(server.requests)).toContain("[redacted:ANTHROPIC_API_KEY]");
  expect(JSON.stringify(server.requests) + run.stdout + run.stderr).not.toContain("canary");
  expect(everything(workspace.home, keysFile(workspace)) + everything(workspace.cwd, "")).not.toContain(
    "canary",
  );
  const report = await sawtooth(workspace, ["report", "--verbose"]);
  const shown = await sawtooth(workspace, ["sessions", "export", "--format", "json"]);
  expect(report.stdout + shown.stdout).not.toContain("canary");
});

test("a variable wins over the stored key, and --bare and another address leave it out", async () => {
  const { server, workspace } = await withoutKey([{ text: "one" }, { text: "two" }], { apiKey: key });
  await stored(workspace);
  expect(await sawtooth(workspace, ["-p", "go"])).toMatchObject({ code: 0, stdout: "one\n" });
  const other = await sawtooth(workspace, ["-p", "go"], {
    env: { ANTHROPIC_API_KEY: "sk-ant-of-the-environment" },
  });
  expect(other.code).toBe(4);
  const bare = await sawtooth(workspace, ["-p", "go", "--bare"]);
  expect(bare).toMatchObject({ code: 4, stderr: expect.stringContaining("sawtooth login") });
  const elsewhere = await sawtooth(workspace, ["-p", "go"], {
    env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
  });
  expect(elsewhere.code).toBe(4);
  expect(elsewhere.stderr).toContain(`is for ${server.url}, and ANTHROPIC_BASE_URL names http://127.0.0.1:1`);
  expect(server.requests).toHaveLength(1);
});

test("logout removes the key, and says what else still counts", async () => {
  const { workspace } = await withoutKey([]);
  expect(await sawtooth(workspace, ["logout"])).toMatchObject({
    code: 2,
    stderr: "sawtooth: no key is stored\n",
  });
  await stored(workspace);
  await sawtooth(workspace, ["login", "openai"], { input: "sk-proj-0123456789" });
  const which = await sawtooth(workspace, ["logout"]);
  expect(which).toMatchObject({ code: 2, stderr: expect.stringContaining("stored are anthropic, openai") });
  const out = await sawtooth(workspace, ["logout", "openai"], {
    env: { OPENAI_API_KEY: "sk-proj-9876543210" },
  });
  expect(out).toMatchObject({ code: 0, stdout: "Removed the stored key of openai.\n" });
  expect(out.stderr).toContain("OPENAI_API_KEY is set in the environment and still counts");
  expect(await sawtooth(workspace, ["logout"])).toMatchObject({ code: 0 });
  expect(existsSync(keysFile(workspace))).toBe(false);
  expect(await sawtooth(workspace, ["-p", "go"])).toMatchObject({ code: 4 });
});

test.each([
  ["", "no key was given"],
  ["sk-ant-one\nsk-ant-two", "more than one line"],
  ["sk-ant two words", "no blanks"],
  ["sk-ant-ключ-0123456789", "signs of ASCII"],
  ["sk-ant", "at least 8 characters"],
  ["sk-proj-0123456789abcdef", "a key of openai, not of anthropic"],
  ["sk-0123456789abcdef", "begins with sk-ant-"],
  ["sk-ant-oat01-0123456789", "Claude subscription"],
])("login refuses %j with a reason that does not quote it", async (input, reason) => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const { code, stderr, stdout } = await sawtooth(workspace, ["login", "anthropic"], { input });
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(reason);
  if (input.length > 6) expect(stderr).not.toContain(input);
  expect(existsSync(keysFile(workspace))).toBe(false);
});

test("an unknown provider names those there are", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  expect(await sawtooth(workspace, ["login", "nobody"], { input: "x" })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("unknown provider nobody: name one of anthropic, openai, "),
  });
});

test("a key file that others can read is made private, and a link or a broken file is not read", async () => {
  const { workspace } = await withoutKey([{ text: "one" }]);
  await stored(workspace);
  const file = keysFile(workspace);
  chmodSync(file, 0o644);
  const run = await sawtooth(workspace, ["-p", "go"]);
  expect(run).toMatchObject({ code: 0, stdout: "one\n" });
  expect(run.stderr).toContain("could be read by others (mode 0644); it is 0600 now");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, `{ "anthropic": { "key": "${key}" `);
  const broken = await sawtooth(workspace, ["-p", "go"]);
  expect(broken).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("keys.json is not a JSON object"),
  });
  expect(broken.stderr).not.toContain("canary");
  expect(await sawtooth(workspace, ["login", "anthropic"], { input: key })).toMatchObject({ code: 4 });
  writeFileSync(join(workspace.home, "elsewhere"), `{ "anthropic": { "key": "${key}" } }`);
  await sawtooth(workspace, ["logout", "anthropic"]);
  rmSync(file);
  symlinkSync(join(workspace.home, "elsewhere"), file);
  const linked = await sawtooth(workspace, ["-p", "go"]);
  expect(linked).toMatchObject({ code: 4, stderr: expect.stringContaining("is a link, so it is not read") });
});

test("a key is pasted on a terminal without being shown, and Ctrl-C stores nothing", async () => {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const cancelled = drive(workspace, ["login", "anthropic"]);
  onTestFinished(() => cancelled.kill());
  await cancelled.until("then Enter:");
  cancelled.send("sk-ant-canary\x03");
  expect(await cancelled.ended).toMatchObject({ code: 130 });
  expect(existsSync(keysFile(workspace))).toBe(false);
  const terminal = drive(workspace, ["login", "anthropic"]);
  onTestFinished(() => terminal.kill());
  await terminal.until("then Enter:");
  terminal.send(`\x1b[200~wrong\x15${key}x\x7f\x1b[201~\r`);
  expect(await terminal.ended).toMatchObject({ code: 0 });
  expect(terminal.raw() + cancelled.raw()).not.toContain("canary");
  expect(JSON.parse(readFileSync(keysFile(workspace), "utf8"))).toEqual({ anthropic: { key } });
});

test("login chatgpt shows the page, takes the pasted address, and logout signs out; no token is ever shown", async () => {
  const issuer = await startMockIssuer();
  const workspace = makeWorkspace();
  onTestFinished(async () => {
    workspace.remove();
    await issuer.close();
  });
  const env = { SAWTOOTH_CHATGPT_ISSUER: issuer.url };
  const run = start(workspace, ["login", "chatgpt"], { input: "open", env });
  await run.until("paste the address");
  const [page = ""] = /http:\S+authorize\S+/.exec(run.stdout()) ?? [];
  run.child.stdin?.write("http://127.0.0.1:1/elsewhere\n");
  run.child.stdin?.write(`${await issuer.browse(page)}\n`);
  const ended = await run.ended;
  expect(ended).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Signed in as person@example.com."),
  });
  expect(ended.stderr).toContain("this is not that address (it begins with http://127.0.0.1:");
  expect(ended.stdout + ended.stderr).not.toMatch(/access-|refresh-/);
  const out = await sawtooth(workspace, ["logout"], { env });
  expect(out).toMatchObject({ code: 0, stdout: "Signed out of ChatGPT.\n" });
  expect(issuer.asked.at(-1)).toBe("revoke");
  expect(await sawtooth(workspace, ["logout", "chatgpt"], { env })).toMatchObject({ code: 2 });
});

test("Ctrl-C ends a sign-in that waits, and another issuer must be on this machine", async () => {
  const issuer = await startMockIssuer();
  const workspace = makeWorkspace();
  onTestFinished(async () => {
    workspace.remove();
    await issuer.close();
  });
  const waiting = start(workspace, ["login", "chatgpt"], { env: { SAWTOOTH_CHATGPT_ISSUER: issuer.url } });
  await waiting.until("paste the address");
  waiting.child.kill("SIGINT");
  expect(await waiting.ended).toMatchObject({ code: 4, stderr: expect.stringContaining("given up") });
  const env = { SAWTOOTH_CHATGPT_ISSUER: "https://evil.example" };
  expect(await sawtooth(workspace, ["login", "chatgpt"], { env })).toMatchObject({ code: 2 });
});
