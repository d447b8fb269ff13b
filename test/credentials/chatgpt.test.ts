import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { accessToken } from "../../src/credentials/chatgpt/access-token.ts";
import { beginSignIn, signOut } from "../../src/credentials/chatgpt/sign-in.ts";
import { readRecord } from "../../src/credentials/chatgpt/stored.ts";
import { type IssuerOptions, type MockIssuer, startMockIssuer } from "../support/mock-issuer.ts";

async function setUp(options: IssuerOptions = {}): Promise<{ folder: string; issuer: MockIssuer }> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-sign-in-"));
  const issuer = await startMockIssuer(options);
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true });
    await issuer.close();
  });
  return { folder, issuer };
}

/** Signs in as a person with a browser on this machine does. */
async function signIn(folder: string, issuer: MockIssuer) {
  const signing = await beginSignIn(folder, issuer.url);
  const back = await issuer.browse(signing.url);
  const [account] = await Promise.all([signing.done, fetch(back)]);
  return { account, page: new URL(signing.url), back };
}

/** Why a sign-in failed. */
async function failure(folder: string, issuer: MockIssuer): Promise<string> {
  return signIn(folder, issuer).then(
    () => "signed in",
    (error: Error) => error.message,
  );
}

/** Makes the stored access token look as if it ended a second ago. */
function expire(folder: string): void {
  const record = readRecord(folder);
  const tokens = { ...record?.tokens, expires: Date.now() - 1000 };
  writeFileSync(join(folder, "chatgpt.json"), JSON.stringify({ ...record, tokens }), { mode: 0o600 });
}

test("the first sign-in registers a client, and the next one uses it and the same host", async () => {
  const { folder, issuer } = await setUp();
  const first = await signIn(folder, issuer);
  expect(first.account).toEqual({ subject: "user-1", email: "person@example.com" });
  expect(first.page.searchParams.get("client_id")).toBe("dynamic_agent_client");
  const record = readRecord(folder);
  expect(record?.client).toEqual({ id: expect.stringMatching(/^oaiapp_/), ...first.account });
  expect(issuer.isGood(await accessToken({ folder, issuer: issuer.url }))).toBe(true);
  const second = await signIn(folder, issuer);
  expect(Object.fromEntries(second.page.searchParams)).toMatchObject({
    client_id: record?.client?.id,
    ext_agent_host_id: record?.host,
    login_hint: "person@example.com",
  });
  for (const name of ["state", "nonce", "code_challenge"])
    expect(second.page.searchParams.get(name)).not.toBe(first.page.searchParams.get(name));
  expect(issuer.refusals).toEqual([]);
  expect(issuer.asked).toEqual(["authorize", "code", "keys", "authorize", "code", "keys"]);
});

test("what is stored is for its owner alone, and is one file", async () => {
  const { folder, issuer } = await setUp();
  await signIn(folder, issuer);
  expect(statSync(join(folder, "chatgpt.json")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "chatgpt.json"), "utf8")).not.toContain("eyJ");
});

test("the address that the browser ended on can be pasted on a machine without one", async () => {
  const { folder, issuer } = await setUp();
  const signing = await beginSignIn(folder, issuer.url);
  const back = await issuer.browse(signing.url);
  expect(signing.paste("nonsense")).toContain("it begins with http://127.0.0.1:");
  expect(signing.paste("https://example.com/auth/callback?code=1")).toContain("it begins with");
  expect(signing.paste(back.replace(/state=[^&]*/, "state=another-state-of-some-length"))).toContain(
    "not the answer",
  );
  expect(signing.paste(`  ${back}\n`)).toBeUndefined();
  expect(await signing.done).toMatchObject({ subject: "user-1" });
});

test("a wrong state, a wrong path, another name of the server and a doubled parameter do not end the wait", async () => {
  const { folder, issuer } = await setUp();
  const signing = await beginSignIn(folder, issuer.url);
  const back = new URL(await issuer.browse(signing.url));
  const visit = async (change: (url: URL) => void) => {
    const url = new URL(back);
    change(url);
    return (await fetch(url)).status;
  };
  expect(await visit((url) => url.searchParams.set("state", "x".repeat(43)))).toBe(400);
  expect(await visit((url) => url.searchParams.delete("state"))).toBe(400);
  expect(await visit((url) => url.searchParams.append("state", "again"))).toBe(400);
  expect(await visit((url) => url.searchParams.append("code", "again"))).toBe(400);
  expect(await visit((url) => Object.assign(url, { pathname: "/elsewhere" }))).toBe(404);
  const other = await new Promise<number | undefined>((done) =>
    request(back, { headers: { host: "evil.example" } }, (response) =>
      done(response.resume().statusCode),
    ).end(),
  );
  expect(other).toBe(404);
  expect(await visit(() => {})).toBe(200);
  expect(await signing.done).toMatchObject({ subject: "user-1" });
  expect(issuer.asked.filter((each) => each === "code")).toHaveLength(1);
});

test("whoever declines, gives up or grants too little stores no tokens", async () => {
  const { folder, issuer } = await setUp({ declines: true });
  expect(await failure(folder, issuer)).toContain("it was not allowed");
  Object.assign(issuer.options, { declines: false, scope: "openid offline_access" });
  expect(await failure(folder, issuer)).toContain("does not allow Sawtooth to use the ChatGPT plan");
  Object.assign(issuer.options, { scope: null });
  expect(await failure(folder, issuer)).toContain("does not allow Sawtooth");
  const signing = await beginSignIn(folder, issuer.url);
  signing.cancel();
  await expect(signing.done).rejects.toThrow("given up");
  await expect(accessToken({ folder, issuer: issuer.url })).rejects.toThrow("sawtooth login chatgpt");
  expect(readRecord(folder)).toEqual({
    host: expect.stringMatching(/^urn:uuid:/),
    client: { id: expect.stringMatching(/^oaiapp_/) },
  });
});

test.each<[string, IssuerOptions]>([
  ["for another client", { claims: { aud: "oaiapp_another" } }],
  ["of another issuer", { claims: { iss: "https://evil.example" } }],
  ["of another sign-in", { claims: { nonce: "another" } }],
  ["that has ended", { claims: { exp: 1000 } }],
  ["with a signature of nobody's", { forged: true }],
])("an ID token %s is not believed", async (_, options) => {
  const { folder, issuer } = await setUp(options);
  expect(await failure(folder, issuer)).toMatch(/could not be trusted \(OAUTH_\w+\): nothing was stored/);
  expect(readRecord(folder)?.tokens).toBeUndefined();
});

test("a callback without a client, or with another one than the registered, is not believed", async () => {
  const { folder, issuer } = await setUp({ namesNoClient: true });
  expect(await failure(folder, issuer)).toContain("registered no client");
  issuer.options.namesNoClient = false;
  await signIn(folder, issuer);
  const signing = await beginSignIn(folder, issuer.url);
  const back = new URL(await issuer.browse(signing.url));
  back.searchParams.set("client_id", "oaiapp_another");
  signing.paste(back.href);
  await expect(signing.done).rejects.toThrow("another client than the registered one");
});

test("another account ends the registration, and its tokens are revoked", async () => {
  const { folder, issuer } = await setUp();
  await signIn(folder, issuer);
  issuer.options.subject = "user-2";
  expect(await failure(folder, issuer)).toContain("another ChatGPT account than person@example.com");
  expect(issuer.asked.at(-1)).toBe("revoke");
  expect(readRecord(folder)).toEqual({ host: expect.any(String) });
  expect(await signIn(folder, issuer)).toMatchObject({ account: { subject: "user-2" } });
});

test("a token that is about to end is refreshed once, with the whole record replaced", async () => {
  const { folder, issuer } = await setUp();
  await signIn(folder, issuer);
  const before = readRecord(folder);
  expire(folder);
  issuer.options.scope = null;
  const tokens = await Promise.all([1, 2, 3].map(() => accessToken({ folder, issuer: issuer.url })));
  expect(new Set(tokens).size).toBe(1);
  expect(issuer.isGood(tokens[0] ?? "")).toBe(true);
  expect(issuer.asked.filter((each) => each === "refresh")).toHaveLength(1);
  const after = readRecord(folder);
  expect(after).toMatchObject({ host: before?.host, client: before?.client });
  expect(after?.tokens?.refresh).not.toBe(before?.tokens?.refresh);
  expect(after?.tokens?.scopes).toEqual(before?.tokens?.scopes);
  const again = await accessToken({ folder, issuer: issuer.url, refused: tokens[0] });
  expect(again).not.toBe(tokens[0]);
  expect(issuer.refusals).toEqual([]);
});

test("two processes that refresh at once take turns, and the second uses what the first got", async () => {
  const { folder, issuer } = await setUp({ delayMs: 300 });
  await signIn(folder, issuer);
  expire(folder);
  const module = resolve(import.meta.dirname, "../../src/credentials/chatgpt/access-token.ts");
  const code = `import { accessToken } from ${JSON.stringify(module)};
    process.stdout.write(await accessToken({ folder: ${JSON.stringify(folder)}, issuer: ${JSON.stringify(issuer.url)} }));`;
  const run = () =>
    new Promise<string>((done) => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
      let out = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (out += piece));
      child.on("close", () => done(out));
    });
  const [one = "", two] = await Promise.all([run(), run()]);
  expect(one).toMatch(/^access-/);
  expect(two).toBe(one);
  expect(issuer.isGood(one)).toBe(true);
  expect(issuer.refusals).toEqual([]);
});

test("a refresh token that was used twice ends the sign-in, and says how to begin a new one", async () => {
  const { folder, issuer } = await setUp();
  await signIn(folder, issuer);
  const stolen = readFileSync(join(folder, "chatgpt.json"));
  expire(folder);
  await accessToken({ folder, issuer: issuer.url });
  writeFileSync(join(folder, "chatgpt.json"), stolen);
  expire(folder);
  await expect(accessToken({ folder, issuer: issuer.url })).rejects.toThrow(
    "the sign-in with ChatGPT has ended: run sawtooth login chatgpt again",
  );
  expect(issuer.refusals).toEqual(["a refresh token was used twice"]);
  expect(readRecord(folder)).toMatchObject({ client: { email: "person@example.com" } });
  expect(readRecord(folder)?.tokens).toBeUndefined();
});

test("an issuer that is down costs no sign-in: a token that is still good is used, one that ended fails for now", async () => {
  const { folder, issuer } = await setUp({ seconds: 60 });
  await signIn(folder, issuer);
  issuer.options.fails = { status: 503, body: "<html>down</html>" };
  expect(issuer.isGood(await accessToken({ folder, issuer: issuer.url }))).toBe(true);
  expire(folder);
  await expect(accessToken({ folder, issuer: issuer.url })).rejects.toThrow(
    "the issuer gave no usable answer",
  );
  delete issuer.options.fails;
  expect(issuer.isGood(await accessToken({ folder, issuer: issuer.url }))).toBe(true);
});

test("signing out revokes the tokens and keeps the registration", async () => {
  const { folder, issuer } = await setUp();
  await signIn(folder, issuer);
  const access = await accessToken({ folder, issuer: issuer.url });
  const { client } = readRecord(folder) ?? {};
  expect(await signOut(folder, issuer.url)).toBe(true);
  expect(issuer.isGood(access)).toBe(false);
  expect(await signOut(folder, issuer.url)).toBe(false);
  expect(readRecord(folder)).toEqual({ host: expect.any(String), client });
});

test("the strict issuer refuses a page that is not as documented", async () => {
  const { folder, issuer } = await setUp();
  const { page } = await signIn(folder, issuer);
  for (const [name, value] of [
    ["client_id", "oaiapp_unknown"],
    ["scope", "openid"],
    ["resource", "https://example.com"],
    ["redirect_uri", "http://localhost:1/auth/callback"],
    ["code_challenge_method", "plain"],
    ["state", "short"],
    ["ext_agent_host_id", "a-name"],
    ["secret", "something"],
  ] as const) {
    const wrong = new URL(page);
    wrong.searchParams.set(name, value);
    await expect(issuer.browse(wrong.href)).rejects.toThrow(/answered 40[01]/);
  }
});
